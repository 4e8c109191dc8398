"""bsuite as pure JAX functions: environments, experiments, runner and score.

Importing this package imports no environment: `envcore.make("Catch-bsuite")` does, or
`from envcore_bsuite.catch import Catch`.
"""
