"""`GymnasiumVectorEnv`: arrays, errors, and Gymnasium's own vector wrappers around it."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import copy
import pickle

import envcore
import gymnasium
import jax
import numpy as np
import pytest
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.wrappers import Batched, LogWrapper, NormalizeObservation, Sharded
from envcore_adapters.gymnasium import GymnasiumVectorEnv
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

MODES = list(AutoresetMode)
EXAMPLES = ["CartPole-v1", "Pendulum-v1", "Breakout-MinAtar", "FrozenLake-misc", "DeepSea-bsuite"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "env_id", [EXAMPLES[0], *(pytest.param(each, marks=pytest.mark.slow) for each in EXAMPLES[1:])]
)
def test_arrays_are_new_writable_and_of_the_spaces(env_id, mode):
    envs = gymnasium.make_vec(f"envcore/{env_id}", num_envs=3, autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is mode
    obs, _ = envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = envs.action_space.sample()
    step = envs.step(actions)
    for value, dtype in zip(step[1:4], (np.float32, np.bool_, np.bool_), strict=True):
        assert (value.shape, value.dtype, value.flags.writeable) == ((3,), dtype, True)
    for each in (obs, step[0]):
        assert each in envs.observation_space
        assert (each.dtype, each.flags.writeable) == (envs.single_observation_space.dtype, True)
    kept, again = copy.deepcopy(step), GymnasiumVectorEnv(env_id, 3, autoreset_mode=mode)
    for each in (obs, *step[:4]):
        each[...] = 0
    again.reset(seed=0)
    jax.tree.map(np.testing.assert_array_equal, kept[:4], again.step(actions)[:4])
    if not (kept[2] | kept[3]).any():
        jax.tree.map(np.testing.assert_array_equal, envs.step(actions)[:4], again.step(actions)[:4])


def test_wrapped_environments():
    env, _ = envcore.make("CartPole-v1")
    envs = GymnasiumVectorEnv(LogWrapper(NormalizeObservation(Batched(env, 4))))
    envs.reset(seed=0)
    ended = False
    while not ended:
        *_, terminated, _, infos = envs.step(np.zeros(4, int))
        ended = terminated.any()
    assert infos["returned_episode"].tolist() == terminated.tolist()
    assert infos["_returned_episode_returns"].all()
    assert envs.state.observation_statistics.count > 20
    envs.reset()
    assert envs.state.observation_statistics.count > 20


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda env: GymnasiumVectorEnv(env), "num_envs must be a positive integer, got None"),
        (lambda env: GymnasiumVectorEnv(Batched(env, 3), 4), "batch of 3 environments, not 4"),
        (lambda env: GymnasiumVectorEnv(LogWrapper(Sharded(env, 2))), "use Batched here"),
        (lambda env: GymnasiumVectorEnv(env, 2, autoreset_mode="Never"), "'NextStep', 'SameStep', 'Disabled'"),
        (lambda env: GymnasiumVectorEnv(env, 2).reset(options="x"), "options must be a dict or None, got 'x'"),
        (lambda env: GymnasiumVectorEnv(env, 2).reset(seed=[1, 2, 3]), r"must have shape \(2,\), .* got \(3,\)"),
    ],
)
def test_invalid_arguments(make, message):
    with pytest.raises(InvalidArgumentError, match=message):
        make(envcore.make("CartPole-v1")[0])


def test_invalid_actions_change_nothing():
    envs = GymnasiumVectorEnv("CartPole-v1", 2)
    obs, _ = envs.reset(seed=0)
    with pytest.raises(InvalidActionError, match=r"must be in MultiDiscrete\(\[2, 2\]\): got 2\."):
        envs.step(np.array([0, 2]))
    np.testing.assert_array_equal(envs.env.observe(envs.state, envs.params), obs)


def test_a_step_needs_a_reset_and_an_open_batch():
    envs = GymnasiumVectorEnv("CartPole-v1", 2)
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        envs.step([0, 0])
    envs.reset(seed=0)
    envs.close()
    envs.close()
    with pytest.raises(ClosedEnvironmentError, match="the batch of CartPole is closed"):
        envs.step([0, 0])


WRAPPERS = [
    wrappers.RecordEpisodeStatistics,
    wrappers.NormalizeObservation,
    lambda envs: wrappers.TransformReward(envs, lambda reward: 2 * reward),
]


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: getattr(wrapper, "__name__", "function"))
def test_gymnasiums_wrappers(wrapper):
    envs = wrapper(GymnasiumVectorEnv("Pendulum-v1", 3))
    obs, _ = envs.reset(seed=0)
    for _ in range(5):
        obs, reward, *_ = envs.step(envs.action_space.sample())
    assert obs.shape == (3, 3)
    assert reward.shape == (3,)


def test_pictures():
    envs = gymnasium.make_vec("envcore/Breakout-MinAtar", num_envs=2, render_mode="rgb_array", render_height=50)
    envs.reset(seed=0)
    pictures = envs.call("render")
    assert len(pictures) == 2
    assert all((picture.shape, picture.dtype) == ((50, 50, 3), np.uint8) for picture in pictures)


def test_spaces_of_make_vec():
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=4)
    assert isinstance(envs, GymnasiumVectorEnv)
    assert envs.single_action_space == gymnasium.spaces.Discrete(2)
    assert envs.action_space == gymnasium.spaces.MultiDiscrete([2] * 4)
    assert envs.observation_space.shape == (4, 4)
    assert envs.spec.id == "envcore/CartPole-v1"
    sync = gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, vectorization_mode="sync")
    assert sync.reset(seed=0)[0].shape == (2, 4)


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_copies_go_on_alike(duplicate, arrays):
    envs = GymnasiumVectorEnv("CartPole-v1", 3, arrays=arrays, autoreset_mode="SameStep")
    envs.reset(seed=0)
    other = duplicate(envs)
    for _ in range(15):
        jax.tree.map(np.testing.assert_array_equal, envs.step([0, 1, 0])[:4], other.step([0, 1, 0])[:4])
