"""gymnax's wrappers, rollouts and pictures."""

import contextlib
import functools
import pickle
import types
from typing import Any, cast

import envcore
import envcore_gymnax as gymnax
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from brax.envs.wrappers.training import EpisodeWrapper, VmapWrapper
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore_gymnax.experimental import EnvRollout, RolloutWrapper
from envcore_gymnax.settings import six_values
from envcore_gymnax.visualize import Visualizer
from envcore_gymnax.wrappers import (
    GymnaxToBraxWrapper,
    GymnaxToDmEnvWrapper,
    GymnaxToGymWrapper,
    GymnaxToVectorGymWrapper,
)
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper, LogWrapper, check_values
from gymnasium.error import ClosedEnvironmentError
from gymnasium.utils.env_checker import check_env

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


@pytest.mark.parametrize("values", [5, 6])
def test_a_batch_for_gymnasium(values):
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=2)
    with six_values() if values == 6 else pytest.MonkeyPatch().context():
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


def test_a_closed_batch():
    envs = GymnaxToVectorGymWrapper(*gymnax.make("CartPole-v1")[:1], 2)
    envs.close()
    for use in (envs.reset, lambda: envs.step([0, 0])):
        with pytest.raises(ClosedEnvironmentError, match="CartPole-v1 is closed"):
            use()


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
        (lambda env: GymnaxToVectorGymWrapper(env, 2).step([[0], 1, 2]), "must be in MultiDiscrete"),
        (lambda env: RolloutWrapper(env=env, num_env_steps=0), "num_env_steps must be a positive integer, got 0"),
        (lambda env: RolloutWrapper(cast("Any", "CartPole-v1")), "model_forward must be a function, got 'CartPole-v1'"),
        (
            lambda env: RolloutWrapper(env=envcore.make("Breakout-MinAtar")[0]),
            "Breakout has no time limit: pass num_env_steps",
        ),
        (lambda env: RolloutWrapper(env=env, env_params={"gravityy": 1}), "CartPole-v1 has no param 'gravityy'"),
    ],
)
def test_invalid_arguments(use, message):
    with pytest.raises(InvalidArgumentError, match=message):
        use(gymnax.make("CartPole-v1")[0])


@pytest.mark.parametrize("values", [5, 6])
def test_wrapped_environments_for_gymnasium(values):
    env, params = gymnax.make("Catch-bsuite")
    with six_values() if values == 6 else pytest.MonkeyPatch().context():
        env = GymnaxToGymWrapper(LogWrapper(FlattenObservationWrapper(env)), params)
        assert env.reset()[0].shape == (50,)
        ends = []
        for _ in range(9):
            obs, _, terminated, truncated, info = env.step(1)
            ends.append((terminated, truncated))
    assert obs.shape == (50,)
    assert ends == [(False, False)] * 8 + [(True, False)]
    assert info["returned_episode_lengths"] == 9


def choose(policy_params, obs, key):
    return (obs @ policy_params > 0).astype(jnp.int32)


def test_rollouts():
    manager = RolloutWrapper(choose, env_name="CartPole-v1", env_params={"max_steps_in_episode": 20})
    assert manager.input_shape == (4,)
    assert manager.num_env_steps == 20
    keys, population = jax.random.split(jax.random.key(0), 3), jnp.eye(4)[:2]
    obs, action, reward, next_obs, done, cum_return = manager.population_rollout(keys, population)
    assert obs.shape == next_obs.shape == (2, 3, 20, 4)
    assert action.shape == reward.shape == done.shape == (2, 3, 20)
    assert cum_return.shape == (2, 3, 1)
    length = int(np.flatnonzero(done[0, 0])[0]) + 1
    assert cum_return[0, 0, 0] == reward[0, 0, :length].sum()
    one = manager.single_rollout(keys[0], population[0])
    np.testing.assert_array_equal(one[-1], cum_return[0, 0])


def test_rollouts_of_random_actions_and_made_environments():
    env, _ = gymnax.make("Catch-bsuite")
    *_, cum_return = RolloutWrapper(env=env, num_env_steps=9).batch_rollout(
        jax.random.split(jax.random.key(0), 5), None
    )
    assert set(cum_return.ravel().tolist()) <= {-1.0, 1.0}
    with pytest.raises(InvalidArgumentError, match="neither env_name nor env_kwargs"):
        RolloutWrapper(env=env, env_name="Catch-bsuite")


def test_an_animation(tmp_path):
    env, params = gymnax.make("Breakout-MinAtar")
    key, states, rewards = jax.random.key(0), [], [0.0]
    _, state = env.reset(key, params)
    for _ in range(5):
        states.append(state)
        _, state, reward, _, _ = env.step(key, state, 1, params)
        rewards.append(rewards[-1] + float(reward))
    Visualizer(env, params, states, rewards[1:]).animate(str(tmp_path / "a.gif"))
    assert (tmp_path / "a.gif").stat().st_size > 1000


def test_wrappers_can_be_pickled():
    env = LogWrapper(gymnax.make("Catch-bsuite")[0])
    assert pickle.loads(pickle.dumps(env)).name == "Catch-bsuite"
    assert functools.partial(env.reset)(jax.random.key(0))[0].shape == (10, 5)


def test_one_return_for_each_episode():
    roller = EnvRollout(lambda params, obs, key: params["params"] * jnp.ones(1), num_env_steps=5, num_episodes=3)
    returns = roller.collect(jax.random.key(0), jnp.float32(0.5))
    *_, expected = roller.batch_rollout(jax.random.split(jax.random.key(0), 3), jnp.float32(0.5))
    assert expected.shape == (3, 1)
    np.testing.assert_array_equal(returns, expected[:, 0])
    with pytest.raises(InvalidArgumentError, match="num_episodes must be a positive"):
        EnvRollout(lambda *_: 0, num_episodes=0)


@pytest.mark.parametrize("is_six", [False, True])
def test_time_steps(is_six):
    env, params = gymnax.make("CartPole-v1")
    params = params.replace(max_steps_in_episode=2)
    steps = GymnaxToDmEnvWrapper(env)
    key = jax.random.key(0)
    first = steps.reset(key, params)
    assert (first.reward, first.discount, first.reward.dtype) == (0, 1, jnp.float32)
    np.testing.assert_array_equal(first.observation, env.reset(key, params)[0])
    with contextlib.ExitStack() as stack:
        if is_six:
            stack.enter_context(six_values())
        second = steps.step(key, first, 0, params)
        last = steps.step(key, second, 1, params)
        fallen = steps.step(key, first.replace(state=first.state.replace(theta=jnp.float32(0.3))), 0, params)
    assert (second.reward, second.discount, last.discount) == (1, 1, float(is_six))
    assert (last.state.time, fallen.discount) == (0, 0)


def test_for_brax():
    env, params = gymnax.make("Catch-bsuite")
    brax_env = GymnaxToBraxWrapper(env)
    assert (brax_env.action_size, brax_env.observation_size, brax_env.backend) == (3, (10, 5), "jax")
    envs = VmapWrapper(EpisodeWrapper(brax_env, episode_length=100, action_repeat=1))
    state, step = jax.jit(envs.reset)(jax.random.split(jax.random.key(0), 2)), jax.jit(envs.step)
    starts = set()
    for count in range(1, 28):
        with jax.numpy_dtype_promotion("standard"):  # brax promotes
            state = step(state, jnp.ones(2, jnp.int32))
        assert state.done.tolist() == [count % 9 == 0] * 2
        assert (np.abs(state.reward) == (count % 9 == 0)).all()
        if count % 9 == 0:
            starts |= {np.argmax(obs[0]) for obs in np.array(state.obs)}
    assert len(starts) > 1
    again = brax_env.step(brax_env.reset(jax.random.key(0), params.replace(max_steps_in_episode=1)), 1)
    assert again.done == 1


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
