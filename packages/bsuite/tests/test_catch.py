"""Catch against the recordings of the original, and what only we have."""

from __future__ import annotations

from typing import Any

import envcore
import golden
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.testing import check_env
from envcore_bsuite.catch import Catch, CatchState

KEY = jax.random.key(0)
FIRST = 0


@pytest.mark.parametrize(("name", "env"), [("catch", Catch()), ("catch.rows6_columns4", Catch(6, 4))])
def test_every_recorded_step(name: str, env: Catch) -> None:
    recording = golden.load(f"bsuite.{name}")
    recording = recording.rows(recording["step_type"] != FIRST)
    before, after = recording.group("before"), recording.group("after")
    state = CatchState(
        **{field: jnp.asarray(before[field], jnp.int32) for field in ("ball_x", "ball_y", "paddle_x", "paddle_y")},
        total_regret=jnp.asarray(before["total_regret"], jnp.float32),
        time=jnp.asarray(before["ball_y"], jnp.int32),
    )
    keys = jax.random.split(KEY, len(recording))
    action = jnp.asarray(recording["action"], jnp.int32)
    obs, ours, reward, terminated, info = jax.vmap(env.step_env)(keys, state, action)
    for field in ("ball_x", "ball_y", "paddle_x", "paddle_y", "total_regret"):
        np.testing.assert_array_equal(getattr(ours, field), after[field])
    np.testing.assert_array_equal(reward, recording["reward"])
    np.testing.assert_array_equal(terminated, recording["step_type"] == 2)
    np.testing.assert_array_equal(info["discount"], recording["discount"])
    np.testing.assert_array_equal(info["total_regret"], recording["info.total_regret"])
    pixels = np.unpackbits(recording["obs"], axis=1, count=env.rows * env.columns)
    np.testing.assert_array_equal(obs, pixels.reshape(-1, env.rows, env.columns))


def test_recorded_resets() -> None:
    recording = golden.load("bsuite.catch")
    first = recording.rows(recording["step_type"] == FIRST).group("after")
    state = jax.vmap(Catch().reset)(jax.random.split(KEY, 2000))[1]
    for field in ("ball_y", "paddle_x", "paddle_y"):
        assert set(np.unique(first[field])) == set(np.unique(getattr(state, field)))
    counts = np.bincount(state.ball_x, minlength=5)
    assert len(counts) == 5
    assert (np.abs(counts - 400) < 4 * np.sqrt(2000 * 0.16)).all()


def test_regret_survives_the_reset() -> None:
    env = Catch(rows=2, columns=5)
    _, state = env.reset(KEY)
    regret = 0.0
    for key in jax.random.split(KEY, 10):
        _, state, reward, done, info = env.step(key, state, 0)
        regret += 1 - float(reward)
        assert done
        assert float(state.total_regret) == float(info["total_regret"]) == regret
    assert regret > 0


def test_conforms() -> None:
    check_env(envcore.make("Catch-bsuite")[0])
    check_env(envcore.make("Catch-bsuite", rows=4, columns=3)[0])


@pytest.mark.parametrize("options", [{"rows": 1}, {"columns": 0}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 2 rows and 1 column"):
        Catch(**options)
