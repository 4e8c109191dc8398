"""`FlattenObservation`: parts are joined in the order of names."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.wrappers import FlattenObservation
from envcore.wrappers.flatten_observation import _flat_space, _flatten
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


def test_flatten_observation_one_hots_multi_discrete() -> None:
    space = spaces.MultiDiscrete([2, 3])
    np.testing.assert_array_equal(_flatten(space, jnp.array([1, 2])), [0, 1, 0, 0, 1])
    assert _flat_space(space).shape == (5,)


def test_flatten_observation_reshapes_a_box_and_keeps_its_dtype() -> None:
    space = spaces.Box(0, 255, (2, 3), np.uint8)
    flat = _flatten(space, jnp.arange(6, dtype=jnp.uint8).reshape(2, 3))
    assert _flat_space(space) == spaces.Box(0, 255, (6,), np.uint8)
    assert flat.dtype == np.uint8
    np.testing.assert_array_equal(flat, range(6))
