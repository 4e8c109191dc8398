"""The implementation of `envcore.environment`, which only defines the interface.

    arguments    checks and casts what users pass, and reports where an author broke the contract
    stepping     `advance` and `restart`, and the jitted `reset`, `step` and `step_env`

Neither imports `envcore.environment` or anything built on it.
"""
