"""The implementation of the contract, so that `envcore.environment` can be short.

    arguments    checks and casts what users pass in, and says which part of the contract an author broke
    stepping     `advance` and `restart` of an author's rules, and the jitted `reset`, `step` and `step_env`

Neither imports `envcore.environment`, or what is built on it.
"""
