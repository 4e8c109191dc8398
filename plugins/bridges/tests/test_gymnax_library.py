"""gymnax's own environments in envcore, in step with gymnax."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import envcore
import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.errors import InvalidArgumentError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_bridges import from_gymnax
from envcore_bridges.base import default_numerics
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import check_lockstep

GYMNAX = BY_FAMILY["gymnax"].environments()
SLOW = ("-MinAtar", "-misc")
NEEDS_A_DOWNLOAD = "MNISTBandit-bsuite"
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] if name.endswith(SLOW) else [])
    for name in GYMNAX
    if name != NEEDS_A_DOWNLOAD
]


def test_what_gymnax_lists_is_announced() -> None:
    assert set(GYMNAX) == set(gymnax.registered_envs)


@pytest.mark.parametrize("name", NAMES)
def test_observations_are_in_their_space(name: str) -> None:
    """Some of gymnax's exceed the bounds that they declare."""
    env, params = envcore.make(f"gymnax/{name}")
    batch = Batched(env, 16)
    start = start_rollout(batch, jax.random.key(0), params)
    _, obs = run_rollout(batch, random_policy(batch), start, 300, params, collect=lambda step: step.next_obs)
    space, obs = env.observation_space(params), np.asarray(obs)
    if isinstance(space, spaces.Discrete):  # FrozenLake's
        assert ((obs >= 0) & (obs < space.n)).all()
    else:
        assert isinstance(space, spaces.Box)
        assert ((obs >= space.low) & (obs <= space.high)).all()


# XLA rounds some products and sums together, in two programs not always the same ones, unless it is told not to.
ROUNDS_ALIKE = "--xla_cpu_max_isa=SSE4_2"


@pytest.mark.slow
def test_it_plays_as_gymnax_does_in_a_process_that_rounds_alike() -> None:
    settings = {**os.environ, "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {ROUNDS_ALIKE}"}
    command = ["-m", "pytest", "-q", "-n", "0", "-m", "slow or not slow", __file__, "-k", "beside_gymnax"]
    done = subprocess.run([sys.executable, *command], env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.skipif(ROUNDS_ALIKE not in os.environ.get("XLA_FLAGS", ""), reason="the test above runs it")
@pytest.mark.parametrize("name", NAMES)
def test_it_plays_beside_gymnax(name: str) -> None:
    with default_numerics():  # the tests' are strict
        made: tuple[Any, Any] = gymnax.make(name)
    theirs, params = made
    # As arrays whose values XLA does not know, as ours are: it folds constants before it rounds.
    params = jax.tree.map(jnp.asarray, params)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = theirs.reset_env(key, params)
        return state, obs

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        unknown = jax.lax.optimization_barrier(params)
        obs, state, reward, terminated, _ = theirs.step_env(key, state, action, unknown)
        return state, obs, reward, terminated, theirs.is_truncated(state, params)

    env, ours = envcore.make(f"gymnax/{name}")
    assert ours.max_steps_in_episode == int(params.max_steps_in_episode)
    check_lockstep(env, reset, step)


def test_the_rules_see_our_time_limit() -> None:
    env, params = envcore.make("gymnax/DiscountingChain-bsuite")
    params = params.replace(max_steps_in_episode=10)
    key = jax.random.key(0)
    _, state = env.reset(key, params)
    obs, *_ = env.step(key, state, 0, params)
    assert obs[1] == jnp.float32(0.1)


def test_options_and_names() -> None:
    env, params = envcore.make("gymnax/DeepSea-bsuite", size=12)
    assert env.observation_space(params).shape == (12, 12)
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'wrong_option'"):
        envcore.make("gymnax/CartPole-v1", wrong_option=1)
    with pytest.raises(
        InvalidArgumentError, match=r"gymnax has no environment 'CartPole-v9'. Did you mean 'CartPole-v1'"
    ):
        from_gymnax("gymnax/CartPole-v9")


@pytest.mark.parametrize("name", ["CartPole-v1", "FourRooms-misc"])
def test_pictures(name: str) -> None:
    env, params = envcore.make(f"gymnax/{name}")
    _, state = env.reset(jax.random.key(0))
    picture = jax.jit(lambda state: env.render(state, params, height=60))(state)
    assert picture.shape == ((60, 90, 3) if name == "CartPole-v1" else (60, 80, 3))
    assert len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 2
