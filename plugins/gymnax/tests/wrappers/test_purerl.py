"""The wrappers of training loops, and the actions that all wrappers check."""

import functools
import pickle
import types

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore_gymnax.settings import six_values
from envcore_gymnax.wrappers import (
    GymnaxToBraxWrapper,
    GymnaxToDmEnvWrapper,
    GymnaxToGymWrapper,
    GymnaxToVectorGymWrapper,
)
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper, LogWrapper, StickyActionWrapper, check_values

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


def test_the_wrappers_of_training_loops():
    env, params = gymnax.make("Catch-bsuite")
    env = LogWrapper(FlattenObservationWrapper(env))
    assert env.observation_space(params).shape == (50,)
    keys = jax.random.split(jax.random.key(0), 3)
    obs, state = jax.vmap(env.reset, (0, None))(keys, params)
    assert obs.shape == (3, 50)
    total = 0
    for _ in range(9):
        obs, state, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(keys, state, jnp.ones(3, int), params)
        total += reward
    assert done.all()
    assert obs.shape == (3, 50)
    np.testing.assert_array_equal(info["returned_episode_returns"], total)
    assert info["returned_episode_lengths"].tolist() == [9, 9, 9]
    assert info["returned_episode"].all()
    assert info["returned_episode_valid"].all()
    assert info["timestep"].tolist() == [9, 9, 9]


def wrapped(wrapper, env_id):
    """A function that steps a fresh environment, and what it returns: observation and state."""
    env, params = gymnax.make(env_id)
    key = jax.random.key(0)
    if wrapper is GymnaxToGymWrapper:
        return GymnaxToGymWrapper(env, params).step
    if wrapper is GymnaxToVectorGymWrapper:
        envs = GymnaxToVectorGymWrapper(env, 2, params)
        return lambda action: envs.step(np.array([action, action]))
    if wrapper is GymnaxToBraxWrapper:
        env = GymnaxToBraxWrapper(env)
        return functools.partial(env.step, env.reset(key, params))
    if wrapper is None:
        _, state = env.reset(key, params)
    else:
        env = wrapper(env)
        state = env.reset(key, params)
        state = state[1] if isinstance(state, tuple) else state
    return lambda action: env.step(key, state, action, params)


WRAPPERS = [
    None,
    LogWrapper,
    FlattenObservationWrapper,
    GymnaxToDmEnvWrapper,
    GymnaxToGymWrapper,
    GymnaxToVectorGymWrapper,
    GymnaxToBraxWrapper,
]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_invalid_actions(wrapper):
    step = wrapped(wrapper, "Pendulum-v1")
    for value in (np.nan, np.inf, 1e300):
        with pytest.raises(InvalidActionError, match=r"must be in Box.*: got (nan|inf|1e\+300), which is not finite"):
            step(np.array([value]))
    step(np.array([9.0], np.float32))  # which the rules clip
    step = wrapped(wrapper, "CartPole-v1")
    with pytest.raises(InvalidActionError, match="got 2"):
        step(np.int32(2))
    step(np.int32(1))


@pytest.mark.parametrize("wrapper", [*WRAPPERS[:4], GymnaxToVectorGymWrapper])
def test_an_invalid_action_of_one_number_in_any_shape(wrapper):
    step = wrapped(wrapper, "Pendulum-v1")
    for value in (np.float32(np.nan), np.array(np.nan)) + ((float("nan"),) if wrapper is not None else ()):
        with pytest.raises(InvalidActionError, match="which is not finite"):
            step(value)
    step = wrapped(wrapper, "CartPole-v1")
    for value in (5, np.array([5])):
        with pytest.raises(InvalidActionError, match="got 5"):
            step(value)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_is_not_a_number_is_not_an_action(wrapper):
    step = wrapped(wrapper, "CartPole-v1")
    for value in ("1", {1}, 10**30):
        with pytest.raises(InvalidActionError, match="expected an"):
            step(value)


def test_an_environment_needs_no_action_space():
    class Mine(gymnax.environments.environment.Environment):
        @property
        def default_params(self):
            return gymnax.EnvParams()

        def reset_env(self, key, params):
            return jnp.zeros(()), gymnax.EnvState(time=0)

        def step_env(self, key, state, action, params):
            return jnp.zeros(()), state, action * 1.0, jnp.array(False), {}

        def get_obs(self, state, params=None, key=None):
            return jnp.zeros(())

        def is_terminal(self, state, params):
            return jnp.array(False)

    env = LogWrapper(Mine())
    _, state = env.reset(jax.random.key(0), env.default_params)
    assert env.step(jax.random.key(0), state, 3, env.default_params)[2] == 3


def test_lists_are_not_actions():
    env, params = gymnax.make("CartPole-v1")
    _, state = env.reset(jax.random.key(0), params)
    with pytest.raises(InvalidActionError, match="expected an array, got list"):
        env.step(jax.random.key(0), state, [1], params)


def test_they_pass_six_values_on():
    env, params = gymnax.make("Catch-bsuite")
    env = LogWrapper(FlattenObservationWrapper(env))
    _, state = env.reset(jax.random.key(0), params)
    with six_values():
        result = env.step(jax.random.key(0), state, 0, params)
    assert len(result) == 6
    assert result[-1]["final_observation"].shape == (50,)


def test_a_flat_observation_needs_a_box():
    with pytest.raises(TypeError, match=r"needs a Box, got Discrete\(16\)"):
        FlattenObservationWrapper(gymnax.make("FrozenLake-misc")[0]).observation_space()


def test_wrappers_can_be_pickled():
    env = LogWrapper(gymnax.make("Catch-bsuite")[0])
    assert pickle.loads(pickle.dumps(env)).name == "Catch-bsuite"
    assert functools.partial(env.reset)(jax.random.key(0))[0].shape == (10, 5)


@pytest.mark.parametrize(
    ("space", "wrong"),
    [
        (types.SimpleNamespace(n=3, shape=(), dtype=jnp.int32), np.int32(3)),
        (types.SimpleNamespace(low=-1.0, high=1.0, shape=(2,), dtype=jnp.float32), np.full(2, np.nan, np.float32)),
    ],
)
def test_actions_of_environments_with_the_real_gymnaxs_spaces_are_checked(space, wrong):
    env = types.SimpleNamespace(name="Theirs", action_space=lambda params: space)
    check_values(env, np.zeros(space.shape, space.dtype), None)
    with pytest.raises(InvalidActionError, match="an action of Theirs must be in"):
        check_values(env, wrong, None)
    check_values(types.SimpleNamespace(action_space=lambda params: object()), wrong, None)  # an unknown kind


@pytest.mark.slow
def test_sticky_actions():
    env, params = gymnax.make("Catch-bsuite")
    key = jax.random.key(0)
    plain, always = StickyActionWrapper(env), StickyActionWrapper(env, 1.0)
    _, state = plain.reset(key, params)
    _, after, *_ = plain.step(key, state, 2, params)
    expected = env.step(key, state.env_state, 2, params)[1]
    assert jax.tree.all(jax.tree.map(np.array_equal, after.env_state, expected))
    assert (state.last_action, after.last_action) == (0, 2)
    _, repeated, *_ = always.step(key, after, 0, params)
    assert (repeated.last_action, repeated.env_state.paddle_x) == (2, 4)
    counts = [StickyActionWrapper(env, 0.5).step(jax.random.key(i), state, 2, params)[1].last_action for i in range(40)]
    assert 8 < sum(int(count) == 0 for count in counts) < 32


@pytest.mark.parametrize(
    ("env_id", "probability", "message"),
    [
        ("Pendulum-v1", 0.1, "requires a Discrete action space"),
        *(("Catch-bsuite", value, r"must be in \[0, 1\], got") for value in (-0.1, 1.5, np.nan, "often", None)),
    ],
)
def test_sticky_actions_that_cannot_be(env_id, probability, message):
    with pytest.raises(InvalidArgumentError, match=message):
        StickyActionWrapper(gymnax.make(env_id)[0], probability)
