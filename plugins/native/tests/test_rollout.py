import subprocess
import sys
from typing import Any

import envcore
import envcore_native
import jax
import jax.numpy as jnp
import mnist_files
import numpy as np
import pytest
from envcore import trees
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, FlattenObservation, LogWrapper, NormalizeObservation, StickyAction
from envcore_testing.compilation import quick_jit

NUM_ENVS = 64
QUICK = ["Breakout-MinAtar", "CartPole-v1", "Catch-bsuite"]
SLOW = [
    *("Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"),
    *("CartPole-bsuite", "CartPoleSwingup-bsuite", "DeepSea-bsuite", "DeepSeaStochastic-bsuite"),
    *("DiscountingChain-bsuite", "MemoryChain-bsuite", "MountainCar-bsuite", "SimpleBandit-bsuite"),
    *("UmbrellaChain-bsuite", "Asterix-MinAtar", "Freeway-MinAtar", "Seaquest-MinAtar", "SpaceInvaders-MinAtar"),
    *("BernoulliBandit-misc", "FourRooms-misc", "FrozenLake-misc", "GaussianBandit-misc", "MetaMaze-misc"),
    *("PointRobot-misc", "Pong-misc", "Reacher-misc", "Swimmer-misc", "WindyGridworld-v0"),
]


def _everything(transition):
    return transition.obs, transition.action, transition.reward, transition.done


def _assert_equal(ours, theirs, tolerance=1e-4):
    for (path, a), b in zip(jax.tree.leaves_with_path(ours), jax.tree.leaves(theirs), strict=True):
        place = jax.tree_util.keystr(path)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), place
        if trees.is_key(a):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        allowed = tolerance if a.dtype.kind == "f" else 0
        np.testing.assert_allclose(a, b, rtol=allowed, atol=allowed, err_msg=place)


def _compare(env, policy, num_steps=60, params=None, policy_params=None, collect=_everything):
    start = quick_jit(lambda key: start_rollout(env, key, params))(jax.random.key(3))
    arguments: Any = {"num_steps": num_steps, "params": params, "policy_params": policy_params, "collect": collect}
    ours = envcore_native.run_rollout(env, policy, start, **arguments)
    theirs = quick_jit(lambda start: run_rollout(env, policy, start, **arguments))(start)
    _assert_equal(ours, theirs)
    return ours


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_an_environment_plays_what_run_rollout_plays(name):
    env, params = envcore.make(name)
    if not hasattr(params, "max_steps_in_episode"):
        params = None
    elif params.max_steps_in_episode > 25:
        params = params.replace(max_steps_in_episode=25)
    batch = Batched(env, NUM_ENVS)
    policy, steps = random_policy(batch), []
    step = quick_jit(lambda start: run_rollout(batch, policy, start, 1, params, collect=_everything))
    start = state = quick_jit(lambda key: start_rollout(batch, key, params))(jax.random.key(3))
    for number in range(60):
        before, (state, stacked) = state, step(state)
        steps.append(stacked)
        if number % 20 == 0:
            one = envcore_native.run_rollout(batch, policy, before, 1, params, collect=_everything)
            _assert_equal(one, (state, stacked), 1e-6)
    played = state, jax.tree.map(lambda *rows: np.concatenate(rows), *steps)
    _assert_equal(envcore_native.run_rollout(batch, policy, start, 60, params, collect=_everything), played)
    assert played[1][-1].sum() > NUM_ENVS


def test_every_environment_is_tested():
    names = {name for name in envcore.registry if "/" not in name and "MNIST" not in name}
    assert set(QUICK) | set(SLOW) >= names


@pytest.mark.slow
@pytest.mark.long
def test_images_among_the_params_are_looked_up(tmp_path):
    folder = str(mnist_files.write(tmp_path, mnist_files.random_images()))
    env, params = envcore.make("MNISTBandit-bsuite", folder=folder)
    batch = Batched(env, NUM_ENVS)
    _, (obs, *_) = _compare(batch, random_policy(batch), num_steps=5, params=params)
    assert len(np.unique(np.asarray(obs).reshape(-1, 28 * 28), axis=0)) > 20


def test_only_the_end_is_computed_where_nothing_is_collected():
    batch = Batched(envcore.make("Catch-bsuite")[0], NUM_ENVS)
    _, stacked = _compare(batch, random_policy(batch), collect=lambda transition: ())
    assert stacked == ()


def test_the_whole_transition_is_collected_by_default():
    batch = Batched(envcore.make("Catch-bsuite")[0], 3)
    _compare(batch, random_policy(batch), collect=lambda transition: transition)


@pytest.mark.slow
@pytest.mark.parametrize("num_envs", [1, 33])
def test_any_number_of_environments(num_envs):
    batch = Batched(envcore.make("Breakout-MinAtar")[0], num_envs)
    _compare(batch, random_policy(batch))


def test_one_environment_without_a_batch():
    env, _ = envcore.make("CartPole-v1")
    _compare(env, random_policy(env), num_steps=100)


@pytest.mark.slow
def test_wrappers_inside_and_around_the_batch():
    env, _ = envcore.make("Breakout-MinAtar")
    batch = LogWrapper(FlattenObservation(Batched(StickyAction(env), 32)))
    _compare(batch, random_policy(batch), collect=lambda t: (t.obs, t.info["returned_episode_returns"]))


def test_a_policy_of_the_observation():
    batch = Batched(envcore.make("CartPole-v1")[0], NUM_ENVS)

    def policy(gains, obs, key):
        return ((obs * gains[None]).sum(axis=1) > 0).astype(jnp.int32)

    _compare(batch, policy, policy_params=jnp.array([0.1, 0.2, 1.0, 0.5]))


@pytest.mark.slow
def test_inside_jit_with_traced_params_and_key_of_either_kind():
    env, params = envcore.make("Pendulum-v1")
    batch = Batched(env, 32)

    def play(run):
        def fun(key, gravity):
            traced = params.replace(g=gravity)
            start = start_rollout(batch, key, traced)
            return run(batch, random_policy(batch), start, 20, traced, collect=_everything)

        return quick_jit(fun)

    for key in (jax.random.key(5), jax.random.PRNGKey(5)):
        _assert_equal(play(envcore_native.run_rollout)(key, 9.0), play(run_rollout)(key, 9.0), 1e-3)


@pytest.mark.slow
def test_a_policy_that_refers_to_a_traced_array():
    batch = Batched(envcore.make("Catch-bsuite")[0], 32)

    def play(run):
        def fun(key, action):
            start = start_rollout(batch, key)
            return run(batch, lambda _, obs, key: jnp.full(len(obs), action), start, 20, collect=_everything)

        return quick_jit(fun)

    ours, theirs = (play(run)(jax.random.key(5), np.int32(2)) for run in (envcore_native.run_rollout, run_rollout))
    _assert_equal(ours, theirs)


def test_a_rollout_continues_where_another_ended():
    batch = Batched(envcore.make("Catch-bsuite")[0], 32)
    policy, start = random_policy(batch), quick_jit(lambda key: start_rollout(batch, key))(jax.random.key(0))
    middle, _ = envcore_native.run_rollout(batch, policy, start, 10, collect=_everything)
    end, _ = envcore_native.run_rollout(batch, policy, middle, 15, collect=_everything)
    _assert_equal(end, envcore_native.run_rollout(batch, policy, start, 25, collect=_everything)[0])


def test_vmap_plays_all_rollouts():
    batch = Batched(envcore.make("Catch-bsuite")[0], 8)

    def play(run):
        def fun(key):
            return run(batch, random_policy(batch), start_rollout(batch, key), 12, collect=_everything)

        return quick_jit(jax.vmap(fun))

    keys = jax.random.split(jax.random.key(1), 3)
    _assert_equal(play(envcore_native.run_rollout)(keys), play(run_rollout)(keys))


@pytest.mark.slow
def test_vmap_over_params_and_policies():
    env, params = envcore.make("Pendulum-v1")
    batch = Batched(env, 5)
    masses, gains = np.linspace(0.5, 2, 3, dtype=np.float32), np.ones((2, 3, 32), np.float32)
    gains *= np.linspace(-1, 1, 192, dtype=np.float32).reshape(2, 3, 32)

    def play(run):
        def policy(gains, obs, key):
            return jnp.clip(jnp.tanh(obs @ gains) @ gains[0] + jax.random.normal(key, (len(obs),)), -2, 2)[:, None]

        def fun(key, mass, gains):
            own = params.replace(m=mass)
            return run(batch, policy, start_rollout(batch, key, own), 8, own, gains, collect=_everything)

        over_both = jax.vmap(jax.vmap(fun, (None, 0, None)), (None, None, 0))
        return quick_jit(over_both)

    key = jax.random.key(1)
    ours, theirs = (play(run)(key, masses, gains) for run in (envcore_native.run_rollout, run_rollout))
    _assert_equal(ours, theirs, 1e-3)
    assert len(np.unique(ours[1][2].sum(axis=(2, 3)))) == 6


CATCH = envcore.make("Catch-bsuite")[0]
BATCH = Batched(CATCH, 4)


@pytest.mark.parametrize(
    ("env", "change", "message"),
    [
        (BATCH, {"num_steps": 0}, "num_steps must be a positive integer"),
        (BATCH, {"policy": lambda _, obs, key: jnp.zeros(5, jnp.int32)}, "the policy must return arrays"),
        (
            BATCH,
            {"policy": lambda _, obs, key: jnp.argsort(obs[:, 0, 0])},
            "the policy must compute each environment's",
        ),
        (BATCH, {"policy": lambda _, obs, key: (obs.mean(axis=0)[None] + obs)[:, 0, 0].astype(int)}, "must compute"),
        (BATCH, {"collect": lambda t: t.reward.sum()}, "collect must return arrays"),
        (BATCH, {"collect": lambda t: t.reward - t.reward.mean()}, "collect must compute each environment's row"),
        (
            BATCH,
            {"policy": lambda _, obs, key: jnp.convolve(obs[0, 0], np.ones(2, "f4"))[:1].repeat(4).astype(int)},
            "conv_general_dilated at .*test_",
        ),
        (StickyAction(BATCH), {}, "StickyAction draws for a whole batch"),
        (NormalizeObservation(BATCH), {}, "belongs to all environments together"),
        (Batched(BATCH, 2), {}, "one Batched, got Batched with batch shape"),
    ],
)
def test_what_cannot_be_played_is_named(env, change, message):
    start = jax.eval_shape(lambda key: start_rollout(env, key), jax.random.key(0))
    arguments: Any = {"policy": random_policy(env), "num_steps": 3, "collect": _everything, **change}
    with pytest.raises(InvalidArgumentError, match=message):
        jax.eval_shape(lambda start: envcore_native.run_rollout(env, start=start, **arguments), start)


def test_another_type_of_key_is_refused():
    start = jax.eval_shape(lambda key: start_rollout(BATCH, key), jax.random.key(0, impl="rbg"))
    with pytest.raises(InvalidArgumentError, match=r"needs keys of type threefry2x32.*, got rbg"):
        jax.eval_shape(lambda start: envcore_native.run_rollout(BATCH, random_policy(BATCH), start, 3), start)


def test_without_warp_it_says_what_to_install(monkeypatch):
    start = quick_jit(lambda key: start_rollout(BATCH, key))(jax.random.key(0))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EnvcoreError, match="pip install warp-lang"):
        envcore_native.run_rollout(BATCH, random_policy(BATCH), start, 3)


def test_importing_it_starts_neither_warp_nor_a_backend():
    code = (
        "import sys, envcore_native.rollout; from jax._src import xla_bridge\n"
        "print('warp' in sys.modules, xla_bridge.backends_are_initialized())"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["False", "False"]
