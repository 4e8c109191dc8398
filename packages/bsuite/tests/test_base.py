"""Only the fields that an environment names in `lifetime` survive a reset."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.base import BsuiteEnvironment, share_left
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from envcore_bsuite.discounting_chain import DiscountingChain
from envcore_bsuite.memory_chain import MemoryChain
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.umbrella_chain import UmbrellaChain

ENVS = (
    SimpleBandit(),
    CartPole(),
    CartPoleSwingup(),
    Catch(),
    DeepSea(),
    DiscountingChain(),
    MemoryChain(),
    MountainCar(),
    UmbrellaChain(n_distractor=3),
)
KEY = jax.random.key(0)


@pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)
def test_only_counters_survive(env: BsuiteEnvironment) -> None:
    _, fresh = env.reset(KEY)
    final = jax.tree.map(lambda x: x + jnp.ones((), x.dtype) if x.dtype != bool else ~x, fresh)
    kept = env.restart(KEY, jnp.array(True), final, env.default_params)
    assert kept.time == 0
    for field in dataclasses.fields(fresh):
        source = final if field.name in env.lifetime else fresh
        np.testing.assert_array_equal(getattr(kept, field.name), getattr(source, field.name))


@pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)
def test_a_reset_begins_with_counters_at_zero(env: BsuiteEnvironment) -> None:
    _, state = env.reset(KEY)
    assert not any(np.any(value) for value in env.bsuite_info(state).values())
    assert not any(np.any(getattr(state, name)) for name in env.lifetime)


def test_the_share_that_is_left_is_exact_at_both_ends_of_compiled_programs() -> None:
    lengths = np.arange(1, 2001, dtype=np.int32)
    ends = jax.vmap(lambda n: jax.jit(share_left)(n, n))(lengths)
    np.testing.assert_array_equal(ends, np.zeros(2000, np.float32))
    np.testing.assert_array_equal(jax.vmap(lambda n: share_left(0 * n, n))(lengths), np.ones(2000, np.float32))
    inside = jax.vmap(lambda n: share_left(n - 1, n))(lengths)
    np.testing.assert_allclose(inside, 1 - (lengths - 1) / lengths, rtol=2e-7)
    for n in (3, 5, 7, 41):  # a constant of the program, by whose reciprocal XLA multiplies
        assert jax.jit(lambda t, n=n: share_left(t, n))(jnp.int32(n)) == 0
