"""gymnax's interface, on every environment of gymnax's and on users' own."""

import copy
import pickle
from unittest import mock

import envcore
import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidParamsError
from envcore_gymnax import settings
from envcore_gymnax.environments import environment, spaces
from envcore_gymnax.settings import IDS
from flax import struct

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false, reportArgumentType=false
# pyright: reportPrivateImportUsage=false

PLAYABLE = [env_id for env_id in IDS if "MNIST" not in env_id]
QUICK = ("CartPole-v1", "Breakout-MinAtar", "Catch-bsuite")


@pytest.mark.parametrize(
    "env_id", [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in PLAYABLE]
)
def test_five_values_as_gymnax_returns_them(env_id):
    env, params = gymnax.make(env_id)
    key = jax.random.key(0)
    obs, state = env.reset(key, params)
    assert obs.shape == env.obs_shape == env.observation_space(params).shape
    assert obs.dtype == (jnp.int32 if env_id.startswith("FrozenLake") else jnp.float32)
    action = env.action_space(params).sample(key)
    result = env.step(key, state, action, params)
    assert len(result) == 5
    assert jax.tree.map(jnp.shape, result[2:4]) == ((), ())
    assert result[4]["discount"].dtype == jnp.float32
    assert not {"final_obs", "terminated", "truncated"} & set(result[4])
    np.testing.assert_allclose(env.observe(key, state, None, params), obs, atol=1e-5)
    without = env.step(key, state, action)
    assert jax.tree.all(jax.tree.map(np.array_equal, result, without))
    assert isinstance(env.num_actions, int)
    assert env.name == env_id


@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", "Catch-bsuite", pytest.param("Seaquest-MinAtar", marks=pytest.mark.slow)]
)
def test_rules_are_those_of_envcore(env_id):
    (env, params), (ours, _) = gymnax.make(env_id), envcore.make(env_id)
    key = jax.random.key(3)
    obs, state = env.reset(key, params)
    for seed in range(20):
        key = jax.random.key(seed)
        action = env.action_space(params).sample(key)
        expected = ours.step(key, state.env_state, action, params)
        obs, state, reward, done, _ = env.step(key, state, action, params)
        np.testing.assert_array_equal(obs, expected[0].astype(np.float32))
        assert (reward, done) == (expected[2], expected[3])
        assert jax.tree.all(jax.tree.map(np.array_equal, state.env_state, expected[1]))


def test_ends():
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=3)
    _, state = env.reset(jax.random.key(0), params)
    assert env.discount(state, params) == 1
    for count in range(1, 4):
        _, state, _, done, info = env.step_env(jax.random.key(0), state, count % 2, params)
        assert done == env.is_terminal(state, params) == (count == 3)
    assert info["discount"] == env.discount(state, params) == 0
    fallen = state.replace(theta=jnp.float32(0.3), time=jnp.int32(0))
    _, after, _, done, info = env.step_env(jax.random.key(0), fallen, 0, params)
    assert (done, env.is_terminal(after, params), info["discount"]) == (True, True, 0)


def test_infinity_is_no_time_limit():
    env, params = gymnax.make("Pendulum-v1")
    _, state = env.reset(jax.random.key(0), params)
    late = state.replace(time=jnp.int32(10_000))
    for limit in (jnp.inf, jnp.float32(jnp.inf), 20_000.0):
        endless = params.replace(max_steps_in_episode=limit)
        for step in (env.step_env, jax.jit(env.step_env)):
            assert not step(jax.random.key(0), late, jnp.zeros(1), endless)[3]
        assert not env.is_terminal(late, endless)
    assert env.is_terminal(late, params)
    for limit in (0.0, np.float32(0.5), float("nan")):
        with pytest.raises(InvalidParamsError, match="max_steps_in_episode must be"):
            env.reset(jax.random.key(0), params.replace(max_steps_in_episode=limit))


def test_params_of_another_kind_are_refused():
    with pytest.raises(InvalidParamsError, match="must be PendulumParams, got dict"):
        gymnax.make("Pendulum-v1")[0].reset(jax.random.key(0), {"max_steps": 3})


@pytest.mark.parametrize("action", [0.5, np.float32(0.5), jnp.float32(0.5), jnp.array([0.5])])
def test_an_action_of_one_number(action):
    env, params = gymnax.make("Pendulum-v1")
    _, state = env.reset(jax.random.key(0), params)
    expected = env.step(jax.random.key(1), state, jnp.array([0.5]), params)[0]
    np.testing.assert_array_equal(env.step(jax.random.key(1), state, action, params)[0], expected)


def test_six_values():
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=1)
    _, state = env.reset(jax.random.key(0), params)
    with mock.patch.object(settings, "_six_values", True):
        obs, _, reward, terminated, truncated, info = env.step(jax.random.key(0), state, 0, params)
    assert (reward, terminated, truncated) == (1, False, True)
    assert not np.array_equal(obs, info["final_observation"])
    assert (info["terminated"], info["truncated"]) == (False, True)
    assert len(env.step(jax.random.key(0), state, 0, params)) == 5


def test_equal_environments_share_a_compilation():
    one, two = gymnax.make("DeepSea-bsuite", size=5)[0], gymnax.make("DeepSea-bsuite", size=5)[0]
    assert one == two == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(two)
    assert one != gymnax.make("DeepSea-bsuite", size=6)[0]


def test_transition_gradients():
    env, params = gymnax.make("Pendulum-v1")
    env = env.with_transition_gradients()
    _, state = env.reset(jax.random.key(0), params)
    gradient = jax.grad(lambda action: env.step(jax.random.key(0), state, action, params)[2])(0.5)
    assert gradient != 0
    with pytest.raises(ValueError, match="Breakout-MinAtar does not support"):
        gymnax.make("Breakout-MinAtar")[0].with_transition_gradients()


@struct.dataclass
class CountState(environment.EnvState):
    count: jax.Array


@struct.dataclass
class CountParams(environment.EnvParams):
    max_steps_in_episode: int = 4


class Count(environment.Environment[CountState, CountParams]):
    """A user's environment, written for gymnax."""

    @property
    def default_params(self):
        return CountParams()

    def step_env(self, key, state, action, params):
        state = CountState(state.time + 1, state.count + jnp.asarray(action, jnp.float32))
        done = self.is_terminal(state, params)
        return self.get_obs(state), state, state.count, done, {"discount": self.discount(state, params)}

    def reset_env(self, key, params):
        state = CountState(jnp.int32(0), jnp.float32(0))
        return self.get_obs(state), state

    def get_obs(self, state, params=None, key=None):
        return jnp.stack([state.count, state.time.astype(jnp.float32)])

    def is_terminal(self, state, params):
        return (state.count >= 3) | (state.time >= params.max_steps_in_episode)

    @property
    def num_actions(self):
        return 2

    def action_space(self, params=None):
        return spaces.Discrete(2)

    def observation_space(self, params=None):
        return spaces.Box(0, 9, (2,))


def test_users_environments():
    env, params = Count(), CountParams()
    _, state = jax.vmap(env.reset, (0, None))(jax.random.split(jax.random.key(0), 2), params)
    dones = []
    for _ in range(4):
        keys = jax.random.split(jax.random.key(1), 2)
        obs, state, _, done, info = jax.vmap(env.step, (0, 0, 0, None))(keys, state, jnp.array([1, 0]), params)
        dones.append(done.tolist())
    assert dones == [[False, False], [False, False], [True, False], [False, True]]
    assert obs.tolist() == [[1, 1], [0, 0]]
    assert info["discount"].tolist() == [1, 0]
