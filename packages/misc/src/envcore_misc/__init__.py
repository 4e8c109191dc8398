"""Meta-learning and navigation environments as pure JAX functions.

Importing this package imports no environment: `envcore.make("FrozenLake-misc")` does, or
`from envcore_misc.frozen_lake import FrozenLake`.
"""
