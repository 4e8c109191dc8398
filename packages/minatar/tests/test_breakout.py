"""Breakout against the recordings of the original, and what only we have."""

from __future__ import annotations

import envcore
import golden
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.testing import check_env
from envcore_minatar.breakout import Breakout, BreakoutState, play, start

KEY = jax.random.key(0)
FIELDS = ("ball_y", "ball_x", "ball_dir", "pos", "last_y", "last_x")
FLAGS = ("brick_map", "strike", "terminal")


@pytest.fixture(scope="module")
def recording() -> golden.Recording:
    return golden.load("minatar.breakout")


def original_state(columns: dict[str, np.ndarray], last_action: np.ndarray) -> BreakoutState:
    return BreakoutState(
        **{field: jnp.asarray(columns[field], jnp.int32) for field in FIELDS},
        **{field: jnp.asarray(columns[field], jnp.bool_) for field in FLAGS},
        last_action=jnp.asarray(last_action, jnp.int32),
        time=jnp.zeros(len(last_action), jnp.int32),
    )


def unpacked(obs: np.ndarray) -> np.ndarray:
    return np.unpackbits(obs, axis=1, count=400).reshape(-1, 10, 10, 4).astype(bool)


def test_every_recorded_step(recording: golden.Recording) -> None:
    before = original_state(recording.group("before"), recording["last_action"])
    after, reward, terminal = jax.jit(jax.vmap(play))(before, jnp.asarray(recording["action"], jnp.int32))
    expected = recording.group("after")
    for field in (*FIELDS, *FLAGS):
        np.testing.assert_array_equal(getattr(after, field), expected[field], err_msg=field)
    np.testing.assert_array_equal(reward, recording["reward"])
    np.testing.assert_array_equal(terminal, recording["terminal"])
    np.testing.assert_array_equal(after.last_action, recording["action"])
    env = Breakout()
    obs = jax.jit(jax.vmap(lambda state: env.observe(state, env.default_params)))(after)
    np.testing.assert_array_equal(obs, unpacked(recording["obs"]))


def test_recorded_resets(recording: golden.Recording) -> None:
    ours = jax.vmap(start)(jnp.asarray(recording.extras["reset_draw.ball_start"], jnp.int32))
    for field in (*FIELDS, *FLAGS):
        np.testing.assert_array_equal(getattr(ours, field), recording.group("reset")[field], err_msg=field)


def test_starts_from_either_side() -> None:
    ball_x = np.asarray(jax.vmap(Breakout().reset)(jax.random.split(KEY, 1000))[1].ball_x)
    assert set(ball_x) == {0, 9}
    assert abs((ball_x == 9).mean() - 0.5) < 4 * 0.5 / 1000**0.5


def test_sticky_actions_repeat_the_last_executed_one() -> None:
    env = Breakout()
    _, state = env.reset(KEY)
    state = state.replace(last_action=jnp.int32(3))
    keys = jax.random.split(KEY, 4000)
    executed = np.asarray(jax.vmap(lambda key: env.step_env(key, state, 1)[1].last_action)(keys))
    assert set(executed) == {1, 3}
    assert abs((executed == 3).mean() - 0.1) < 4 * (0.09 / 4000) ** 0.5


def test_last_action_survives_the_reset() -> None:
    env = Breakout()
    params = env.default_params.replace(max_steps_in_episode=1)
    _, state = env.reset(KEY, params)
    _, state, _, done, _ = env.step(KEY, state, 2, params.replace(sticky_action_prob=0.0))
    assert done
    assert int(state.last_action) == 3


def test_action_sets_mean_the_same() -> None:
    _, state = Breakout().reset(KEY)
    for minimal, full in enumerate((0, 1, 3)):
        ours = Breakout().step_env(KEY, state, minimal)
        theirs = Breakout(use_minimal_action_set=False).step_env(KEY, state, full)
        jax.tree.map(np.testing.assert_array_equal, ours, theirs)


@pytest.mark.parametrize("use_minimal_action_set", [True, False])
def test_conforms(use_minimal_action_set: bool) -> None:
    check_env(envcore.make("Breakout-MinAtar", use_minimal_action_set=use_minimal_action_set)[0])
