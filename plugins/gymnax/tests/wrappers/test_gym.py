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
from envcore_gymnax.environments import environment
from envcore_gymnax.wrappers import GymnaxToGymWrapper, GymnaxToVectorGymWrapper, LogWrapper, StickyActionWrapper
from envcore_gymnax.wrappers.purerl import GymnaxWrapper
from gymnasium.utils.env_checker import check_env

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


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


def test_spaces_follow_the_params():
    env, params = gymnax.make("Pendulum-v1")
    envs = GymnaxToVectorGymWrapper(env, 2, params)
    assert envs.action_space is envs.action_space
    assert (envs.single_action_space.high, envs.action_space.shape) == (2, (2, 1))
    envs.reset(options={"env_params": params.replace(max_torque=5.0)})
    assert (envs.single_action_space.high, envs.action_space.high.tolist()) == (5, [[5], [5]])


def test_sticky_actions():
    env, params = gymnax.make("MountainCar-v0")
    one = GymnaxToGymWrapper(StickyActionWrapper(env, 1.0), params.replace(max_steps_in_episode=2))
    assert one.env_state.last_action == 0
    assert [one.step(2)[2:4] for _ in range(2)] == [(False, False), (False, True)]
    assert one.env_state.last_action == 0  # repeated


class Count(environment.Environment):
    """An environment whose episodes end at step 5, whatever the limit in the params."""

    def step_env(self, key, state, action, params):
        state = environment.EnvState(state.time + 1)
        return state.time, state, 0.0, state.time >= 5, {}

    def reset_env(self, key, params):
        return jnp.int32(0), environment.EnvState(jnp.int32(0))


@pytest.mark.parametrize("limit", [1, 9])
def test_environments_of_users_end_where_they_say(limit):
    env = GymnaxToGymWrapper(Count(), environment.EnvParams(limit))
    flags = [env.step(0)[2:4] for _ in range(5)]
    assert flags == [(False, False)] * 4 + [(limit == 9, limit == 1)]


class Scaled(GymnaxWrapper):
    def step(self, key, state, action, params=None):
        obs, state, reward, *rest = self._env.step(key, state, action, params)
        return obs, state, 100 * reward, *rest


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda env: GymnaxToGymWrapper(env, seed=-1), "seed must be"),
        (lambda env: GymnaxToGymWrapper(env).reset(options="x"), "options must be a dict or None, got 'x'"),
        (lambda env: GymnaxToVectorGymWrapper(env, 2).reset(seed=[1]), r"must have shape \(2,\)"),
        (lambda env: GymnaxToVectorGymWrapper(env, "2"), "num_envs must be a positive integer, got '2'"),
        (lambda env: GymnaxToVectorGymWrapper(LogWrapper(Scaled(env))), "Scaled must define step_env, not only step"),
        (lambda env: GymnaxToGymWrapper((env, None)), "make returns a pair, env, params = make"),
        (lambda env: GymnaxToGymWrapper(env).step(2), r"must be in Discrete\(2\): got 2"),
    ],
)
def test_invalid_arguments(use, message):
    with pytest.raises(InvalidArgumentError, match=message):
        use(gymnax.make("CartPole-v1")[0])
