"""One environment and a batch for Gymnasium."""

from unittest import mock

import envcore_gymnax as gymnax
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_gymnax import settings
from envcore_gymnax.wrappers import GymnaxToGymWrapper, GymnaxToVectorGymWrapper
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper, LogWrapper
from gymnasium.utils.env_checker import check_env

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


@pytest.mark.parametrize("wrapper", [GymnaxToGymWrapper, GymnaxToVectorGymWrapper])
def test_params_of_a_reset_that_fails_are_forgotten(wrapper):
    env, params = gymnax.make("CartPole-v1")
    env = wrapper(env, params=params)
    with pytest.raises((InvalidArgumentError, AttributeError)):  # inside `vmap`, JAX's own
        env.reset(options={"env_params": 1})
    assert env.env_params is params
    env.reset(options={"env_params": params.replace(gravity=jnp.float32(5))})
    assert env.env_params.gravity == 5
    env.reset(options={"env_params": None})
    np.testing.assert_allclose(env.env_params.gravity, 9.8)


@pytest.mark.filterwarnings("ignore:.*(value is|We recommend|recommend using).*")
def test_for_gymnasium():
    env = GymnaxToGymWrapper(*gymnax.make("CartPole-v1"), seed=1)
    check_env(env, skip_render_check=True)
    assert env.action_space is env.action_space
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(9)]
    env.action_space.seed(0)
    assert [env.action_space.sample() for _ in range(9)] == actions
    params = env.env_params.replace(max_steps_in_episode=2, x_threshold=jnp.float32(1))
    env.reset(seed=0, options={"env_params": params})
    assert env.observation_space.high[0] == 2
    assert [env.step(0)[2:4] for _ in range(2)] == [(False, False), (False, True)]
    assert env.render().dtype == np.uint8
    env.reset()
    env.env_state = env.env_state.replace(theta=jnp.float32(1))
    assert env.step(0)[2:4] == (True, False)


def test_keys_are_gymnaxs():
    env, params = gymnax.make("FourRooms-misc")
    one, many = GymnaxToGymWrapper(env, params, 3), GymnaxToVectorGymWrapper(env, 4, params, 3)
    key = jax.random.key(3)
    keys = jax.random.split(key, 4)
    assert jnp.array_equal(many.key, keys)
    np.testing.assert_array_equal(one.reset()[0], env.reset(jax.random.split(key)[1], params)[0])
    assert one.key == jax.random.split(key)[0]
    many.reset()
    assert jnp.array_equal(many.key, jax.vmap(jax.random.split)(keys)[:, 0])


def test_six_values_add_the_entries_of_gymnax_1():
    env, params = gymnax.make("Pendulum-v1")
    params = params.replace(max_steps_in_episode=1)
    assert "final_observation" not in GymnaxToGymWrapper(env, params).step(np.zeros(1, np.float32))[4]
    with mock.patch.object(settings, "_six_values", True):
        obs, _, _, truncated, info = GymnaxToGymWrapper(env, params).step(np.zeros(1, np.float32))
        assert truncated
        assert (info["terminated"], info["truncated"]) == (False, True)
        np.testing.assert_array_equal(info["final_observation"], obs)
        obs, _, _, _, infos = GymnaxToVectorGymWrapper(env, 2, params).step(np.zeros((2, 1), np.float32))
    assert infos["final_observation"].shape == obs.shape == (2, 3)
    assert not np.array_equal(infos["final_observation"], obs)
    assert infos["truncated"].all()


@pytest.mark.parametrize("values", [5, 6])
def test_a_batch_for_gymnasium(values):
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=2)
    with mock.patch.object(settings, "_six_values", True) if values == 6 else pytest.MonkeyPatch().context():
        envs = GymnaxToVectorGymWrapper(env, 3, params)
        obs, _ = envs.reset(seed=0)
        assert obs.shape == (3, 4)
        envs.step(np.zeros(3, int))
        obs, _, terminated, truncated, infos = envs.step(np.zeros(3, int))
    assert truncated.all()
    assert not terminated.any()
    assert infos["_final_obs"].all()
    assert (np.abs(infos["final_obs"][0]) > 0.05).any()
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    assert (abs(obs) <= 0.05).all()  # of the next episode


def test_a_seed_for_each_of_a_batch():
    env, params = gymnax.make("CartPole-v1")
    envs = GymnaxToVectorGymWrapper(env, 3, params)
    obs, _ = envs.reset(seed=[7, None, 7])
    np.testing.assert_allclose(obs[0], GymnaxToGymWrapper(env, params).reset(seed=7)[0], rtol=1e-6)
    np.testing.assert_array_equal(obs[0], obs[2])
    assert not np.array_equal(obs[0], obs[1])
    obs, _ = envs.reset(seed=[1, 2, 3])
    step = envs.step([0, 0, 0])[0]
    again = GymnaxToVectorGymWrapper(env, 3, params)
    np.testing.assert_array_equal(again.reset(seed=np.array([1, 2, 3]))[0], obs)
    np.testing.assert_array_equal(again.step([0, 0, 0])[0], step)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda env: GymnaxToGymWrapper(env, seed=-1), "seed must be"),
        (lambda env: GymnaxToGymWrapper(env).reset(seed=2**64), "seed must be an integer from 0 to"),
        (lambda env: GymnaxToGymWrapper(env).reset(seed=1.5), "seed must be"),
        (lambda env: GymnaxToGymWrapper(env).reset(options="x"), "options must be a dict or None, got 'x'"),
        (lambda env: GymnaxToVectorGymWrapper(env, 2, seed="a"), "seed must be"),
        (lambda env: GymnaxToVectorGymWrapper(env, 2).reset(seed=True), "seed must be"),
        (lambda env: GymnaxToVectorGymWrapper(env, 2).reset(seed=[1]), r"must have shape \(2,\)"),
        (lambda env: GymnaxToVectorGymWrapper(env, 2).reset(options=[1]), "options must be a dict"),
        (lambda env: GymnaxToVectorGymWrapper(env, "2"), "num_envs must be a positive integer, got '2'"),
        (lambda env: GymnaxToGymWrapper(env).step(2), r"must be in Discrete\(2\): got 2"),
    ],
)
def test_invalid_arguments(use, message):
    with pytest.raises(InvalidArgumentError, match=message):
        use(gymnax.make("CartPole-v1")[0])


@pytest.mark.parametrize("values", [5, 6])
def test_wrapped_environments_for_gymnasium(values):
    env, params = gymnax.make("Catch-bsuite")
    with mock.patch.object(settings, "_six_values", True) if values == 6 else pytest.MonkeyPatch().context():
        env = GymnaxToGymWrapper(LogWrapper(FlattenObservationWrapper(env)), params)
        assert env.reset()[0].shape == (50,)
        ends = []
        for _ in range(9):
            obs, _, terminated, truncated, info = env.step(1)
            ends.append((terminated, truncated))
    assert obs.shape == (50,)
    assert ends == [(False, False)] * 8 + [(True, False)]
    assert info["returned_episode_lengths"] == 9
