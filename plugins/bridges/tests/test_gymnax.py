"""Environments that are written as gymnax's are, in envcore; gymnax's own are in `test_gymnax_library.py`."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import envcore
import envcore_gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError, NoPictureError
from envcore_bridges import from_gymnax
from envcore_testing import Case, check_lockstep, conformance_cases
from flax import struct


class TheirBox:
    """Theirs have no classes of ours."""

    def __init__(self, low: Any, high: Any, shape: tuple[int, ...], dtype: Any = jnp.float32):
        self.low, self.high, self.shape, self.dtype = low, high, shape, dtype


class TheirDiscrete:
    def __init__(self, n: int):
        self.n, self.shape, self.dtype = n, (), jnp.int32


class TheirDict:
    def __init__(self, **parts: Any):
        self.spaces = parts


class Obs(NamedTuple):
    place: Any
    flags: Any


@struct.dataclass
class WalkState:
    place: Any
    time: Any


@struct.dataclass
class WalkParams:
    slip: float = 0.2
    max_steps_in_episode: int = 20


class Walk:
    """gymnax 0's style: five values, and a `done` that mixes the time limit in."""

    default_params = WalkParams()

    def __init__(self, length: int = 5):
        self.length = length

    def reset_env(self, key: jax.Array, params: WalkParams) -> tuple[Any, Any]:
        state = WalkState(place=jax.random.randint(key, (), 0, 2), time=0)
        return self.get_obs(state), state

    def step_env(self, key: jax.Array, state: WalkState, action: Any, params: WalkParams) -> tuple[Any, ...]:
        slips = jax.random.uniform(key) < params.slip
        place = jnp.clip(state.place + jnp.where(slips, 0, 2 * action - 1), 0, self.length)
        state = WalkState(place=place, time=state.time + 1)
        done = self.is_terminal(state, params)
        return self.get_obs(state), state, 1.0 * (place == self.length), done, {"discount": 1.0 - done, "slips": slips}

    def is_terminal(self, state: WalkState, params: WalkParams) -> Any:
        return (state.place == self.length) | (state.time >= params.max_steps_in_episode)

    def get_obs(self, state: WalkState) -> Any:
        return Obs(place=state.place / self.length, flags=jnp.stack([state.place == 0, state.place == self.length]))

    def action_space(self, params: Any = None) -> Any:
        return TheirDiscrete(2)

    def observation_space(self, params: Any) -> Any:
        return TheirDict(place=TheirBox(0, 1, ()), flags=TheirBox(0, 1, (2,), jnp.bool_))


def play(walk: Any, params: Any = Walk.default_params) -> dict[str, Any]:
    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = walk.reset_env(key, params)
        return state, obs._asdict()

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        obs, state, reward, done, _ = walk.step_env(key, state, action, params)
        at_limit = state.time >= params.max_steps_in_episode
        return state, obs._asdict(), reward, done & (~at_limit | (state.place == walk.length)), at_limit

    return {"reset": reset, "step": step}


@pytest.mark.parametrize("case", conformance_cases(from_gymnax(Walk)), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.parametrize("length", [3, pytest.param(9, marks=pytest.mark.slow)])
def test_it_plays_as_the_library_does(length: int) -> None:
    assert check_lockstep(from_gymnax(Walk, length=length), **play(Walk(length))) > 20


def test_what_becomes_what() -> None:
    env = from_gymnax(Walk)
    assert env.name == "Walk"
    assert env.action_space(env.default_params) == spaces.Discrete(2)
    flags = spaces.Box(False, True, (2,), jnp.bool_)
    assert env.observation_space(env.default_params) == spaces.Dict({"place": spaces.Box(0.0, 1.0, ()), "flags": flags})
    params = env.default_params
    assert params.max_steps_in_episode == 20
    assert params.slip == 0.2
    _, state = env.reset(jax.random.key(0))
    info = env.step(jax.random.key(1), state, 1, params.replace(slip=1.0))[-1]
    assert set(info) == {"discount", "final_obs", "slips", "terminated", "truncated"}
    assert info["slips"]


class SixValues(Walk):
    """A library that says which ends are truncations."""

    def step_env(self, key: jax.Array, state: WalkState, action: Any, params: WalkParams) -> tuple[Any, ...]:
        obs, state, reward, _, info = super().step_env(key, state, action, params)
        return obs, state, reward, state.place == self.length, state.time == 3, info


def test_six_values_of_a_step() -> None:
    env = from_gymnax(SixValues, length=50)
    _, state = env.reset(jax.random.key(0))
    for number in range(1, 4):
        _, state, _, done, info = env.step(jax.random.key(number), state, 1)
        assert (bool(done), bool(info["truncated"]), float(info["discount"])) == (number == 3, number == 3, 1.0)


class Plain(Walk):
    """Without params, a time limit, declared spaces of observations, or numbers in them."""

    default_params: Any = None

    def reset_env(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return super().reset_env(key, WalkParams())

    def step_env(self, key: jax.Array, state: WalkState, action: Any, params: Any) -> tuple[Any, ...]:
        return super().step_env(key, state, action, WalkParams(max_steps_in_episode=10**6))

    def get_obs(self, state: WalkState) -> Any:
        return {"nothing": jnp.zeros((0,))}

    def observation_space(self, params: Any) -> Any:
        raise NotImplementedError


def test_an_environment_that_declares_little() -> None:
    env = from_gymnax(Plain)
    assert env.default_params == envcore.EnvParams(max_steps_in_episode=NO_TIME_LIMIT)
    assert env.observation_space(env.default_params) == spaces.Dict({"nothing": spaces.Box(-np.inf, np.inf, (0,))})
    _, state = env.reset(jax.random.key(0))
    assert not env.step(jax.random.key(0), state, 0)[3]
    with pytest.raises(NoPictureError, match="Plain cannot be rendered"):
        env.render(state, env.default_params)


class Wrapper:
    """As gymnax's wrappers are."""

    def __init__(self, **options: Any):
        self._env = Walk(**options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("CartPole-v1", {}, r"source must be 'gymnax/NAME', 'craftax/NAME' or a class, got 'CartPole-v1'"),
        (Wrapper, {}, r"from_gymnax\(Wrapper\) needs .* and Wrapper has none\. .* put envcore.wrappers"),
        (Walk, {"wrong": 1}, "unexpected keyword argument 'wrong'"),
    ],
)
def test_what_is_refused(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        from_gymnax(source, **options)


def test_the_alias_is_told_from_gymnax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnax", envcore_gymnax)
    with pytest.raises(InvalidArgumentError, match=r"call envcore_gymnax.uninstall\(\) first"):
        from_gymnax("gymnax/Swimmer-misc")
