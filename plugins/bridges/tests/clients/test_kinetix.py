"""Kinetix in envcore, in step with Kinetix; in an environment of its own, `envcore-bridges[kinetix]`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

# pyright: basic, reportMissingImports=false
import pytest

# Without it, XLA rounds some products and sums together, in two programs not always the same ones.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa=AVX"

import envcore
import jax
import jax.numpy as jnp
import kinetix
from envcore.errors import InvalidArgumentError
from envcore.spaces import Discrete
from envcore_bridges import from_gymnax
from envcore_bridges.base.numerics import default_numerics
from envcore_bridges.gymnax.environments import KINETIX
from envcore_testing import Case, check_lockstep, conformance_cases
from kinetix.environment import EnvParams, make_kinetix_env, static_env_params_from_size
from kinetix.environment.spaces import ActionType, ObservationType
from kinetix.environment.ued import ued

pytestmark = pytest.mark.client

CHEAP = "s/h4_thrust_aim"
SLOW = ("random-s", "random-m", "random-l", "m/h0_unicycle", "l/h4_cartpole")


def test_what_kinetix_has_is_announced() -> None:
    folder = Path(next(iter(kinetix.__path__))) / "levels"
    levels = {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.json")}
    assert set(KINETIX) == levels | {"random-s", "random-m", "random-l"}


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(from_gymnax(f"kinetix/{CHEAP}"), num_steps=100), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.parametrize("name", [CHEAP, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_it_plays_as_kinetix_does(name: str) -> None:
    """One step short of the library's time limit, which it mixes into `done`."""
    params, static = EnvParams(), static_env_params_from_size(name.removeprefix("random-")[0])
    with default_numerics():  # the tests' are strict
        begin = (
            ued.make_reset_fn_sample_kinetix_level(params, static)
            if name.startswith("random")
            else ued.make_reset_fn_list_of_levels([name], static)
        )
        types = ActionType.MULTI_DISCRETE, ObservationType.SYMBOLIC_ENTITY
        theirs = make_kinetix_env(*types, begin, params, static, auto_reset=False)
    arrays = jax.tree.map(jnp.asarray, params)

    def plain(obs: Any) -> dict[str, Any]:
        return {field: getattr(obs, field) for field in theirs.observation_space(params).spaces}

    # Numbers that XLA does not know, as ours are: it would multiply by the inverse of a constant instead of dividing.
    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = theirs.reset_env(key, jax.lax.optimization_barrier(arrays), None)
        return state, plain(obs)

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        obs, state, reward, done, _ = theirs.step_env(key, state, action, jax.lax.optimization_barrier(arrays))
        return state, plain(obs), reward, done

    env, ours = envcore.make(f"kinetix/{name}")
    assert ours.max_steps_in_episode == 256
    check_lockstep(env, reset, step, params=ours.replace(max_steps_in_episode=255), num_steps=300)


def test_options_and_names() -> None:
    env, _ = envcore.make(f"kinetix/{CHEAP}", action="discrete", observation="symbolic_flat")
    assert env.action_space(env.default_params) == Discrete(11)
    with pytest.raises(InvalidArgumentError, match="the option 'action' must be one of multi_discrete, discrete"):
        envcore.make(f"kinetix/{CHEAP}", action="wrong")
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'wrong_option'"):
        envcore.make(f"kinetix/{CHEAP}", wrong_option=1)
