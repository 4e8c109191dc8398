"""bsuite's environments as pure JAX functions.

Importing this package imports no environment: `envcore.make("Catch-bsuite")` does, or
`from envcore_bsuite.catch import Catch`.
"""
