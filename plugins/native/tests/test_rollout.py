import subprocess
import sys
from typing import Any

import envcore
import envcore_native
import flax.linen as nn
import jax
import jax.numpy as jnp
import mnist_files
import numpy as np
import pytest
from envcore import random, trees
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, FlattenObservation, LogWrapper, NormalizeObservation, StickyAction
from envcore_testing.compilation import quick_jit

pytest.importorskip("warp")  # of the group `full`

NUM_ENVS = 64
CATCH = envcore.make("Catch-bsuite")[0]
BATCH = Batched(CATCH, 4)
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


def _compare(env, policy, num_steps=60, params=None, policy_params=None, collect=_everything, tolerance=1e-4):
    start = quick_jit(lambda key: start_rollout(env, key, params))(jax.random.key(3))
    arguments: Any = {"num_steps": num_steps, "params": params, "policy_params": policy_params, "collect": collect}
    ours = envcore_native.run_rollout(env, policy, start, **arguments)
    theirs = quick_jit(lambda start: run_rollout(env, policy, start, **arguments))(start)
    _assert_equal(ours, theirs, tolerance)
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
    batch = Batched(CATCH, NUM_ENVS)
    _, stacked = _compare(batch, random_policy(batch), collect=lambda transition: ())
    assert stacked == ()


def test_the_whole_transition_is_collected_by_default():
    batch = Batched(CATCH, 3)
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
    batch = Batched(CATCH, 32)

    def play(run):
        def fun(key, action):
            start = start_rollout(batch, key)
            return run(batch, lambda _, obs, key: jnp.full(len(obs), action), start, 20, collect=_everything)

        return quick_jit(fun)

    ours, theirs = (play(run)(jax.random.key(5), np.int32(2)) for run in (envcore_native.run_rollout, run_rollout))
    _assert_equal(ours, theirs)


def test_a_rollout_continues_where_another_ended():
    batch = Batched(CATCH, 32)
    policy, start = random_policy(batch), quick_jit(lambda key: start_rollout(batch, key))(jax.random.key(0))
    middle, _ = envcore_native.run_rollout(batch, policy, start, 10, collect=_everything)
    end, _ = envcore_native.run_rollout(batch, policy, middle, 15, collect=_everything)
    _assert_equal(end, envcore_native.run_rollout(batch, policy, start, 25, collect=_everything)[0])


def test_vmap_plays_all_rollouts():
    batch = Batched(CATCH, 8)

    def play(run):
        def fun(key):
            return run(batch, random_policy(batch), start_rollout(batch, key), 12, collect=_everything)

        return quick_jit(jax.vmap(fun))

    keys = jax.random.split(jax.random.key(1), 3)
    _assert_equal(play(envcore_native.run_rollout)(keys), play(run_rollout)(keys))


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
        (StickyAction(BATCH), {}, "StickyAction draws random numbers for the whole batch"),
        (NormalizeObservation(BATCH), {}, "is shared by all environments"),
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
    with pytest.raises(EnvcoreError, match=r"plugins/native\[gpu\]"):
        envcore_native.run_rollout(BATCH, random_policy(BATCH), start, 3)


def test_importing_it_starts_neither_warp_nor_a_backend():
    code = (
        "import sys, envcore_native.rollout; from jax._src import xla_bridge\n"
        "print('warp' in sys.modules, xla_bridge.backends_are_initialized())"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["False", "False"]


# Policies of users.


class Actor(nn.Module):
    outputs: int
    units: int = 20

    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            x = nn.tanh(nn.Dense(self.units)(x))
        return nn.Dense(self.outputs, kernel_init=nn.initializers.normal(1.0))(x)


def _outputs(network, weights, x) -> Any:
    return network.apply(weights, x)


def _flat(obs):
    return obs.reshape(len(obs), -1).astype(jnp.float32)


def _batch(name, num_envs=NUM_ENVS):
    env, params = envcore.make(name)
    return Batched(env, num_envs), params.replace(max_steps_in_episode=25)


def _network(batch, params):
    space = batch.env.action_space(params)
    network = Actor(space.n if hasattr(space, "n") else int(np.prod(space.shape)))
    obs = jnp.zeros((1, np.prod(batch.env.observation_space(params).shape)))
    return network, quick_jit(network.init)(jax.random.key(0), obs)


@pytest.mark.parametrize("name", ["CartPole-v1", pytest.param("Catch-bsuite", marks=pytest.mark.slow)])
def test_a_network_chooses_actions(name):
    batch, params = _batch(name)
    network, weights = _network(batch, params)
    policy = lambda w, obs, key: _outputs(network, w, _flat(obs)).argmax(1)  # noqa: E731
    _, (_, actions, *_) = _compare(batch, policy, 30, params, weights)
    assert len(np.unique(actions)) > 1


@pytest.mark.slow
def test_a_network_acts_in_a_box():
    batch, params = _batch("Reacher-misc", 33)
    network, weights = _network(batch, params)
    policy = lambda w, obs, key: jnp.tanh(_outputs(network, w, obs))  # noqa: E731
    _, (_, actions, *_) = _compare(batch, policy, 12, params, weights, tolerance=1e-3)
    assert np.std(actions) > 0.1


@pytest.mark.slow
def test_plain_products_inside_vmap_and_wrappers():
    env, params = envcore.make("Catch-bsuite")
    batch = LogWrapper(FlattenObservation(Batched(env, 40)))
    random = np.random.default_rng(0)
    weights = [random.normal(size=(20, 50)), random.normal(size=20), random.normal(size=(20, 3))]
    weights = [jnp.asarray(each, jnp.float32) for each in weights]

    def choose(weights, obs):
        first, bias, second = weights
        return (jax.nn.relu(first @ obs.astype(jnp.float32) + bias) @ second).argmax()

    def policy(weights, obs, key):
        return jax.vmap(choose, (None, 0))(weights, obs)

    _compare(batch, policy, 30, params, weights)


def test_a_large_network_is_refused():
    batch, params = _batch("CartPole-v1", 8)
    network = Actor(2, units=40)
    weights = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, 4)))

    def play(start, weights):
        policy = lambda w, obs, key: _outputs(network, w, obs).argmax(1)  # noqa: E731
        return envcore_native.run_rollout(batch, policy, start, 3, params, weights)

    start = jax.eval_shape(lambda key: start_rollout(batch, key), jax.random.key(0))
    with pytest.raises(InvalidArgumentError, match=r"1,600 products \(use envcore.rollout.* more than 1,024"):
        jax.eval_shape(play, start, weights)


def _greedy(epsilon):
    def policy(weights, obs, key):
        key_coin, key_act = jax.random.split(key)
        is_random = jax.random.uniform(key_coin, (len(obs),)) < epsilon
        return jnp.where(is_random, jax.random.randint(key_act, (len(obs),), 0, 3), (obs[:, 2, 1] > 0).astype(int))

    return policy


def _sampled(weights, obs, key):
    return jax.random.categorical(key, obs[:, :3, 1] * jnp.array([1.0, 2.0, -1.0])[None])


def _by_our_random(weights, obs, key):
    key_coin, key_act = random.split(key)
    is_high = random.uniform(key_coin, (len(obs), 2)) < random.normal(key_act, (len(obs), 2))
    keys = random.split(random.fold_in(key, 7), len(obs))
    return is_high.sum(1, dtype=int) * jax.vmap(lambda key: random.integers(random.bits(key), 2))(keys)


def _each_with_its_key(weights, obs, key):
    keys = jax.random.split(key, len(obs))
    return jax.vmap(lambda key, obs: jax.random.randint(key, (), 0, 2) + (obs[0, 0] > 0).astype(int))(keys, obs)


def _shared(weights, obs, key):
    coin, start = jax.random.split(key)
    first = jax.random.randint(start, (), 0, 3)
    return jnp.where(jax.random.bernoulli(coin, 0.5, (len(obs), 2)).all(1), first, 1)


@pytest.mark.parametrize(
    "policy",
    [
        _greedy(0.3),
        _sampled,
        _by_our_random,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (_each_with_its_key, _shared)),
    ],
)
def test_a_policy_draws_what_it_draws_in_run_rollout(policy):
    batch = Batched(CATCH, NUM_ENVS)
    _, (_, actions, *_) = _compare(batch, policy, 30)
    assert len(np.unique(actions)) > 1


@pytest.mark.slow
def test_noise_of_a_box():
    batch, params = _batch("Pendulum-v1", 33)

    def policy(scale, obs, key):
        return jnp.clip(scale * jax.random.normal(key, (len(obs), 1)), -2.0, 2.0)

    _compare(batch, policy, 12, params, 1.5, tolerance=1e-3)


@pytest.mark.slow
def test_a_network_and_draws_collect_what_a_learner_needs():
    env, params = envcore.make("CartPole-v1")
    batch = LogWrapper(Batched(env, NUM_ENVS))
    network, weights = _network(Batched(env, NUM_ENVS), params)

    def policy(weights, obs, key):
        return jax.random.categorical(key, _outputs(network, weights, obs))

    _compare(batch, policy, 30, params, weights)


@pytest.mark.parametrize(
    "policy",
    [
        lambda _, obs, key: jax.random.randint(key, (3, len(obs)), 0, 3)[0],
        lambda _, obs, key: jax.random.randint(key, (len(obs),), 0, 3)[::-1],
        lambda _, obs, key: jax.random.randint(key, (2,), 0, 3).repeat(len(obs) // 2),
        lambda _, obs, key: jnp.arange(len(obs)) % 3,
    ],
)
def test_rows_may_differ_by_their_place(policy):
    _compare(Batched(CATCH, NUM_ENVS), policy, 30)
