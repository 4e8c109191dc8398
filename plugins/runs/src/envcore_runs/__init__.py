"""Long rollouts: measured, saved, continued and recorded; and what training and sweeps need for that too.

Importing this package imports neither JAX nor anything that prints.
"""
