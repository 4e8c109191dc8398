"""SAC: its actions and their densities, its losses, what it stores, what it refuses, and that it learns."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore_baselines.dqn import Transition
from envcore_baselines.sac import SAC, SACConfig, squashed
from learning import mean_returns
from scipy import integrate, stats
from toy import Counter, Spring

KEY = jax.random.key(0)
SMALL = SACConfig(
    total_steps=64, num_envs=4, rollout_steps=2, gradient_steps=2, replay_capacity=32, batch_size=8, hidden=(8,)
)


class Wide(Spring):
    """Takes the number that pushes the mass from the second of two rows, of other bounds than -1 and 1."""

    def action_space(self, params: Any) -> Any:
        return spaces.Box(np.array([[0.0], [-2.0]], np.float32), np.array([[5.0], [4.0]], np.float32))

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        return super().transition(state, action[1], draws, params)


class Unbounded(Spring):
    def action_space(self, params: Any) -> Any:
        return spaces.Box(-np.inf, np.inf, (1,))


class Reader(SAC):
    """Learns nothing: the metrics are the share of batches that was never stored."""

    def _loss(self, learned: Any, targets: Any, batch: Any, key: jax.Array) -> tuple[jax.Array, Any]:
        empty = (batch.obs == 0).all(-1).mean()
        return jnp.zeros(()) * learned.log_temperature, {"empty": empty}


def learner(env: Any, params: Any = None, kind: type[SAC] = SAC, **settings: Any) -> SAC:
    params = env.default_params if params is None else params
    return kind(env, params, SACConfig(**{**vars(SMALL), **settings}))


def batch(sac: SAC, size: int = 8) -> Transition:
    """Random transitions, some of which terminate."""
    rng = np.random.default_rng(0)
    obs, next_obs = rng.normal(size=(2, size, 2)).astype(np.float32)
    action = rng.uniform(-1, 1, (size, sac._numbers)).astype(np.float32)
    reward = rng.normal(size=size).astype(np.float32)
    return Transition(obs, action, reward, np.arange(size, dtype=np.float32) % 2, next_obs)


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.7, 0.4), (-1.5, 2.0)])
def test_the_density_of_an_action(mean: float, std: float) -> None:
    """It is that of the change of variables, and its integral over all actions is 1."""
    outputs = jnp.array([[mean, np.log(std)]])

    number = np.linspace(-5, 5, 2001)
    action, log_density = squashed(
        jnp.tile(outputs, (2001, 1)), jnp.asarray((number - mean) / std, jnp.float32)[:, None]
    )
    slope = 1 / np.cosh(number) ** 2
    np.testing.assert_allclose(action[:, 0], np.tanh(number), atol=1e-5)
    np.testing.assert_allclose(log_density, stats.norm.logpdf(number, mean, std) - np.log(slope), atol=1e-3)
    total = integrate.trapezoid(np.exp(log_density) * slope, number)
    np.testing.assert_allclose(total, stats.norm.cdf(5, mean, std) - stats.norm.cdf(-5, mean, std), atol=1e-3)


def test_numbers_are_independent_and_far_ones_finite() -> None:
    outputs, noise = jnp.array([[0.3, -0.2, 0.1, -1.0], [40.0, -40.0, 9.0, -90.0]]), jnp.array([[0.5, -1.0]] * 2)
    actions, log_density = squashed(outputs, noise)
    singles = [squashed(outputs[:1, i::2], noise[:1, i : i + 1]) for i in range(2)]
    np.testing.assert_allclose(actions[0], [float(action[0, 0]) for action, _ in singles], rtol=1e-6)
    np.testing.assert_allclose(log_density[0], sum(float(each[0]) for _, each in singles), rtol=1e-5)
    gradient = jax.grad(lambda x: squashed(x, noise)[1].sum())(outputs)
    assert np.isfinite(log_density).all()
    assert np.isfinite(gradient).all()


@pytest.mark.slow
def test_actions_have_the_bounds_of_the_space() -> None:
    env = Wide()
    sac = learner(env)
    actor = jax.jit(sac.init)(KEY).agent
    obs, _ = sac.env.reset(KEY)
    space: Any = env.action_space(env.default_params)
    mean = np.split(np.asarray(sac._actor.apply(actor, obs[None])), 2, -1)[0][0]
    expected = np.array([[2.5], [1.0]]) + np.array([[2.5], [3.0]]) * np.tanh(mean)[:, None]
    np.testing.assert_allclose(sac.act(actor, (), obs, KEY, greedy=True)[0], expected, rtol=1e-5)
    large = jax.tree.map(lambda x: 100 * jnp.ones_like(x), actor)
    for weights in (actor, large):
        for action in jax.vmap(lambda key, weights=weights: sac.act(weights, (), obs, key)[0])(jax.random.split(KEY)):
            assert space.contains(action)


def test_targets_are_soft_values_of_what_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    sac = learner(Spring(), discount=0.9)
    learned = jax.jit(sac.init)(KEY).learned._replace(log_temperature=jnp.log(jnp.float32(0.3)))
    steps, log_density = batch(sac), np.linspace(-1, 2, 8, dtype=np.float32)
    values = np.random.default_rng(1).normal(size=(2, 8)).astype(np.float32)
    monkeypatch.setattr(sac, "_sample", lambda actor, obs, noise: (obs[:, :1], log_density))
    monkeypatch.setattr(sac, "_values", lambda critics, obs, action: values + action[:, 0])
    found = sac._targets(learned, None, steps, None)  # type: ignore[arg-type]
    soft = np.minimum(*values) + steps.next_obs[:, 0] - 0.3 * log_density
    np.testing.assert_allclose(found, steps.reward + 0.9 * steps.discount * soft, rtol=1e-5)


@pytest.mark.slow
def test_each_loss_changes_its_own_part() -> None:
    sac = learner(Spring(), target_entropy=-0.7)
    state = jax.jit(sac.init)(KEY)
    learned = state.learned._replace(log_temperature=jnp.float32(-1))
    targets, steps = jax.tree.map(lambda x: 0.5 * x, state.targets), batch(sac)
    gradients, metrics = jax.grad(sac._loss, has_aux=True)(learned, targets, steps, KEY)
    noise = envcore.random.normal(KEY, (2, 8, 1))
    wanted = sac._targets(learned, targets, steps, noise[0])

    def critic_loss(critics: Any) -> jax.Array:
        first, second = sac._values(critics, steps.obs, steps.action)
        return ((first - wanted) ** 2).mean() / 2 + ((second - wanted) ** 2).mean() / 2

    def actor_loss(actor: Any) -> jax.Array:
        action, log_density = sac._sample(actor, steps.obs, noise[1])
        return (jnp.exp(-1.0) * log_density - sac._values(learned.critics, steps.obs, action).min(0)).mean()

    entropy = -sac._sample(learned.actor, steps.obs, noise[1])[1].mean()
    expected = (jax.grad(actor_loss)(learned.actor), jax.grad(critic_loss)(learned.critics), entropy + 0.7)
    for found, gradient in zip(jax.tree.leaves(gradients), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(found, gradient, rtol=1e-4, atol=1e-6)
    losses = {"critic_loss": critic_loss(learned.critics), "actor_loss": actor_loss(learned.actor)}
    for name, value in {**losses, "entropy": entropy, "temperature": np.exp(-1)}.items():
        np.testing.assert_allclose(metrics[name], value, rtol=1e-5)


def test_an_update_stores_what_the_environments_did() -> None:
    """Episodes of one step: some terminate, the others are cut by the time limit."""
    env = Wide()
    params = env.default_params.replace(max_steps_in_episode=1, start=1.6, noise=0.0)
    sac = learner(env, params, num_envs=16)
    state, metrics = jax.jit(sac.update)(jax.jit(sac.init)(KEY))
    stored = jax.tree.map(np.asarray, state.replay)
    position, push = stored.obs[:, 0], -2 + 6 * (stored.action[:, 1] + 1) / 2
    velocity = 0.1 * (push - position)  # which was 0
    np.testing.assert_allclose(stored.next_obs, np.stack([position + 0.1 * velocity, velocity], 1), atol=1e-5)
    np.testing.assert_allclose(stored.reward, -(stored.next_obs[:, 0] ** 2), rtol=1e-5)
    np.testing.assert_array_equal(stored.discount, np.abs(stored.next_obs[:, 0]) <= 1.5)
    assert 0 < stored.discount.sum() < 32
    assert metrics["episodes"] == 32
    np.testing.assert_allclose(metrics["returns"], stored.reward.sum(), rtol=1e-5)


def test_only_what_is_stored_is_sampled() -> None:
    reader = learner(Spring(), None, Reader, gradient_steps=50)
    state, update = jax.jit(reader.init)(KEY), jax.jit(reader.update)
    for _ in range(5):
        state, metrics = update(state)
        assert metrics["empty"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_noise_is_correlated_in_time(correlation: float) -> None:
    sac = learner(Spring(), num_envs=16, replay_capacity=1024, noise_correlation=correlation)
    state = jax.jit(sac.init)(KEY)

    def step(environments: Any, _: None) -> tuple[Any, Any]:
        environments, (steps, _) = sac._step(state.agent, environments)
        return environments, (environments.noise[:, 0], steps)

    _, (noise, steps) = jax.jit(lambda: jax.lax.scan(step, state.environments, length=1000))()
    noise = np.asarray(noise)
    np.testing.assert_allclose(noise.std(), 1, atol=0.05)
    np.testing.assert_allclose((noise[1:] * noise[:-1]).mean(), correlation, atol=0.05)
    played = sac._sample(state.agent, steps.obs[7], noise[7][:, None])[0]
    np.testing.assert_allclose(steps.action[7], played, atol=1e-5)


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (Counter(), {}, "sac needs actions in a float Box with bounds up to 1.7e38, but Counter has Discrete"),
        (Unbounded(), {}, "sac needs actions in a float Box with bounds up to 1.7e38, but Unbounded has Box"),
        (Spring(), {"num_envs": 5}, r"num_envs \* rollout_steps = 10 must divide replay_capacity, got 32"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)


@pytest.mark.slow
def test_pendulum_is_learned() -> None:
    env, params = envcore.make("Pendulum-v1")
    sac = SAC(env, params, SACConfig(total_steps=32_000))  # ten episodes of each environment
    assert mean_returns(sac, 1)[:, 5:].mean() > -500  # about -1,200 with random actions
