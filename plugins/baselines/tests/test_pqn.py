"""PQN: its targets, what it learns from, its network and exploration, what it refuses, and that it learns."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from envcore.rollout import Transition, run_rollout
from envcore_baselines.pqn import PQN, Network, PQNConfig, State
from learning import mean_returns, replay, updated
from toy import Counter, Spring

KEY = jax.random.key(0)
SMALL = PQNConfig(total_steps=64, num_envs=4, rollout_steps=8, epochs=2, minibatches=2, hidden=(8,))


class Shown:
    """A network whose values are an observation's first numbers, plus the weight whose number is the last one."""

    def apply(self, weights: jax.Array, obs: jax.Array) -> jax.Array:
        return obs[:, :2] + weights[obs[:, 2].astype(jnp.int32)][:, None]


def learner(env: Any, params: Any = None, rollout: Any = run_rollout, **settings: Any) -> PQN:
    params = env.default_params if params is None else params
    return PQN(env, params, PQNConfig(**{**vars(SMALL), **settings}), rollout=rollout)


def steps_of_every_kind() -> Any:
    """Of four environments, with every kind of end; the observations are values of two actions and a number."""
    rng = np.random.default_rng(0)
    number = np.arange(32, dtype=np.float32).reshape(8, 4, 1)
    obs, next_obs = (np.concatenate([x, number], -1) for x in rng.normal(size=(2, 8, 4, 2)).astype(np.float32))
    done = rng.random((8, 4)) < 0.3
    terminated = done & (rng.random((8, 4)) < 0.5)
    assert terminated.any()
    assert (done & ~terminated).any()
    action = rng.integers(0, 2, (8, 4), np.int32)
    reward = rng.normal(size=(8, 4)).astype(np.float32)
    info: Any = {"terminated": terminated, "returned_episode_returns": reward}
    return Transition(None, obs, action, reward, next_obs, done, info)  # type: ignore[arg-type]


@pytest.mark.parametrize("q_lambda", [0.0, 0.8, 1.0])
def test_targets_are_mixtures_of_returns_over_several_steps(q_lambda: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read off the gradient of the values. What a time limit cut is worth what it still would have earned."""
    steps = steps_of_every_kind()
    found = learner(Counter(), None, replay(steps), discount=0.9, q_lambda=q_lambda, epochs=1, minibatches=1)
    monkeypatch.setattr(found, "_network", Shown())

    def descend(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return -updates, updates  # the gradient is the optimizer's next state

    descent = optax.GradientTransformation(lambda params: params, descend)
    monkeypatch.setattr(found, "_optimizer", descent)
    weights: Any = np.random.default_rng(1).normal(size=32).astype(np.float32)
    state = State(weights, found._optimizer.init(weights), None, jnp.int32(0), KEY)  # type: ignore[arg-type]
    after, metrics = jax.jit(found.update)(state)
    values = np.take_along_axis(steps.obs, steps.action[..., None], -1)[..., 0] + weights.reshape(8, 4)
    np.testing.assert_allclose(after.network, weights - after.optimizer, rtol=1e-5)
    targets = values - 32 * np.asarray(after.optimizer).reshape(8, 4)
    next_value = (steps.next_obs[..., :2].max(-1) + weights.reshape(8, 4)) * ~steps.info["terminated"]
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
    errors = values - targets
    shown = {"loss": (errors**2).mean() / 2, "value": values.mean(), "gradient_norm": np.linalg.norm(errors) / 32}
    assert metrics.keys() == {*shown, "returns", "episodes"}
    for name, value in shown.items():
        np.testing.assert_allclose(metrics[name], value, rtol=1e-5)


@pytest.mark.parametrize(("goal", "limit"), [(1, 10), (3, 1), (3, 10)])
def test_it_learns_from_what_the_environment_did(goal: int, limit: int) -> None:
    env = Counter(goal)
    found = learner(env, env.default_params.replace(max_steps_in_episode=limit))
    _, totals, collected = updated(found, jax.jit(found.init)(KEY))
    obs, action, reward, next_obs, done, terminated, returns = map(np.asarray, collected)
    count, after = obs.argmax(-1), next_obs.argmax(-1)
    np.testing.assert_array_equal(after, count + action)
    np.testing.assert_array_equal(terminated, after == goal)
    np.testing.assert_array_equal(reward, 0.5 * (action == 1))
    assert (done & ~terminated).any() == (limit == 1)
    np.testing.assert_array_equal(count[1:], np.where(done[:-1], 0, after[:-1]))
    assert totals["episodes"] == done.sum()
    assert totals["returns"] == np.where(done, returns, 0).sum()


def test_random_actions_become_fewer() -> None:
    """Over the first half of eight updates."""
    settings: dict[str, Any] = {"num_envs": 1000, "total_steps": 64_000, "epsilon": 0.2, "exploration_fraction": 0.5}
    found = learner(Counter(), None, **settings, learning_rate=0.0)
    state = jax.jit(found.init)(KEY)
    last = state.network["params"]["Dense_1"]
    layers = {**state.network["params"], "Dense_1": {**last, "bias": jnp.array([0.0, 100.0])}}
    state, shares = state._replace(network={"params": layers}), []
    for _ in range(8):
        state, _, (_, action, *_) = updated(found, state)
        shares.append(2 * (action == 0).mean())
    np.testing.assert_allclose(shares, [1, 0.8, 0.6, 0.4, 0.2, 0.2, 0.2, 0.2], atol=0.03)


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


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (
            Counter(),
            {"torso": "conv"},
            r"torso = 'conv' needs observations \(height, width, channels\) of at least 3 x 3, but Counter has",
        ),
        (Counter(), {"minibatches": 5}, r"minibatches must divide num_envs \* rollout_steps = 32, got 5"),
        (Spring(), {}, "pqn needs a Discrete action space, but Spring has Box"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)


def test_it_learns() -> None:
    """Counting in all three steps earns 1.5; at random it is half of that."""
    env = Counter()
    settings: dict[str, Any] = {"total_steps": 16_000, "num_envs": 16, "minibatches": 4, "learning_rate": 0.01}
    settings["discount"] = 0.9  # otherwise it hardly matters when it counts
    found = learner(env, env.default_params.replace(max_steps_in_episode=3), **settings)
    assert (mean_returns(found, 2)[:, -1] > 1.4).all()
