"""Only the fields that an environment names in `lifetime` survive a reset."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.base import BsuiteEnvironment
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


@pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)
def test_settings_are_options(env: BsuiteEnvironment) -> None:
    assert set(env.settings) <= {field.name for field in dataclasses.fields(env)}


def test_bsuite_info_is_abstract() -> None:
    with pytest.raises(NotImplementedError):
        BsuiteEnvironment().bsuite_info(KEY)


@pytest.mark.parametrize("env", ENVS, ids=lambda env: env.name)
def test_steps_at_the_last_time(env: BsuiteEnvironment) -> None:
    """Steps at the last time that is counted end as steps at any time long after the end."""
    _, state = env.reset(KEY)

    def ends(time: int) -> list[bool]:
        found, now = [], state.replace(time=np.int32(time))
        for _ in range(3):
            _, now, _, terminated, _ = env.step_env(KEY, now, 0)
            found.append(bool(terminated))
        assert int(now.time) == min(time + 3, 2**31 - 1)
        return found

    assert ends(2**31 - 2) == ends(2**31 - 1) == ends(100_000)
