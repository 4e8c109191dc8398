"""Gymnasium's classic control environments as pure JAX functions.

Importing this package imports no environment: `envcore.make("CartPole-v1")` does, or
`from envcore_classic_control.cartpole import CartPole`.
"""
