"""PQN: its targets, what it learns from, its network and exploration, what it refuses, and that it learns."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from envcore_baselines import algorithms, ppo, pqn
from envcore_baselines.errors import ConfigError
from envcore_baselines.pqn import PQN, Network, PQNConfig, Steps
from learning import mean_returns
from toy import Counter, Deck, Spring

KEY = jax.random.key(0)
SMALL = PQNConfig(total_steps=64, num_envs=4, rollout_steps=8, epochs=2, minibatches=2, hidden=(8,))


class Recorder(PQN):
    """Learns nothing: the optimizer's state is what it would learn from."""

    def learn(self, network: Any, optimizer: Any, steps: Any, key: jax.Array) -> tuple[Any, Any, dict[str, Any]]:
        return network, steps, {}


class Shown:
    """A network whose values are the observations plus a weight for each action."""

    def apply(self, weights: jax.Array, obs: jax.Array) -> jax.Array:
        return obs + weights


def learner(env: Any, params: Any = None, kind: type[PQN] = PQN, **settings: Any) -> PQN:
    params = env.default_params if params is None else params
    return kind(env, params, PQNConfig(**{**vars(SMALL), **settings}))


def rollout() -> Steps:
    """Of four environments, with every kind of end; the observations are values of two actions."""
    rng = np.random.default_rng(0)
    obs, next_obs = rng.normal(size=(2, 8, 4, 2)).astype(np.float32)
    done = rng.random((8, 4)) < 0.3
    terminated = done & (rng.random((8, 4)) < 0.5)
    assert terminated.any()
    assert (done & ~terminated).any()
    action = rng.integers(0, 2, (8, 4), np.int32)
    reward = rng.normal(size=(8, 4)).astype(np.float32)
    return Steps(obs, action, reward, next_obs, done, terminated)  # type: ignore[arg-type]


@pytest.mark.parametrize("q_lambda", [0.0, 0.8, 1.0])
def test_targets_are_mixtures_of_returns_over_several_steps(q_lambda: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a time limit cut is worth what it still would have earned."""
    found = learner(Counter(), discount=0.9, q_lambda=q_lambda)
    monkeypatch.setattr(found, "_network", Shown())
    steps = rollout()
    targets = jax.jit(found._targets)(jnp.array([0.5, -0.5]), steps)
    next_value = (np.asarray(steps.next_obs) + np.array([0.5, -0.5])).max(-1) * ~np.asarray(steps.terminated)
    for env in range(4):
        for time in range(8):
            expected, earned, weight = 0.0, 0.0, 1.0
            for number, later in enumerate(range(time, 8)):
                earned += 0.9**number * float(steps.reward[later, env])
                is_last = later == 7 or steps.done[later, env]
                share = weight if is_last else weight * (1 - q_lambda)
                expected += share * (earned + 0.9 ** (number + 1) * next_value[later, env])
                weight *= q_lambda
                if is_last:
                    break
            np.testing.assert_allclose(targets[time, env], expected, rtol=1e-5, atol=1e-6)


def test_a_gradient_step(monkeypatch: pytest.MonkeyPatch) -> None:
    found = learner(Counter(), epochs=1, minibatches=1)
    monkeypatch.setattr(found, "_network", Shown())
    monkeypatch.setattr(found, "_optimizer", optax.sgd(1.0))
    steps, weights = rollout(), jnp.array([0.5, -0.5])
    after, _, metrics = jax.jit(found.learn)(weights, found._optimizer.init(weights), steps, KEY)
    values = np.take_along_axis(np.asarray(steps.obs) + weights, np.asarray(steps.action)[..., None], -1)[..., 0]
    errors = values - np.asarray(found._targets(weights, steps))
    gradient = np.array([(errors * (np.asarray(steps.action) == action)).mean() for action in range(2)])
    np.testing.assert_allclose(after, weights - gradient, rtol=1e-5)
    expected = {"loss": (errors**2).mean() / 2, "value": values.mean(), "gradient_norm": np.linalg.norm(gradient)}
    assert metrics.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(metrics[name], value, rtol=1e-5)


@pytest.mark.parametrize(("goal", "limit"), [(1, 10), (3, 1), (3, 10)])
def test_it_learns_from_what_the_environment_did(goal: int, limit: int) -> None:
    env = Counter(goal)
    recorder = learner(env, env.default_params.replace(max_steps_in_episode=limit), Recorder)
    state, totals = jax.jit(recorder.update)(jax.jit(recorder.init)(KEY))
    steps = jax.tree.map(np.asarray, state.optimizer)
    count, after = steps.obs.argmax(-1), steps.next_obs.argmax(-1)
    np.testing.assert_array_equal(after, count + steps.action)
    np.testing.assert_array_equal(steps.terminated, after == goal)
    np.testing.assert_array_equal(steps.reward, 0.5 * (steps.action == 1))
    assert (steps.done & ~steps.terminated).any() == (limit == 1)
    np.testing.assert_array_equal(count[1:], np.where(steps.done[:-1], 0, after[:-1]))
    assert totals["episodes"] == steps.done.sum()


def test_random_actions_become_fewer() -> None:
    """Over the first half of eight updates."""
    settings: dict[str, Any] = {"num_envs": 1000, "total_steps": 64_000, "epsilon": 0.2, "exploration_fraction": 0.5}
    recorder = learner(Counter(), None, Recorder, **settings)
    state = jax.jit(recorder.init)(KEY)
    last = state.network["params"]["Dense_1"]
    layers = {**state.network["params"], "Dense_1": {**last, "bias": jnp.array([0.0, 100.0])}}
    state, update, shares = state._replace(network={"params": layers}), jax.jit(recorder.update), []
    for _ in range(8):
        state, _ = update(state)
        shares.append(2 * (state.optimizer.action == 0).mean())
    np.testing.assert_allclose(shares, [1, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2, 0.2], atol=0.03)


def test_random_actions_are_legal() -> None:
    values = jnp.tile(jnp.array([0.5, -1.0, pqn.ILLEGAL, 0.2]), (8000, 1))
    shares = np.bincount(pqn._explore(values, 0.3, KEY), minlength=4) / 8000
    np.testing.assert_allclose(shares, [0.8, 0.1, 0, 0.1], atol=0.02)
    assert shares[2] == 0


def test_hidden_layers_are_normalized() -> None:
    network = Network(PQNConfig(hidden=(5,)), 3)
    obs = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    weights: Any = network.init(KEY, obs)
    first, norm, last = (weights["params"][name] for name in ("Dense_0", "LayerNorm_0", "Dense_1"))
    x = obs @ first["kernel"] + first["bias"]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6) * norm["scale"] + norm["bias"]
    expected = np.maximum(x, 0) @ last["kernel"] + last["bias"]
    found: Any = network.apply(weights, obs)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_pictures_of_bools_are_read_as_numbers() -> None:
    network = Network(PQNConfig(torso="conv", hidden=(8,)), 3)
    images = jax.random.bernoulli(KEY, 0.5, (5, 6, 6, 2))
    weights = network.init(KEY, images)
    np.testing.assert_array_equal(network.apply(weights, images), network.apply(weights, images.astype(jnp.float32)))


def test_what_the_file_repeats_is_that_of_ppo() -> None:
    images = jax.random.normal(KEY, (6, 6, 5, 4))
    weights = pqn.Convolution(7).init(KEY, images)
    np.testing.assert_array_equal(pqn.Convolution(7).apply(weights, images), ppo.Convolution(7).apply(weights, images))
    np.testing.assert_array_equal(pqn._shuffled(KEY, 3, 7), ppo._shuffled(KEY, 3, 7))


def test_a_dict_of_observations_is_flattened() -> None:
    found = learner(Deck())
    state = jax.jit(found.init)(KEY)
    obs, _ = found.env.reset(KEY)
    action, memory = found.act(state.agent, found.start_memory(), obs, KEY)
    assert found.env.action_space(found.env.default_params).contains(action)
    greedy = [found.act(state.agent, memory, obs, key, greedy=True)[0] for key in jax.random.split(KEY, 20)]
    assert len({int(action) for action in greedy}) == 1


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (
            Counter(),
            {"torso": "conv"},
            r"torso = 'conv' needs observations \(height, width, channels\) of at least 3 x 3, Counter has",
        ),
        (Counter(), {"minibatches": 5}, r"minibatches must divide num_envs \* rollout_steps = 32, got 5"),
        (Spring(), {}, "Q-learning needs actions of a Discrete, Spring has Box"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)
    with pytest.raises(ConfigError, match=message):
        algorithms.learner("pqn", env, env.default_params, PQNConfig(**{**vars(SMALL), **settings}))


def test_it_learns() -> None:
    """Counting in all three steps earns 1.5; at random it is half of that."""
    env = Counter()
    settings: dict[str, Any] = {"total_steps": 16_000, "num_envs": 16, "minibatches": 4, "learning_rate": 0.01}
    settings["discount"] = 0.9  # otherwise it hardly matters when it counts
    found = learner(env, env.default_params.replace(max_steps_in_episode=3), **settings)
    assert (mean_returns(found, 2)[:, -1] > 1.4).all()


@pytest.mark.slow
def test_cartpole_is_learned() -> None:
    env, params = envcore.make("CartPole-v1")
    assert (mean_returns(PQN(env, params, algorithms.config("pqn", "CartPole-v1", {})), 1)[:, -1] >= 400).all()
