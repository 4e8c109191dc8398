"""Windy gridworld for envcore: a complete suite of environments with one environment, to be copied.

Importing this package imports no environment: `envcore.make("WindyGridworld-v0")` does, or
`from envcore_example.windy_gridworld import WindyGridworld`.
"""
