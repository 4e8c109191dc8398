from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import mnist_files
import numpy as np
import pytest
from envcore.wrappers import FlattenObservation
from envcore_bsuite import experiments
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from envcore_bsuite.experiments import shared_program
from envcore_bsuite.sweep import EXPERIMENTS
from envcore_bsuite.wrappers import RewardNoise, RewardScale

KEY = jax.random.key(1)
# All others have one program.
PROGRAMS = {"deep_sea": 21, "deep_sea_stochastic": 21, "memory_size": 17, "umbrella_distract": 23}


@pytest.fixture(scope="module", autouse=True)
def mnist(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with mnist_files.published(tmp_path_factory.mktemp("data")):
        yield


def environments(name: str) -> list[Any]:
    """The environments of an experiment."""
    return [envcore.make(env_id)[0] for env_id in envcore.registry if env_id.startswith(f"bsuite/{name}/")]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_number_of_programs(name: str) -> None:
    assert len({shared_program(env) for env in environments(name)}) == PROGRAMS.get(name, 1)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_programs_are_shared_where_shapes_agree(name: str) -> None:
    made = environments(name)
    shapes = [
        (env.observation_space(env.default_params).shape, *map(np.shape, jax.tree.leaves(env.default_params)))
        for env in made
    ]
    for env, shape in zip(made, shapes, strict=True):
        same = [shared_program(other) == shared_program(env) for other in made]
        assert same == [other == shape for other in shapes]


def rewards(env: Any, params: Any) -> tuple[Any, ...]:
    """Observations, rewards and infos of 60 random steps."""
    _, state = env.reset(KEY, params)

    def body(state: Any, key: jax.Array) -> tuple[Any, Any]:
        action = env.action_space(params).sample(key)
        obs, state, reward, _, info = env.step(key, state, action, params)
        return state, (obs, reward, info)

    return jax.lax.scan(body, state, jax.random.split(KEY, 60))[1]


@pytest.mark.parametrize(
    "env_id",
    [
        "bandit_noise/7",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("cartpole_swingup/7", "deep_sea/1", "discounting_chain/3", "memory_len/9")
        ),
    ],
)
def test_shared_program_with_its_params_is_the_environment(env_id: str) -> None:
    env, params = envcore.make(f"bsuite/{env_id}")
    shared = shared_program(env)
    assert shared != env
    jax.tree.map(np.testing.assert_array_equal, rewards(shared, params), rewards(env, params))


def test_shared_program_of_many_settings_at_once() -> None:
    """Twenty orders of arms in one program."""
    envs = environments("bandit")
    shared = shared_program(envs[0])
    params = [env.default_params.rewards.astype(np.float32) for env in envs]

    @jax.vmap
    def best(rewards: jax.Array) -> jax.Array:
        params = shared.default_params.replace(rewards=rewards)
        return shared.step(KEY, shared.reset(KEY, params)[1], rewards.argmax().astype(jnp.int32), params)[2]

    np.testing.assert_array_equal(best(jnp.stack(params)), jnp.ones(20))


def test_shared_program_reaches_through_wrappers() -> None:
    first = FlattenObservation(RewardNoise(RewardScale(DeepSea(5, mapping_seed=3), 2.0), 1.0))
    second = FlattenObservation(RewardNoise(RewardScale(DeepSea(5, randomize_actions=False), 3.0), 7.0))
    assert shared_program(first) == shared_program(second)
    assert shared_program(first) != shared_program(FlattenObservation(RewardNoise(RewardScale(DeepSea(6), 2.0), 1.0)))
    assert shared_program(DeepSea(5)) != shared_program(DeepSea(5, deterministic=False))
    assert shared_program(Catch(4, 4)) == Catch(4, 4)


def test_options_of_the_environment_inside() -> None:
    assert experiments.bandit_noise(0.5, 3, 4) == RewardNoise(SimpleBandit(3, 4), 0.5)
    assert experiments.bandit_scale(0.5, 3, 4) == RewardScale(SimpleBandit(3, 4), 0.5)
    assert experiments.catch_noise(2.0) == RewardNoise(Catch(), 2.0)
