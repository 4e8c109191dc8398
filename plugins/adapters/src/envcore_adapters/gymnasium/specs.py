"""Time limits of Gymnasium's specs, which in envcore are params of the environment."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from envcore.checks import positive_integer
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError
from gymnasium.envs.registration import EnvSpec


def time_limit(params: Any) -> int | None:
    """Returns the environment's time limit in steps. None if it has no limit, or one per environment of a batch."""
    limit = np.asarray(getattr(params, "max_steps_in_episode", NO_TIME_LIMIT))
    return None if limit.shape or limit == NO_TIME_LIMIT else int(limit)


def with_time_limit(spec: EnvSpec | None, params: Any) -> EnvSpec | None:
    """Adds the environment's time limit to the spec. It is a param, so it is unknown at registration."""
    if spec is None or spec.max_episode_steps is not None:
        return spec
    return dataclasses.replace(spec, max_episode_steps=time_limit(params))


def shortened(params: Any, max_episode_steps: Any) -> Any:
    """Lowers the time limit of the params to `max_episode_steps`. A lower limit stays.

    Raises:
      InvalidArgumentError: `max_episode_steps` is not a positive integer.
    """
    steps = positive_integer("max_episode_steps", max_episode_steps, InvalidArgumentError)
    own = params.max_steps_in_episode
    return params.replace(max_steps_in_episode=np.minimum(own, np.int32(min(steps, NO_TIME_LIMIT))))
