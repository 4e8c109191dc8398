"""The spec that `gymnasium.make` gives an environment, with the time limit that the environment itself has."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from envcore.checks import positive_integer
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError
from gymnasium.envs.registration import EnvSpec


def time_limit(params: Any) -> int | None:
    """The environment's own time limit in steps; None if it has none, or not a single one."""
    limit = np.asarray(getattr(params, "max_steps_in_episode", NO_TIME_LIMIT))
    return None if limit.shape or limit == NO_TIME_LIMIT else int(limit)


def with_time_limit(spec: EnvSpec | None, params: Any) -> EnvSpec | None:
    """The spec with the environment's own time limit, which no registration knows because a param sets it."""
    if spec is None or spec.max_episode_steps is not None:
        return spec
    return dataclasses.replace(spec, max_episode_steps=time_limit(params))


def shortened(params: Any, max_episode_steps: Any) -> Any:
    """The params with this time limit, where it is shorter than their own.

    Raises:
      InvalidArgumentError: it is not a positive integer.
    """
    steps = positive_integer("max_episode_steps", max_episode_steps, InvalidArgumentError)
    own = params.max_steps_in_episode
    return params.replace(max_steps_in_episode=np.minimum(own, np.int32(min(steps, NO_TIME_LIMIT))))
