"""MinAtar's games as pure JAX functions.

Importing this package imports no environment: `envcore.make("Breakout-MinAtar")` does, or
`from envcore_minatar.breakout import Breakout`.
"""
