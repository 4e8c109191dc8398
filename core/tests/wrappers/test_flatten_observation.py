"""`FlattenObservation`: parts are joined in the order of names."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from envcore import spaces
from envcore.wrappers import FlattenObservation
from toy import Deck

KEY = jax.random.key(3)


def test_flatten_observation_joins_parts_in_the_order_of_names() -> None:
    env = FlattenObservation(Deck())
    obs, state = env.reset(KEY)
    parts = Deck().observe(state, Deck().default_params)
    space: Any = Deck().observation_space(Deck().default_params)
    expected = []
    for name in sorted(parts):
        part = space.spaces[name]
        is_discrete = isinstance(part, spaces.Discrete)
        expected.append(np.eye(part.n)[int(parts[name])] if is_discrete else np.asarray(parts[name]).reshape(-1))
    np.testing.assert_array_equal(obs, np.concatenate(expected).astype(np.float32))
    np.testing.assert_array_equal(env.flatten(parts, env.default_params), obs)
    assert bool(env.observation_space(env.default_params).contains(obs))
