"""`GymnasiumEnv` behaves as Gymnasium defines it, and steps the environment of envcore."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
import warnings

import chex
import envcore
import gymnasium
import jax
import numpy as np
import pytest
from envcore.errors import InvalidActionError, InvalidArgumentError, InvalidParamsError
from envcore.spaces import Discrete, Tuple
from envcore.wrappers import Batched
from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv, gymnasium_id, register
from flax import struct
from gymnasium.utils.env_checker import check_env, data_equivalence

IDS = [found.spec.id for found in envcore.registry.values() if not found.spec.family and "MNIST" not in found.spec.id]
EXAMPLES = ["CartPole-v1", "Pendulum-v1", "Breakout-MinAtar", "FrozenLake-misc", "DeepSea-bsuite", "Catch-bsuite"]
ADVICE_ON_SPACES = "(?s).*(space m(in|ax)imum value is|values are equal|we recommend).*"
"""What Gymnasium says of the spaces of its own environments too."""


@pytest.mark.parametrize(
    "env_id", [each if each in EXAMPLES else pytest.param(each, marks=pytest.mark.slow) for each in IDS]
)
def test_passes_gymnasiums_checker_without_warnings(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ADVICE_ON_SPACES, UserWarning)
        check_env(gymnasium.make(gymnasium_id(env_id), render_mode="rgb_array").unwrapped)


@pytest.mark.parametrize("env_id", EXAMPLES)
def test_steps_are_those_of_envcore(env_id):
    env = GymnasiumEnv(env_id)
    obs, info = env.reset(seed=3)
    assert info == {}
    env.action_space.seed(0)
    step, ours = jax.jit(env.env.step_env), env.env
    for _ in range(40):
        before, key = env.state, jax.random.wrap_key_data(_key_of(env), impl="threefry2x32")
        action = env.action_space.sample()
        obs, reward, terminated, truncated, info = env.step(action)
        expected = step(key, before, action, env.params)
        # Another program: XLA may round differently.
        chex.assert_trees_all_close(env.state, expected[1], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(obs, expected[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(obs, ours.observe(env.state, env.params), rtol=1e-6, atol=1e-7)
        assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        assert (terminated, truncated) == (expected[3], expected[4]["truncated"])
        np.testing.assert_allclose(reward, expected[2], rtol=1e-6)
        assert obs in env.observation_space
        assert np.asarray(obs).dtype == env.observation_space.dtype
        if terminated or truncated:
            env.reset()


def _key_of(env):
    """The random key of the next step: it counts up."""
    return env._stepper._steps.key + np.uint32([0, 1])


def test_seeding_is_gymnasiums():
    one, two = GymnasiumEnv("CartPole-v1"), GymnasiumEnv("CartPole-v1")
    first = one.reset(seed=7)[0]
    np.testing.assert_array_equal(first, two.reset(seed=7)[0])
    second = one.reset()[0]
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(second, two.reset()[0])
    assert one.np_random.bit_generator.state == two.np_random.bit_generator.state
    np.testing.assert_array_equal(first, one.reset(seed=7)[0])
    assert not np.array_equal(first, one.reset(seed=8)[0])
    assert not np.array_equal(GymnasiumEnv("CartPole-v1").reset()[0], GymnasiumEnv("CartPole-v1").reset()[0])


@pytest.mark.parametrize("env_id", EXAMPLES)
def test_observations_are_new_and_writable(env_id):
    env = GymnasiumEnv(env_id)
    obs, _ = env.reset(seed=0)
    after, *_ = env.step(env.action_space.sample())
    kept, state = copy.deepcopy(after), env.state
    if isinstance(obs, np.ndarray):
        obs[...], after[...] = 0, 0  # neither is the other, nor the environment's state
        np.testing.assert_array_equal(env.env.observe(env.state, env.params), kept)
    assert data_equivalence(jax.tree.leaves(env.state), jax.tree.leaves(state), exact=True)


@pytest.mark.parametrize("make", [GymnasiumEnv, lambda name: GymnasiumVectorEnv(name, 1, arrays="jax")])
def test_params_are_set_between_steps(make):
    env = make("CartPole-v1")
    env.params = {"max_steps_in_episode": 9}
    env.reset(seed=0)
    action = env.action_space.sample() * 0
    assert not env.step(action)[3]
    env.params = {"max_steps_in_episode": 2}
    assert env.step(action)[3]
    with pytest.raises(InvalidParamsError, match="no param 'g'"):
        env.params = {"g": 3}
    assert env.params.max_steps_in_episode == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: GymnasiumEnv(Batched(cartpole(), 2)), InvalidArgumentError, "use GymnasiumVectorEnv"),
        (lambda: GymnasiumEnv("CartPole-v1", render_mode="human"), InvalidArgumentError, "use gymnasium.make"),
        (lambda: GymnasiumEnv("CartPole-v1").reset(options="x"), InvalidArgumentError, "a dict or None, got 'x'"),
        (lambda: GymnasiumEnv("CartPole-v1").reset(seed=-1), InvalidArgumentError, "seed must be a non-negative"),
    ],
)
def test_invalid_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def cartpole():
    return envcore.make("CartPole-v1")[0]


def test_actions_and_observations_of_several_parts():
    env = GymnasiumEnv(TwoParts())
    check_env(env, skip_render_check=True)
    obs, _ = env.reset(seed=0)
    obs, *_ = env.step((1, np.float32([0.5])))
    assert (obs["sum"], obs["choice"]) == (np.float32(1.5), 1)
    assert type(obs["choice"]) is np.int64  # as its Gymnasium space says
    with pytest.raises(InvalidActionError, match="part 0"):
        env.step((0.5, np.float32([0.5])))


def test_pictures():
    env = GymnasiumEnv("Breakout-MinAtar", render_mode="rgb_array", render_height=120)
    env.reset(seed=0)
    picture = env.render()
    assert (picture.shape[0], picture.shape[2], picture.dtype) == (120, 3, np.uint8)
    np.testing.assert_array_equal(picture, env.env.render(env.state, env.params, height=120))
    assert env.metadata["render_fps"] == env.env.render_fps
    assert GymnasiumEnv("Breakout-MinAtar").render() is None


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("env_id", ["FrozenLake-misc", "Breakout-MinAtar"])
def test_copies_go_on_alike(env_id, duplicate):
    env = GymnasiumEnv(env_id)
    env.reset(seed=0)
    env.step(1)
    other = duplicate(env)
    for action in (1, 2, 0, 1, 0):
        assert data_equivalence(env.step(action), other.step(action), exact=True)
    assert data_equivalence(env.reset(), other.reset(), exact=True)


def test_a_copy_is_made_again_from_its_spec():
    env = gymnasium.make("envcore/DeepSea-bsuite", size=4)
    assert gymnasium.make(env.spec).observation_space.shape == (4, 4)
    assert gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()) == env.spec


def test_environments_of_this_process(monkeypatch):
    monkeypatch.setattr(envcore.registry, "__dict__", vars(type(envcore.registry)()))
    envcore.register("TwoParts-v3", TwoParts)
    register()
    monkeypatch.setitem(gymnasium.registry, "envcore/TwoParts-v3", gymnasium.registry["envcore/TwoParts-v3"])
    assert isinstance(gymnasium.make("envcore/TwoParts-v3").action_space, gymnasium.spaces.Tuple)


def test_registering_imports_neither_jax_nor_environments():
    program = (
        "import sys, envcore_adapters.gymnasium, gymnasium; "
        "assert 'envcore/CartPole-v1' in gymnasium.registry; "
        "assert not {'jax', 'envcore_classic_control.cartpole'} & set(sys.modules); "
        "gymnasium.make('envcore/CartPole-v1').reset(seed=0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})


@struct.dataclass
class Sum(envcore.EnvState):
    sum: jax.Array
    choice: jax.Array


@dataclasses.dataclass(frozen=True)
class TwoParts(envcore.Environment):
    """Observations and actions of several parts."""

    @property
    def default_params(self):
        return envcore.EnvParams(max_steps_in_episode=9)

    def init_state(self, draws, params):
        return Sum(sum=np.float32(0), choice=np.int32(0))

    def transition(self, state, action, draws, params):
        after = state.replace(sum=action[0].astype(np.float32) + action[1][0], choice=action[0])
        return after, state.sum, state.sum > 100

    def observe(self, state, params):
        return {"sum": state.sum, "time": state.time, "choice": state.choice}

    def action_space(self, params):
        return Tuple([Discrete(2), envcore.spaces.Box(-1, 1, (1,))])

    def observation_space(self, params):
        parts = {"sum": envcore.spaces.Box(-9, 9, ()), "time": envcore.spaces.NATURAL_NUMBERS, "choice": Discrete(2)}
        return envcore.spaces.Dict(parts)
