"""The implementation of the contract, so that `envcore.environment` can be short.

    definition   errors about what an environment's author wrote
    arguments    checks and casts what users pass in, before anything is traced
    episode      makes `advance` and `restart` of an author's rules
    auto_reset   replaces the states of finished episodes
    stepping     the jitted `reset`, `step` and `step_env`

No module of it imports `envcore.environment`, or what is built on it.
"""
