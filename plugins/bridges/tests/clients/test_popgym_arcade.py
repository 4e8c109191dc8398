"""POPGym Arcade in envcore, in step with its own code; needs the environment `envcore-bridges[popgym-arcade]`."""

from __future__ import annotations

import os
from typing import Any

# pyright: basic, reportMissingImports=false
import pytest

# Without it, XLA rounds some products and sums together, in two programs not always the same ones.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa=AVX"

import envcore
import jax
import jax.numpy as jnp
import popgym_arcade
from envcore.errors import InvalidArgumentError
from envcore_bridges import from_gymnax
from envcore_bridges.base.numerics import default_numerics
from envcore_bridges.gymnax.environments import POPGYM_ARCADE
from envcore_testing import Case, check_lockstep, conformance_cases
from popgym_arcade.registration import REGISTERED_ENVIRONMENTS

pytestmark = pytest.mark.client

CHEAP = "BattleShipEasy"
LIMITS = {
    "CartPoleEasy": 200,
    "CartPoleMedium": 400,
    "CartPoleHard": 600,
    "NoisyCartPoleEasy": 200,
    "BattleShipEasy": 128,
    "MineSweeperEasy": 32,
    "NavigatorEasy": 64,
    "AutoEncodeEasy": 260,
    "CountRecallEasy": 126,
    "SkittlesEasy": 100,
    "BreakoutEasy": 2000,
    "TetrisEasy": 3000,
}


def test_what_popgym_arcade_lists_is_announced() -> None:
    assert set(POPGYM_ARCADE) == set(REGISTERED_ENVIRONMENTS)
    families = {spec.spec.family for spec in envcore.registry.values()}
    assert "popgym_arcade" in families
    assert "gymnax" not in families  # stable-gymnax is imported by this name, and is not gymnax 1


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(from_gymnax(f"popgym_arcade/{CHEAP}"), num_steps=150), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == CHEAP else [pytest.mark.slow]) for name in POPGYM_ARCADE],
)
def test_it_plays_as_popgym_arcade_does(name: str) -> None:
    """One step short of the library's time limit, which it mixes into `done`."""
    with default_numerics():  # the tests' are strict
        theirs, params = popgym_arcade.make(name)
    params = jax.tree.map(jnp.asarray, params)

    # Numbers that XLA does not know, as ours are: it would multiply by the inverse of a constant instead of dividing.
    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = theirs.reset_env(key, jax.lax.optimization_barrier(params))
        return state, obs

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        obs, state, reward, done, _ = theirs.step_env(key, state, action, jax.lax.optimization_barrier(params))
        return state, obs, reward, done

    env, ours = envcore.make(f"popgym_arcade/{name}")
    ours = ours.replace(max_steps_in_episode=ours.max_steps_in_episode - 1)
    check_lockstep(env, reset, step, params=ours, num_steps=300)


def test_time_limits() -> None:
    for name, limit in LIMITS.items():
        assert from_gymnax(f"popgym_arcade/{name}").default_params.max_steps_in_episode == limit


def test_no_time_limit_of_theirs_is_left() -> None:
    env, params = envcore.make(f"popgym_arcade/{CHEAP}")
    params = params.replace(max_steps_in_episode=200)
    keys = jax.random.split(jax.random.key(0), 200)

    def up(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        _, state, _, done, _ = env.step(key, state, 0, params)
        return state, done

    _, ended = jax.jit(lambda state: jax.lax.scan(up, state, keys))(env.reset(keys[0], params)[1])
    assert jnp.flatnonzero(ended).tolist() == [199]


def test_options_and_names() -> None:
    env, _ = envcore.make(f"popgym_arcade/{CHEAP}", partial_obs=True, obs_size=256)
    assert env.observation_space(env.default_params).shape == (256, 256, 3)
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'wrong_option'"):
        envcore.make(f"popgym_arcade/{CHEAP}", wrong_option=1)
    with pytest.raises(InvalidArgumentError, match="popgym_arcade has no environment 'Tetris'"):
        from_gymnax("popgym_arcade/Tetris")
