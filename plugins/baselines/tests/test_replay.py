"""The replay buffer against a list."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore_baselines import replay

STRUCT: Any = {"obs": jax.ShapeDtypeStruct((2,), jnp.uint8), "reward": jax.ShapeDtypeStruct((), jnp.float32)}


def transitions(first: int, number: int) -> dict[str, jax.Array]:
    values = np.arange(first, first + number)
    return {"obs": jnp.asarray(np.stack([values, values], 1), jnp.uint8), "reward": jnp.asarray(values, jnp.float32)}


def test_new_transitions_take_the_place_of_the_oldest() -> None:
    buffer = replay.empty(STRUCT, 6)
    for count in range(0, 10, 2):
        buffer = jax.jit(replay.add)(buffer, transitions(count, 2), jnp.int32(count))
    assert buffer["reward"].tolist() == [6, 7, 8, 9, 4, 5]
    assert buffer["obs"][:, 1].tolist() == [6, 7, 8, 9, 4, 5]
    assert buffer["obs"].dtype == jnp.uint8


def test_what_is_stored_is_sampled_uniformly() -> None:
    buffer = replay.add(replay.empty(STRUCT, 6), transitions(7, 3), jnp.int32(0))
    batch = replay.sample(buffer, jnp.int32(3), 6000, jax.random.key(0))
    assert (batch["obs"][:, 0] == batch["reward"]).all()
    counts = np.bincount(batch["obs"][:, 0], minlength=10)
    assert counts[:7].sum() == 0
    assert (np.abs(counts[7:] - 2000) < 4 * np.sqrt(6000 * 2 / 9)).all()
    full = replay.add(buffer, transitions(10, 3), jnp.int32(3))
    assert set(replay.sample(full, jnp.int32(90), 200, jax.random.key(0))["obs"][:, 0].tolist()) == {*range(7, 13)}
