"""Craftax in envcore, in step with Craftax's own classes."""

from __future__ import annotations

import os
from typing import Any

# pyright: basic, reportMissingImports=false
import pytest

# Without it, XLA rounds some products and sums together, in two programs not always the same ones: the last bit of an
# observation differs, and with it now and then a block of a world that is made from noise.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa=AVX"

import envcore
import jax
import jax.numpy as jnp
from craftax.craftax_env import make_craftax_env_from_name
from envcore.errors import InvalidArgumentError
from envcore_bridges import from_gymnax
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Case, check_lockstep, conformance_cases

pytestmark = pytest.mark.client

CRAFTAX = BY_FAMILY["craftax"].environments()
CHEAP = "Craftax-Classic-Symbolic-v1"


def test_what_craftax_has_is_announced() -> None:
    for name in CRAFTAX:
        assert type(from_gymnax(f"craftax/{name}").library_env) is type(make_craftax_env_from_name(name, False))


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(from_gymnax(f"craftax/{CHEAP}"), num_steps=200), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == CHEAP else [pytest.mark.slow]) for name in CRAFTAX],
)
def test_it_plays_as_craftax_does(name: str) -> None:
    theirs = make_craftax_env_from_name(name, auto_reset=False)
    params = jax.tree.map(jnp.asarray, theirs.default_params)

    # Numbers that XLA does not know, as ours are: it would multiply by the inverse of a constant instead of dividing.
    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = theirs.reset_env(key, jax.lax.optimization_barrier(params))
        return state, obs

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        obs, state, reward, done, _ = theirs.step_env(key, state, action, jax.lax.optimization_barrier(params))
        return state, obs, reward, done

    env, ours = envcore.make(f"craftax/{name}")
    assert ours.max_steps_in_episode == params.max_timesteps
    check_lockstep(env, reset, step)


def test_a_time_limit_truncates_and_reports_achievements() -> None:
    env, params = envcore.make(f"craftax/{CHEAP}")
    params = params.replace(max_steps_in_episode=1, always_diamond=True)
    key = jax.random.key(0)
    _, state = env.reset(key, params)
    achieved = jax.tree.map(jnp.ones_like, state.inner.achievements)
    state = state.replace(inner=state.inner.replace(achievements=achieved))
    *_, done, info = env.step(key, state, 0, params)
    assert done
    assert info["truncated"]
    assert not info["terminated"]
    assert info["Achievements/collect_wood"] == 100


def test_options_and_names() -> None:
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'wrong_option'"):
        envcore.make(f"craftax/{CHEAP}", wrong_option=1)
    with pytest.raises(InvalidArgumentError, match="craftax has no environment 'Craftax-v1'"):
        from_gymnax("craftax/Craftax-v1")
