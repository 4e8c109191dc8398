"""The implementation of the contract, so that `envcore.environment` can be short.

    arguments    checks and casts what users pass in, before anything is traced
    episode      makes `start`, `advance` and `restart` of an author's rules
    auto_reset   replaces the states of finished episodes
    stepping     the jitted `reset`, `step`, `step_env` and `get_obs`

The modules know environments by the protocol `Rules` alone: none imports `envcore.environment`, or what is built on
it.
"""
