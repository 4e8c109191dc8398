"""PPO: its advantages, normalization and memory, what it refuses, and that it learns."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo import PPO, Convolution, PPOConfig, Step
from toy import Counter, Deck, Spring

KEY = jax.random.key(0)
SMALL = PPOConfig(total_steps=64, num_envs=4, rollout_steps=8, epochs=2, minibatches=2, hidden=(8,))


def learner(env: Any, params: Any = None, **settings: Any) -> PPO:
    return PPO(env, env.default_params if params is None else params, PPOConfig(**{**vars(SMALL), **settings}))


def test_advantages_are_the_discounted_sums_of_errors() -> None:
    rng = np.random.default_rng(0)
    reward, value, last_value = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    done = np.zeros((5, 3), bool)
    done[1, 0] = done[4, 1] = True
    ppo = learner(Counter(), discount=0.9, gae_lambda=0.8)
    steps = Step(None, None, None, None, jnp.float32(value), jnp.float32(reward), jnp.array(done))  # type: ignore[arg-type]
    found = ppo._advantages(steps, jnp.float32(last_value))
    values = np.vstack([value, last_value])
    for env in range(3):
        for time in range(5):
            expected, weight = 0.0, 1.0
            for later in range(time, 5):
                discount = 0.9 * (not done[later, env])
                expected += weight * (reward[later, env] + discount * values[later + 1, env] - value[later, env])
                weight *= discount * 0.8
            np.testing.assert_allclose(found[time, env], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("goal", "limit"), [(1, 1), (1, 10), (3, 1), (3, 10)])
def test_only_an_episode_that_the_time_limit_cut_is_bootstrapped(goal: int, limit: int) -> None:
    """With the value of its last observation; that of the next episode's first one is another number."""
    env = Counter(goal)
    ppo = learner(env, env.default_params.replace(max_steps_in_episode=limit), discount=0.9)
    state, (step, _) = jax.jit(lambda state: ppo._step(state, None))(jax.jit(ppo.init)(KEY))
    assert 0 < step.action.sum() < 4
    final = jnp.zeros((4, goal + 1)).at[jnp.arange(4), step.action].set(1.0)
    is_cut = (limit == 1) & (step.action < goal)
    values, others = (ppo._apply(state.agent, (), obs[None], state.start[None])[1][0] for obs in (final, state.obs))
    assert (jnp.abs(values - others) > 1e-3)[step.done & (step.action == 1)].all()
    expected = 0.5 * (step.action == 1) + 0.9 * jnp.where(is_cut, values, 0)
    np.testing.assert_allclose(step.reward, expected, rtol=1e-5, atol=1e-6)


def test_observations_are_normalized_by_what_was_seen() -> None:
    ppo = learner(Spring(), normalize_observations=True, normalize_rewards=True)
    state = jax.jit(ppo.init)(KEY)
    seen, totals = [], None
    for _ in range(2):
        rollout = jax.jit(lambda state: jax.lax.scan(ppo._step, state, length=8))
        seen.append(np.asarray(rollout(state)[1][0].obs).reshape(-1, 2))
        state, totals = jax.jit(ppo.update)(state)
    values = np.concatenate(seen)
    np.testing.assert_allclose(state.agent.statistics.mean, values.mean(0), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(state.agent.statistics.var, values.var(0), rtol=1e-3)
    assert totals
    assert np.isfinite(float(totals.returns))


def test_a_dict_of_observations_is_flattened() -> None:
    ppo = learner(Deck())
    state = jax.jit(ppo.init)(KEY)
    obs, _ = ppo.env.reset(KEY)
    action, memory = ppo.act(state.agent, ppo.start_memory(), obs, KEY)
    assert ppo.env.action_space(ppo.env.default_params).contains(action)
    greedy = [ppo.act(state.agent, memory, obs, key, greedy=True)[0] for key in (KEY, jax.random.key(9))]
    assert greedy[0] == greedy[1]


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("shared", [False, True])
def test_hidden_layers(activation: str, shared: bool) -> None:
    ppo = learner(Counter(), hidden=(5,), activation=activation, shared=shared)
    agent = jax.jit(ppo.init)(KEY).agent
    layers = [jax.tree.map(np.asarray, layer) for layer in agent.network["params"].values()]
    assert [layer["kernel"].shape for layer in layers] == [(4, 5)] * (1 if shared else 2) + [(5, 2), (5, 1)]
    obs = np.eye(4, dtype=np.float32)
    outputs, values, _ = ppo._apply(agent, (), obs[None], np.zeros((1, 4), np.bool_))  # type: ignore[arg-type]
    function = np.tanh if activation == "tanh" else lambda x: np.maximum(x, 0)
    hidden = [function(obs @ layer["kernel"] + layer["bias"]) for layer in layers[:-2]]
    for found, inputs, layer in ((outputs, hidden[0], layers[-2]), (values[..., None], hidden[-1], layers[-1])):
        np.testing.assert_allclose(found[0], inputs @ layer["kernel"] + layer["bias"], rtol=1e-5, atol=1e-6)


def test_a_convolution_is_xlas() -> None:
    images = jax.random.normal(KEY, (2, 3, 6, 5, 4))
    module = Convolution(7)
    variables: Any = module.init(KEY, images)
    variables = {"params": {**variables["params"], "bias": jnp.arange(7.0)}}
    found: Any = module.apply(variables, images)
    dimensions = ("NHWC", "HWIO", "NHWC")
    kernel = variables["params"]["kernel"]
    flat = images.reshape(6, 6, 5, 4)
    padding = ((0, 0), (0, 1))
    expected = jax.lax.conv_general_dilated(flat, kernel, (2, 2), padding, dimension_numbers=dimensions)
    np.testing.assert_allclose(found, (expected + jnp.arange(7.0)).reshape(2, 3, 2, 2, 7), atol=1e-5)


def test_the_memory_holds_the_episode() -> None:
    """Going through a rollout again gives the actions' probabilities, and so does acting step by step."""
    env = Counter()
    ppo = learner(env, env.default_params.replace(max_steps_in_episode=3), memory=5)
    before, _ = jax.jit(ppo.update)(jax.jit(ppo.init)(KEY))
    after, (steps, _) = jax.jit(lambda state: jax.lax.scan(ppo._step, state, length=8))(before)
    assert steps.start[1:].any()
    assert not steps.start[1:].all()
    outputs, values, memory = jax.jit(ppo._apply)(before.agent, before.memory, steps.obs, steps.start)
    np.testing.assert_allclose(ppo._distribution.log_prob(outputs, steps.action), steps.log_prob, atol=1e-5)
    np.testing.assert_allclose(values, steps.value, atol=1e-5)
    np.testing.assert_allclose(memory, after.memory, atol=1e-5)
    act = jax.jit(lambda memory, obs: ppo.act(before.agent, memory, obs, KEY, greedy=True))
    for column in range(4):
        memory = before.memory[column]
        for time in range(8):
            memory = ppo.start_memory() if steps.start[time, column] else memory
            action, memory = act(memory, steps.obs[time, column])
            assert action == ppo._distribution.mode(outputs[time, column])
        np.testing.assert_allclose(memory, after.memory[column], atol=1e-5)


class Whole(Counter):
    """Takes an array of integers."""

    def action_space(self, params: Any) -> Any:
        return spaces.Box(0, 9, (2,), np.int32)


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (
            Counter(),
            {"torso": "conv"},
            r"torso = 'conv' needs observations \(height, width, channels\) of at least 3 x 3, Counter has",
        ),
        (Counter(), {"minibatches": 5}, r"minibatches must divide num_envs \* rollout_steps = 32, got 5"),
        (Counter(), {"memory": 8, "minibatches": 8}, "minibatches must divide num_envs = 4, got 8"),
        (Whole(), {}, "ppo needs actions of a Discrete, a MultiDiscrete or a float Box, Whole has Box"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        learner(env, **settings)


def mean_returns(ppo: PPO, seeds: int) -> np.ndarray:
    """The mean return of each seed over each tenth of its training, (seeds, 10)."""
    state = jax.jit(jax.vmap(ppo.init))(jax.random.split(KEY, seeds))
    run = jax.vmap(lambda state: jax.lax.scan(lambda x, _: ppo.update(x), state, length=ppo.num_updates))
    _, totals = jax.jit(run)(state)
    size = ppo.num_updates // 10 * 10
    returns, episodes = (
        np.asarray(x)[:, -size:].reshape(seeds, 10, -1).sum(-1) for x in (totals.returns, totals.episodes)
    )
    return returns / episodes


class Wide(Counter):
    """Takes two actions at once, and counts where they are the last of each."""

    action_names = ()

    def action_space(self, params: Any) -> Any:
        return spaces.MultiDiscrete([2, 3])

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        both = ((action[0] == 1) & (action[1] == 2)).astype(jnp.int32)
        return super().transition(state, both, draws, params)


@pytest.mark.slow
@pytest.mark.parametrize(("env", "total_steps"), [(Counter(), 16_000), (Wide(), 32_000)])
def test_discrete_actions_are_learned(env: Any, total_steps: int) -> None:
    """Counting in all three steps earns 1.5; at random it is half of that, or less."""
    params = env.default_params.replace(max_steps_in_episode=3)
    ppo = learner(env, params, total_steps=total_steps, num_envs=16, rollout_steps=16, learning_rate=0.01)
    assert (mean_returns(ppo, 2)[:, -1] > 1.4).all()


@pytest.mark.slow
def test_continuous_actions_are_learned() -> None:
    """The mass runs away, unless it is pushed back. Returns are negative: the cost must fall by a third."""
    env = Spring()
    params = env.default_params.replace(stiffness=-1.0, noise=0.0, start=0.5)
    ppo = learner(env, params, total_steps=80_000, num_envs=32, rollout_steps=32, discount=0.95, learning_rate=5e-3)
    found = mean_returns(ppo, 2)
    assert (found[:, -1] > 0.67 * found[:, 0]).all()


class Dark(Counter):
    """Shows nothing. Counting earns 1 in the third step, and costs 1 before it."""

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        reward = jnp.where(state.time == 2, 1.0, -1.0) * action
        return state, reward, False, {}

    def observe(self, state: Any, params: Any) -> Any:
        return jnp.zeros(self.goal + 1)


@pytest.mark.slow
def test_what_only_memory_can_tell_is_learned() -> None:
    """Without a memory nothing is better than to wait, which earns 0."""
    env = Dark()
    params = env.default_params.replace(max_steps_in_episode=3)
    ppo = learner(env, params, total_steps=16_000, num_envs=16, rollout_steps=16, learning_rate=0.01, memory=8)
    assert (mean_returns(ppo, 2)[:, -1] > 0.8).all()


@pytest.mark.slow
def test_cartpole_is_solved() -> None:
    env, params = envcore.make("CartPole-v1")
    config = PPOConfig(total_steps=300_000, learning_rate=1e-3)
    assert (mean_returns(PPO(env, params, config), 1)[:, -1] >= 475).all()
