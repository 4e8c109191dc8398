"""`GymnasiumVectorEnv`: seeding, arrays, and Gymnasium's own vector wrappers around it."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import copy
import os
import pickle
import subprocess
import sys

import envcore
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import devices
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.wrappers import Batched, FrameStack, LogWrapper, NormalizeObservation, Sharded, StickyAction
from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

MODES = list(AutoresetMode)
EXAMPLES = ["CartPole-v1", "Pendulum-v1", "Breakout-MinAtar", "FrozenLake-misc", "DeepSea-bsuite"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", EXAMPLES)
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


def test_large_arrays_are_handed_over_without_a_copy():
    envs = GymnasiumVectorEnv("Breakout-MinAtar", 512)
    obs, _ = envs.reset(seed=0)
    assert not obs.flags.owndata
    before, state = obs.copy(), envs.state
    after, *_ = envs.step(np.zeros(512, int))
    np.testing.assert_array_equal(obs, before)
    after[...] = False
    np.testing.assert_array_equal(envs.env.observe(state, envs.params), before)
    assert np.asarray(envs.env.observe(envs.state, envs.params)).any()


def test_arrays_of_jax():
    envs = GymnasiumVectorEnv("CartPole-v1", 3, arrays="jax")
    obs, _ = envs.reset(seed=0)
    step = envs.step(jnp.array([0, 1, 0]))
    assert all(isinstance(each, jax.Array) for each in (obs, *step[:4]))


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


def test_seeding():
    one, two = (GymnasiumVectorEnv("CartPole-v1", 3) for _ in range(2))
    first = one.reset(seed=2)[0]
    np.testing.assert_array_equal(first, two.reset(seed=2)[0])
    np.testing.assert_array_equal(one.reset()[0], two.reset()[0])
    assert len(np.unique(first[:, 0])) == 3
    assert one.np_random_seed == 2


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_seed_for_each(kind):
    seeds = [7, 2**40, 7]
    envs, again = (GymnasiumVectorEnv("CartPole-v1", 3) for _ in range(2))
    first = envs.reset(seed=kind(seeds))[0]
    alone = [GymnasiumEnv("CartPole-v1").reset(seed=seed)[0] for seed in seeds]
    np.testing.assert_allclose(first, alone, rtol=1e-6)  # another program: XLA may round differently
    np.testing.assert_array_equal(first[0], first[2])
    # All that follows is the list's, whatever was before.
    again.reset(seed=3)
    again.step([0, 0, 0])
    np.testing.assert_array_equal(again.reset(seed=seeds)[0], first)
    np.testing.assert_array_equal(again.step([0, 1, 0])[0], envs.step([0, 1, 0])[0])
    second = again.reset()[0]
    np.testing.assert_array_equal(second, envs.reset()[0])
    assert len(np.unique(second[:, 0])) == 3


def test_a_seed_for_some():
    def started():
        envs = GymnasiumVectorEnv(LogWrapper(Batched(envcore.make("CartPole-v1")[0], 3)))
        envs.reset(seed=0)
        for _ in range(15):  # all fall
            envs.step([0, 0, 0])
        return envs

    envs, again = started(), started()
    obs, _ = envs.reset(seed=[7, None, 7])
    alone = GymnasiumEnv("CartPole-v1").reset(seed=7)[0]
    np.testing.assert_allclose(obs[[0, 2]], [alone, alone], rtol=1e-6)
    assert not np.allclose(obs[1], alone)
    # What survives an auto-reset does so without a seed only.
    assert (np.asarray(envs.state.returned_episode_lengths) > 0).tolist() == [False, True, False]
    assert (np.asarray(envs.state.time) == 0).all()
    np.testing.assert_array_equal(again.reset(seed=[7, None, 7])[0], obs)
    first, unmasked = GymnasiumVectorEnv("CartPole-v1", 2).reset(seed=[None, 7])[0], obs
    np.testing.assert_allclose(first[1], alone, rtol=1e-6)
    obs, _ = envs.reset(seed=[None, 8, 9], options={"reset_mask": np.array([False, False, True])})
    np.testing.assert_allclose(obs[2], GymnasiumEnv("CartPole-v1").reset(seed=9)[0], rtol=1e-6)
    np.testing.assert_array_equal(obs[:2], unmasked[:2])


def test_a_seed_for_each_under_wrappers_with_shared_statistics():
    env = FrameStack(NormalizeObservation(StickyAction(Batched(envcore.make("CartPole-v1")[0], 3))), 2)
    envs = GymnasiumVectorEnv(env)
    obs, _ = envs.reset(seed=[1, 2, 1])
    np.testing.assert_array_equal(obs[0], obs[2])
    assert not np.array_equal(obs[0], obs[1])
    assert envs.state.observation_statistics.count < 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda env: GymnasiumVectorEnv(env), "num_envs must be a positive integer, got None"),
        (lambda env: GymnasiumVectorEnv(env, 0), "num_envs must be a positive integer, got 0"),
        (lambda env: GymnasiumVectorEnv(Batched(env, 3), 4), "batch of 3 environments, not 4"),
        (lambda env: GymnasiumVectorEnv(Batched(Batched(env, 3), 4)), "it must have one axis"),
        pytest.param(
            lambda env: GymnasiumVectorEnv(LogWrapper(Sharded(env, 2))),
            "use Batched here",
            marks=pytest.mark.skipif(not devices.IS_SUPPORTED, reason="this JAX is too old"),
        ),
        (lambda env: GymnasiumVectorEnv(env, 2, autoreset_mode="Never"), "'NextStep', 'SameStep', 'Disabled'"),
        (lambda env: GymnasiumVectorEnv(env, 2, arrays="cupy"), "'numpy', 'jax' or 'torch', got 'cupy'"),
        (lambda env: GymnasiumVectorEnv(env, 2, render_mode="x"), "None or 'rgb_array', got 'x'"),
        (lambda env: GymnasiumVectorEnv(env, 2).reset(options="x"), "options must be a dict or None, got 'x'"),
        (lambda env: GymnasiumVectorEnv(env, 2).reset(seed=[1, 2, 3]), r"must have shape \(2,\), .* got \(3,\)"),
        (lambda env: GymnasiumVectorEnv(env, 2).reset(seed=-1), "seed must be a non-negative integer or"),
    ],
)
def test_invalid_arguments(make, message):
    with pytest.raises(InvalidArgumentError, match=message):
        make(envcore.make("CartPole-v1")[0])


@pytest.mark.parametrize("mask", [[[True], False], [True, False, True], np.zeros(2, bool), np.ones(2, int)])
def test_invalid_masks(mask):
    envs = GymnasiumVectorEnv("CartPole-v1", 2)
    envs.reset(seed=0)
    with pytest.raises(InvalidArgumentError, match=r"bool \(2,\), with at least one True"):
        envs.reset(options={"reset_mask": mask})


def test_invalid_actions_change_nothing():
    envs = GymnasiumVectorEnv("CartPole-v1", 2)
    obs, _ = envs.reset(seed=0)
    for actions, message in (([0, 2], ""), (np.array([0, 2]), r": got 2\.")):
        with pytest.raises(InvalidActionError, match=rf"must be in MultiDiscrete\(\[2, 2\]\){message}"):
            envs.step(actions)
    np.testing.assert_array_equal(envs.env.observe(envs.state, envs.params), obs)


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.array([[0.0], [np.nan]], np.float32), "got nan"),
        (np.array([[0.0], [-np.inf]]), "got -inf"),
        (np.array([[1e300], [0.0]]), r"got 1e\+300"),  # infinite as float32
        ([[0.0], [np.inf]], "got inf"),
        (np.zeros(2), r"expected shape \(2, 1\), got \(2,\)"),
        (np.array([["x"], ["y"]]), "expected a real number"),
    ],
)
def test_actions_that_are_not_finite_change_nothing(actions, message, arrays):
    envs = GymnasiumVectorEnv("Pendulum-v1", 2, arrays=arrays)
    obs, _ = envs.reset(seed=0)
    with pytest.raises(InvalidActionError, match=rf"must be in Box\(-2, 2, \(2, 1\), float32\): {message}"):
        envs.step(actions)
    np.testing.assert_array_equal(envs.env.observe(envs.state, envs.params), obs)


def test_jax_arrays_are_checked_where_results_go_to_the_host():
    envs = GymnasiumVectorEnv("Pendulum-v1", 2)
    envs.reset(seed=0)
    with pytest.raises(InvalidActionError, match="got nan, which is not finite as float32"):
        envs.step(jnp.array([[0.0], [jnp.nan]]))


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, jnp.asarray, np.float32, np.int64])
def test_numbers_outside_bounds_are_clipped_as_in_the_original(kind):
    envs, other = (GymnasiumVectorEnv("Pendulum-v1", 2) for _ in range(2))
    for each in (envs, other):
        each.reset(seed=0)
    actions = kind(np.array([[9.0], [-9.0]]))
    np.testing.assert_array_equal(envs.step(actions)[0], other.step(np.array([[2.0], [-2.0]], np.float32))[0])


def test_a_closed_batch():
    envs = GymnasiumVectorEnv("CartPole-v1", 2, render_mode="rgb_array")
    envs.reset(seed=0)
    envs.close()
    envs.close()
    for use in (lambda: envs.step([0, 0]), lambda: envs.reset(seed=0), lambda: envs.state, envs.render):
        with pytest.raises(ClosedEnvironmentError, match="the batch of CartPole is closed"):
            use()


def test_before_a_reset():
    envs = GymnasiumVectorEnv("CartPole-v1", 2)
    for use in (
        lambda: envs.step([0, 0]),
        lambda: envs.state,
        lambda: envs.reset(options={"reset_mask": np.ones(2, bool)}),
    ):
        with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
            use()


WRAPPERS = [
    wrappers.RecordEpisodeStatistics,
    wrappers.NormalizeObservation,
    wrappers.NormalizeReward,
    wrappers.ClipAction,
    wrappers.FlattenObservation,
    wrappers.DictInfoToList,
    lambda envs: wrappers.TransformReward(envs, lambda reward: 2 * reward),
    lambda envs: wrappers.RescaleObservation(envs, -1, 1),
]


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda wrapper: getattr(wrapper, "__name__", "function"))
def test_gymnasiums_wrappers(wrapper):
    envs = wrapper(GymnasiumVectorEnv("Pendulum-v1", 3))
    obs, _ = envs.reset(seed=0)
    for _ in range(5):
        obs, reward, *_ = envs.step(envs.action_space.sample())
    assert obs.shape == (3, 3)
    assert reward.shape == (3,)


def test_gymnasiums_statistics_of_episodes():
    envs = wrappers.RecordEpisodeStatistics(GymnasiumVectorEnv("CartPole-v1", 3))
    envs.reset(seed=0)
    lengths = []
    for _ in range(60):
        *_, infos = envs.step(np.zeros(3, int))
        if "episode" in infos:
            ended = infos["_episode"]
            np.testing.assert_array_equal(infos["episode"]["r"][ended], infos["episode"]["l"][ended])
            lengths += infos["episode"]["l"][ended].tolist()
    assert len(lengths) > 10
    assert all(7 < length < 12 for length in lengths)  # pushing one way ends an episode after 8 to 11 steps


def test_pictures():
    envs = gymnasium.make_vec("envcore/Breakout-MinAtar", num_envs=2, render_mode="rgb_array", render_height=50)
    envs.reset(seed=0)
    pictures = envs.render()
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


def test_what_the_caller_does_with_arrays_changes_nothing():
    envs, other = (GymnasiumVectorEnv("Pendulum-v1", 100_000, arrays="jax") for _ in range(2))
    envs.reset(seed=0)
    other.reset(seed=0)
    actions = np.ones((100_000, 1), np.float32)
    step = envs.step(actions)
    actions[:] = -1
    np.testing.assert_array_equal(step[0], other.step(np.ones_like(actions))[0])
    mask = np.ones(100_000, bool)
    obs, _ = envs.reset(options={"reset_mask": mask})
    mask[:] = False
    assert not np.array_equal(obs, step[0])


def test_in_64_bit_mode():
    program = (
        "import envcore_adapters.gymnasium as eg, numpy as np\n"
        "for env_id in ('CartPole-v1', 'FourRooms-misc', 'Breakout-MinAtar'):\n"
        "    env, envs = eg.GymnasiumEnv(env_id), eg.GymnasiumVectorEnv(env_id, 2)\n"
        "    for each in (env, envs):\n"
        "        each.reset(seed=0)\n"
        "        assert each.step(each.action_space.sample())[0] in each.observation_space\n"
    )
    environment = {**os.environ, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


FORKED = """
import os, warnings
from envcore.errors import EnvcoreError
from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv

warnings.simplefilter("ignore")  # JAX's own, of the fork
env, envs = GymnasiumEnv("CartPole-v1"), GymnasiumVectorEnv("CartPole-v1", 2)
env.reset(), envs.reset()
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
else:
    for call in (env.reset, lambda: env.step(0), envs.reset, lambda: envs.step([0, 0]), lambda: GymnasiumEnv(env.env)):
        try:
            call()
            os._exit(1)
        except EnvcoreError as error:
            assert "forked after JAX had started" in str(error)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_in_a_forked_process():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=120, env={**os.environ, "JAX_PLATFORMS": "cpu"})


@pytest.mark.slow
def test_gymnasiums_processes_are_spawned():
    program = (
        "import gymnasium, envcore_adapters.gymnasium\n"
        "if __name__ == '__main__':\n"
        "    make = lambda: gymnasium.make('envcore_adapters.gymnasium:envcore/CartPole-v1')\n"
        "    envs = gymnasium.vector.AsyncVectorEnv([make, make], context='spawn')\n"
        "    assert envs.reset(seed=[1, 1])[0].shape == (2, 4)\n"
        "    assert envs.step([0, 1])[1].tolist() == [1, 1]\n"
        "    envs.close()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=240, env={**os.environ, "JAX_PLATFORMS": "cpu"})
