"""`FromGymnasium` beside Gymnasium's own environments."""

from __future__ import annotations

import sys
from typing import Any

import ale_py
import envcore
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.errors import EnvironmentLoadError, InvalidArgumentError, InvalidParamsError, NoPictureError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, LogWrapper
from envcore_bridges import from_gymnasium
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Case, conformance_cases

gymnasium.register_envs(ale_py)

KINDS = (
    *("CartPole-v1", "MountainCarContinuous-v0", "FrozenLake-v1", "Taxi-v4", "Blackjack-v1"),
    *("InvertedPendulum-v5", "HalfCheetah-v5", "Ant-v5", "LunarLander-v3", "BipedalWalker-v3"),
    "ALE/Pong-v5",
)
needs_box2d = pytest.mark.skipif(sys.version_info >= (3, 14), reason="Box2D has no wheels")


def marked(env_id: str) -> Any:
    return pytest.param(env_id, marks=[needs_box2d] if env_id.startswith(("Lunar", "Bipedal")) else [])


def seed_of(key: jax.Array) -> int:
    high, low = np.asarray(jax.random.key_data(key))
    return int(high) << 32 | int(low)


def assert_same(ours: Any, theirs: Any) -> None:
    for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y).astype(np.asarray(x).dtype))


def test_what_gymnasium_registers_is_announced() -> None:
    announced = set(BY_FAMILY["gymnasium"].environments())
    assert announced <= set(gymnasium.registry)
    left_out = {name.partition("-v")[0] for name in set(gymnasium.registry) - announced}
    assert not left_out & {"CartPole", "LunarLander", "Taxi", "ALE/Pong"}
    assert {"CartPole-v1", "HalfCheetah-v5", "LunarLander-v3", "Taxi-v4", "ALE/Pong-v5"} <= announced


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        case
        for name in ("CartPole-v1", "Blackjack-v1", "InvertedPendulum-v5")
        for case in conformance_cases(from_gymnasium(name), num_steps=40)
    ],
    ids=str,
)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.parametrize("env_id", [marked(env_id) for env_id in KINDS])
def test_it_plays_as_gymnasium_does_and_a_state_can_be_stepped_twice(env_id: str) -> None:
    env, params = envcore.make(f"gymnasium/{env_id}")
    step, key = jax.jit(env.step_env), jax.random.key(0)
    theirs = gymnasium.make(env_id)
    theirs.action_space.seed(0)
    limit = theirs.spec.max_episode_steps if theirs.spec else None
    without = 1000 if env_id == "Blackjack-v1" else envcore.NO_TIME_LIMIT  # its actions are replayed
    assert params.max_steps_in_episode == (limit or without)
    obs, state = env.reset(key, params)
    their_obs, _ = theirs.reset(seed=seed_of(key))
    assert_same(obs, their_obs)
    states, results, ended = [], [], False
    for _ in range(40):
        action = jnp.asarray(theirs.action_space.sample())
        states.append((state, action))
        results.append(step(key, state, action, params))
        obs, state, reward, terminated, info = results[-1]
        their_obs, their_reward, ended, truncated, their_info = theirs.step(np.asarray(action)[()])
        assert_same(obs, their_obs)
        assert_same((reward, terminated, info["truncated"]), (their_reward, ended, truncated))
        if "action_mask" in their_info:
            assert_same(info["action_mask"], their_info["action_mask"])
        if ended:
            break
    for i in (len(states) // 2, 0, len(states) - 1):
        jax.tree.map(np.testing.assert_array_equal, step(key, *states[i], params), results[i])


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id", [marked(env_id) for env_id in ("CartPole-v1", "InvertedPendulum-v5", "LunarLander-v3")]
)
def test_a_batch_plays_as_single_environments(env_id: str) -> None:
    env, params = envcore.make(f"gymnasium/{env_id}")
    params = params.replace(max_steps_in_episode=15)
    batch = LogWrapper(Batched(env, 5))
    start = start_rollout(batch, jax.random.key(1), params)
    play = jax.jit(lambda start: run_rollout(batch, random_policy(batch), start, 40, params))
    _, steps = play(start)
    assert steps.done.any(0).all()
    _, again = play(start)
    jax.tree.map(np.testing.assert_array_equal, steps, again)
    state, action, *expected = jax.tree.map(
        lambda x: x[20, 3], (steps.state.env_state, steps.action, steps.next_obs, steps.reward, steps.done)
    )
    _, _, reward, done, info = env.step(jax.random.key(0), state, action, params)
    jax.tree.map(np.testing.assert_array_equal, [info["final_obs"], reward, done], expected)


class Counting(gymnasium.Env[Any, Any]):
    """An environment of yours, whose state nobody knows."""

    observation_space = gymnasium.spaces.Dict({"count": gymnasium.spaces.Discrete(50, start=1)})
    action_space = gymnasium.spaces.Discrete(3, start=-1)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.count = int(self.np_random.integers(1, 5))
        return {"count": self.count}, {}

    def step(self, action: Any) -> Any:
        self.count = min(max(self.count + int(action), 1), 50)
        return {"count": self.count}, float(action), False, self.count == 9, {"twice": 2 * self.count, "word": "no"}


class Odd(Counting):
    """What its first step returns does not fit what it returns later."""

    observation_space = gymnasium.spaces.Box(0, 2**40, (), np.int64)
    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, length: int = 0, render_mode: str | None = None):
        self.length, self.render_mode, self.time = length, render_mode, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        gymnasium.Env.reset(self, seed=seed)
        self.time = 0
        return np.zeros((1,) * self.length, np.int64), {}

    def step(self, action: Any) -> Any:
        self.time += 1
        info = {"truncated": False, "y": 0 if self.time == 1 else 2.75}
        return np.int64(2**40), 0.0, False, self.time == 3, info

    def render(self) -> Any:
        return np.full((20, 30, 3), 200, np.uint8)


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        (
            "CartPole-v9",
            {},
            InvalidArgumentError,
            "Gymnasium has no environment 'CartPole-v9'. Did you",
        ),
        ("CartPole-v1", {"wrong": 1}, InvalidArgumentError, "unexpected keyword argument 'wrong'"),
        ("HalfCheetah-v3", {}, EnvironmentLoadError, "gymnasium/HalfCheetah-v3 lacks its simulator"),
        (dict, {}, InvalidArgumentError, "dict does not make an environment of the library"),
        (lambda: Odd(2), {}, InvalidArgumentError, "declares observations in Box.* but `reset` returns .*1, 1"),
        (lambda: gymnasium.make_vec("CartPole-v1"), {}, InvalidArgumentError, "makes a batch of environments"),
        ("CartPole-v1", {"x": np.zeros(2)}, InvalidArgumentError, "the option 'x' must be hashable"),
    ],
)
def test_what_is_refused(source: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_gymnasium(source, **options)


def test_an_environment_of_yours_is_played_again() -> None:
    env = from_gymnasium(lambda: gymnasium.wrappers.TimeLimit(Counting(), 30))
    params = env.default_params
    assert (params.max_steps_in_episode, env.action_space(params)) == (30, spaces.Discrete(3))
    obs, state = env.reset(jax.random.key(0))
    after = env.step(jax.random.key(0), state, 2)
    assert after[0]["count"] == obs["count"] + 1
    assert (after[2], int(after[-1]["twice"])) == (1.0, 2 * (obs["count"] + 2))
    env.reset(jax.random.key(1))
    jax.tree.map(np.testing.assert_array_equal, env.step(jax.random.key(0), state, 2), after)


def test_numbers_that_do_not_fit_the_first_ones() -> None:
    env = from_gymnasium(Odd)
    params = env.default_params
    assert params.max_steps_in_episode == 1000  # replayed
    _, state = env.reset(jax.random.key(0))
    for number in range(3):
        _, state, _, done, info = env.step(jax.random.key(0), state, 0)
        assert (info["y"], done) == (0 if number == 0 else 2.75, number == 2)
        assert info["final_obs"] == 2**31 - 1
    with pytest.raises(InvalidParamsError, match="max_steps_in_episode must be from 1 to 1000"):
        env.reset(jax.random.key(0), params.replace(max_steps_in_episode=2000))


def test_pictures_of_an_environment_of_yours() -> None:
    for make in (Odd, lambda: Odd(render_mode="rgb_array")):
        env = from_gymnasium(make)
        picture = env.render(env.reset(jax.random.key(0))[1], env.default_params, height=10)
        assert (picture.shape, int(picture.min())) == ((10, 15, 3), 200)
    silent = from_gymnasium(lambda: Odd())
    with pytest.raises(NoPictureError, match="must take render_mode, or set it to 'rgb_array'"):
        silent.render(silent.reset(jax.random.key(0))[1], silent.default_params)


def test_an_environment_that_is_not_made_anew() -> None:
    made = Counting()
    with pytest.raises(InvalidArgumentError, match="must make a new environment on each call"):
        from_gymnasium(lambda: made)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "HalfCheetah-v5", "ALE/Pong-v5"])
def test_pictures(env_id: str) -> None:
    env, params = envcore.make(f"gymnasium/{env_id}")
    _, state = env.reset(jax.random.key(0))
    picture = np.asarray(jax.jit(lambda state: env.render(state, params, height=60))(state))
    assert picture.shape[0] == 60
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 2
