"""PPO: what it collects and learns from, its network and distributions, what it refuses, and that it learns."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.rollout import RolloutState, Transition
from envcore.wrappers import FrameStack, RandomizeParams, Wrapper
from envcore_baselines import ppo as ppo_file
from envcore_baselines.ppo import PPO, ActorCritic, Agent, Categorical, Convolution, Normal, PPOConfig, State
from learning import Whole, mean_returns, replay, updated
from scipy import stats
from toy import Counter, Spring

KEY = jax.random.key(0)
SMALL = PPOConfig(total_steps=64, num_envs=4, rollout_steps=8, epochs=2, minibatches=2, hidden=(8,))


class Collected(NamedTuple):
    """What an update learns from, in the order in which it is collected."""

    obs: Any
    memory: Any
    action: Any
    log_prob: Any
    value: Any
    reward: Any
    done: Any
    terminated: Any
    returns: Any
    next_obs: Any


def learner(env: Any, params: Any = None, network: Any = None, **settings: Any) -> PPO:
    params = env.default_params if params is None else params
    return PPO(env, params, PPOConfig(**{**vars(SMALL), **settings}), network)


def update(ppo: PPO, state: Any) -> tuple[State, Any, Collected]:
    """The state after an update, its metrics, and what it learned from."""
    state, metrics, collected = updated(ppo, state)
    return state, metrics, Collected(*jax.tree.map(np.asarray, collected))


class Shown:
    """A network whose values are the observations' first numbers, plus a weight for each of their second numbers."""

    def init(self, key: jax.Array, obs: jax.Array) -> jax.Array:
        return jnp.zeros(32)

    def apply(self, weights: jax.Array, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.zeros((len(obs), 2)), obs[:, 0] + weights[obs[:, 1].astype(jnp.int32)]


@pytest.mark.parametrize("limit", [10, NO_TIME_LIMIT])
def test_advantages_are_the_discounted_sums_of_errors(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read off the gradient of the values. What a time limit cut is worth what it still would have earned."""
    rng = np.random.default_rng(0)
    value, final, reward = rng.normal(size=(3, 8, 4)).astype(np.float32)
    last, done = rng.normal(size=4).astype(np.float32), rng.random((8, 4)) < 0.3
    terminated = done & (rng.random((8, 4)) < 0.5) if limit == 10 else done
    next_value = np.where(done, final, np.vstack([value[1:], last]))
    index = np.arange(32, dtype=np.float32).reshape(8, 4)
    obs, next_obs = (np.stack([x, index], -1) for x in (value, next_value))
    params = Counter().default_params.replace(max_steps_in_episode=limit)
    settings: dict[str, Any] = {
        "discount": 0.9,
        "gae_lambda": 0.8,
        "epochs": 1,
        "minibatches": 1,
        "value_coefficient": 1.0,
    }
    ppo = learner(Counter(), params, network=Shown(), **settings)
    monkeypatch.setattr(ppo, "_optimizer", optax.sgd(1.0))
    info = {"terminated": terminated, "returned_episode_returns": reward}
    steps = Transition(None, obs, np.zeros((8, 4), np.int32), reward, next_obs, done, info)  # type: ignore[arg-type]
    monkeypatch.setattr(ppo, "_rollout", replay(steps))
    monkeypatch.setattr(ppo, "_batch", types.SimpleNamespace(observe=lambda state, params: state))
    agent, last_obs = Agent(jnp.zeros(32), None), np.stack([last, np.zeros(4)], -1)  # type: ignore[arg-type]
    state = State(agent, ppo._optimizer.init(agent.network), RolloutState(KEY, last_obs), KEY)
    found = 32 * np.asarray(jax.jit(ppo.update)(state)[0].agent.network).reshape(8, 4)
    for env in range(4):
        for time in range(8):
            expected, weight = 0.0, 1.0
            for later in range(time, 8):
                future = 0.9 * next_value[later, env] * (not terminated[later, env])
                expected += weight * (reward[later, env] + future - value[later, env])
                weight *= 0.9 * 0.8 * (not done[later, env])
            np.testing.assert_allclose(found[time, env], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("goal", "limit"), [(1, 1), (1, 10), (3, 1), (3, 10)])
def test_it_learns_from_what_the_environment_did(goal: int, limit: int) -> None:
    env = Counter(goal)
    params = env.default_params.replace(max_steps_in_episode=limit)
    ppo = learner(env, params)
    state = jax.jit(ppo.init)(KEY)
    after, totals, steps = update(ppo, state)
    last_obs = np.asarray(ppo._batch.observe(after.rollout.state, params))
    count, next_count = steps.obs.argmax(-1), steps.next_obs.argmax(-1)
    np.testing.assert_array_equal(next_count, count + steps.action)
    np.testing.assert_array_equal(steps.terminated, next_count == goal)
    np.testing.assert_array_equal(steps.reward, 0.5 * (steps.action == 1))
    assert (steps.done >= steps.terminated).all()
    assert (steps.done & ~steps.terminated).any() == (limit == 1)
    outputs, values, _ = jax.vmap(ppo._apply, (None, 0))(state.agent, steps.obs)
    log_probs = ppo._distribution.log_prob(outputs, steps.action)
    np.testing.assert_allclose(steps.log_prob, log_probs, rtol=1e-5)
    np.testing.assert_allclose(steps.value, values, rtol=1e-5, atol=1e-6)
    following = np.concatenate([steps.obs[1:], last_obs[None]])
    np.testing.assert_array_equal(following[~steps.done], steps.next_obs[~steps.done])
    assert (following[steps.done].argmax(-1) == 0).all()
    assert totals["episodes"] == steps.done.sum()


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0, 4])
def test_the_weight_of_the_entropy_falls_to_zero(memory: int) -> None:
    """The first gradient step is that of a constant weight, those after the planned ones are that of none."""
    env, params = Counter(), Counter().default_params

    def update(**settings: Any) -> Any:
        found = learner(env, params, epochs=1, minibatches=1, anneal=False, memory=memory, **settings)
        return jax.jit(found.init), jax.jit(lambda state: found.update(state)[0])

    init, annealed = update(entropy_coefficient=10.0, anneal_entropy=True)
    _, constant = update(entropy_coefficient=10.0)
    _, none = update(entropy_coefficient=0.0)
    first = init(KEY)
    last = annealed(annealed(first))
    for state, same, other in [(first, constant, none), (last, none, constant)]:
        chex.assert_trees_all_close(annealed(state).agent.network, same(state).agent.network, atol=1e-6)
        with pytest.raises(AssertionError):
            chex.assert_trees_all_close(annealed(state).agent.network, other(state).agent.network, atol=1e-6)


@pytest.mark.slow
def test_observations_are_normalized_by_what_was_seen() -> None:
    settings: dict[str, Any] = {"normalize_observations": True, "normalize_rewards": True}
    ppo = learner(Spring(), **settings)
    state = jax.jit(ppo.init)(KEY)
    seen, totals = [], None
    for _ in range(2):
        state, totals, steps = update(ppo, state)
        seen.append(steps.obs.reshape(-1, 2))
    values = np.concatenate(seen)
    np.testing.assert_allclose(state.agent.statistics.mean, values.mean(0), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(state.agent.statistics.var, values.var(0), rtol=1e-3)
    assert totals
    assert np.isfinite(float(totals["returns"]))


@pytest.mark.slow
def test_the_memory_holds_the_episode() -> None:
    """Acting step by step, and going through the rollout, find the memory and the values that were collected."""
    env = Counter()
    ppo = learner(env, env.default_params.replace(max_steps_in_episode=3), memory=5)
    state, _ = jax.jit(ppo.update)(jax.jit(ppo.init)(KEY))
    after, _, steps = update(ppo, state)
    assert steps.done[:-1].any()
    start = np.concatenate([np.zeros((1, 4), bool), steps.done[:-1]])
    assert not steps.memory[start].any()
    rows = steps.obs.reshape(32, -1), steps.memory[0], start
    outputs, values, memory = jax.jit(ppo._apply)(state.agent, *rows)
    np.testing.assert_allclose(values.reshape(8, 4), steps.value, atol=1e-5)
    np.testing.assert_allclose(np.where(steps.done[-1][:, None], 0, memory), after.rollout.memory, atol=1e-5)
    act = jax.jit(lambda memory, obs: ppo.act(state.agent, memory, obs, KEY, greedy=True))
    for column in range(4):
        memory = steps.memory[0, column]
        for time in range(8):
            memory = ppo.start_memory() if start[time, column] else memory
            np.testing.assert_allclose(memory, steps.memory[time, column], atol=1e-5)
            action, memory = act(memory, steps.obs[time, column])
            assert action == outputs.reshape(8, 4, -1)[time, column].argmax()


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("shared", [False, True])
def test_hidden_layers(activation: str, shared: bool) -> None:
    ppo = learner(Counter(), hidden=(5,), activation=activation, shared=shared)
    agent = jax.jit(ppo.init)(KEY).agent
    layers = [jax.tree.map(np.asarray, layer) for layer in agent.network["params"].values()]
    assert [layer["kernel"].shape for layer in layers] == [(4, 5)] * (1 if shared else 2) + [(5, 2), (5, 1)]
    obs = np.eye(4, dtype=np.float32)
    outputs, values, _ = ppo._apply(agent, obs)
    function = np.tanh if activation == "tanh" else lambda x: np.maximum(x, 0)
    hidden = [function(obs @ layer["kernel"] + layer["bias"]) for layer in layers[:-2]]
    for found, inputs, layer in ((outputs, hidden[0], layers[-2]), (values[..., None], hidden[-1], layers[-1])):
        np.testing.assert_allclose(found, inputs @ layer["kernel"] + layer["bias"], rtol=1e-5, atol=1e-6)


def test_a_convolution_is_xlas() -> None:
    images = jax.random.normal(KEY, (6, 6, 5, 4))
    module = Convolution(7)
    kernel = jax.random.normal(KEY, (4, 4, 4, 7))
    found: Any = module.apply({"params": {"kernel": kernel, "bias": jnp.arange(7.0)}}, images)
    dimensions, padding = ("NHWC", "HWIO", "NHWC"), ((0, 0), (0, 1))
    expected = jax.lax.conv_general_dilated(images, kernel, (2, 2), padding, dimension_numbers=dimensions)
    np.testing.assert_allclose(found, expected + jnp.arange(7.0), atol=1e-5)


def test_initial_weights_are_normal_numbers() -> None:
    network = ActorCritic(PPOConfig(torso="conv", hidden=(50,)), 100, 0)
    weights: Any = network.init(KEY, jnp.zeros((1, 10, 10, 40)))["params"]
    sizes = {"Convolution_0": (640, 1.0), "Dense_0": (256, 1.0), "Dense_1": (50, 0.01), "Dense_2": (50, 1.0)}
    assert weights.keys() == sizes.keys()
    for name, (fan_in, scale) in sizes.items():
        kernel = np.asarray(weights[name]["kernel"]).reshape(fan_in, -1) * np.sqrt(fan_in) / scale
        assert not weights[name]["bias"].any()
        if kernel.size > 1000:
            np.testing.assert_allclose([kernel.mean(), kernel.std()], [0, 1], atol=0.05)
            assert stats.kstest(kernel.reshape(-1), stats.norm.cdf).pvalue > 1e-3
    others: Any = network.init(jax.random.key(1), jnp.zeros((1, 10, 10, 40)))["params"]
    assert np.corrcoef(weights["Dense_0"]["kernel"].ravel(), others["Dense_0"]["kernel"].ravel())[0, 1] < 0.1


def test_discrete_actions() -> None:
    logits = jnp.array([[0.0, 1.0, -2.0], [3.0, 3.0, 3.0]])
    distribution = Categorical(spaces.Discrete(3))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(distribution.log_prob(logits, jnp.array([2, 1])), np.log(probabilities[[0, 1], [2, 1]]))
    np.testing.assert_allclose(distribution.entropy(logits), stats.entropy(probabilities, axis=-1), rtol=1e-6)
    many = jax.vmap(lambda key: distribution.sample(logits, key))(jax.random.split(KEY, 4000))
    np.testing.assert_allclose((many[..., None] == jnp.arange(3)).mean(0), probabilities, atol=0.03)
    assert distribution.mode(logits)[0] == 1
    assert many.dtype == distribution.mode(logits).dtype == jnp.int32


def test_continuous_actions() -> None:
    """Means and deviations are in units in which the bounds are -1 and 1."""
    distribution = Normal(spaces.Box(np.array([-2, 0], np.float32), np.array([2, 10], np.float32)))
    outputs = jnp.array([[0.3, -0.2, 0.1, -1.0]])
    mean, std = np.array([0.6, 4.0]), np.exp([0.1, -1.0]) * [2, 5]
    action = jnp.array([[0.5, -3.0]])
    scale = np.log([2, 5]).sum()
    expected = stats.norm.logpdf(action[0], mean, std).sum() + scale
    np.testing.assert_allclose(distribution.log_prob(outputs, action)[0], expected, rtol=1e-5)
    expected = stats.norm.entropy(mean, std).sum() - scale
    np.testing.assert_allclose(distribution.entropy(outputs)[0], expected, rtol=1e-5)
    many = jax.vmap(lambda key: distribution.sample(outputs, key)[0])(jax.random.split(KEY, 4000))
    np.testing.assert_allclose(many.mean(0), mean, atol=0.2)
    np.testing.assert_allclose(many.std(0), std, rtol=0.05)
    np.testing.assert_allclose(distribution.mode(outputs)[0], mean, rtol=1e-6)
    unbounded = Normal(spaces.Box(np.array([0.0], np.float32), np.array([np.inf], np.float32)))
    np.testing.assert_allclose(unbounded.mode(jnp.array([[-3.0, 0.0], [5.0, 0.0]])), [[-3.0], [5.0]])


def test_actions_are_within_the_bounds() -> None:
    env = Spring()
    space: Any = env.action_space(env.default_params)
    ppo = learner(env)
    agent = jax.jit(ppo.init)(KEY).agent
    large = jax.tree.map(lambda x: 100 * jnp.ones_like(x), agent.network)
    obs, _ = ppo.env.reset(KEY)
    for greedy in (False, True):
        action, _ = ppo.act(Agent(large, agent.statistics), (), obs, KEY, greedy)
        assert space.contains(action)


class Cut(Wrapper):
    """Truncates each episode after two steps, by itself."""

    def advance(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        outcome = super().advance(state, action, draws, params)
        return outcome._replace(truncated=outcome.truncated | (outcome.state.time >= 2))

    def may_truncate(self, params: Any) -> bool:
        return True


def drawn_limit(key: jax.Array, params: Any) -> Any:
    return params.replace(max_steps_in_episode=jax.random.randint(key, (), 2, 9))


@pytest.mark.parametrize(
    ("env", "may_truncate"),
    [
        (Counter(), False),
        (FrameStack(Counter(), 2), False),
        (Cut(Counter()), True),
        (FrameStack(Cut(Counter()), 2), True),
        (RandomizeParams(Counter(), drawn_limit), True),
    ],
)
def test_where_episodes_may_be_cut_their_last_observations_count(env: Any, may_truncate: bool) -> None:
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    ppo = learner(env, params)
    *_, steps = update(ppo, jax.jit(ppo.init)(KEY))
    assert (steps.next_obs is not None) == may_truncate
    if may_truncate:
        assert (steps.done & ~steps.terminated).any()


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (
            Counter(),
            {"torso": "conv"},
            r"torso = 'conv' needs observations \(height, width, channels\) of at least 3 x 3, but Counter has",
        ),
        (Counter(), {"minibatches": 5}, r"minibatches must divide num_envs \* rollout_steps = 32, got 5"),
        (Counter(), {"memory": 3, "minibatches": 8}, "minibatches must divide num_envs = 4, got 8"),
        (Whole(), {}, "the action space must be a Discrete or a float Box, but Whole has Box"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)


@pytest.mark.parametrize(
    ("name", "env_id", "steps"),
    [
        pytest.param("ppo", "Catch-bsuite", 20_480, marks=pytest.mark.slow),
        pytest.param("dqn", "Catch-bsuite", 10_000, marks=pytest.mark.slow),
        pytest.param("pqn", "Catch-bsuite", 20_480, marks=pytest.mark.slow),
        pytest.param("sac", "Pendulum-v1", 6_144, marks=pytest.mark.slow),
        pytest.param("es", "CartPole-v1", 200_000, marks=pytest.mark.slow),
    ],
)
def test_a_copy_of_the_file_trains(name: str, env_id: str, steps: int, tmp_path: Path) -> None:
    source = Path(ppo_file.__file__).parent / f"{name}.py"
    (tmp_path / "copied.py").write_text(source.read_text())
    shared = re.findall(r"^(?:from|import) envcore_(\S+)", source.read_text(), flags=re.MULTILINE)
    ours = ("dqn", "learner", "ppo", "settings")
    assert {f"baselines.{each}" for each in ours}.issuperset(shared)
    command = [sys.executable, "copied.py", env_id, str(steps)]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert re.search(r"^[\d,]+ steps: return -?\d", found.stdout, re.MULTILINE)


@pytest.mark.slow
def test_discrete_actions_are_learned() -> None:
    """Counting in all three steps earns 1.5; at random it is half of that."""
    params = Counter().default_params.replace(max_steps_in_episode=3)
    ppo = learner(Counter(), params, total_steps=16_000, num_envs=16, rollout_steps=16, learning_rate=0.01)
    assert (mean_returns(ppo, 2)[:, -1] > 1.4).all()


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
    params = Dark().default_params.replace(max_steps_in_episode=3)
    settings: dict[str, Any] = {"total_steps": 16_000, "num_envs": 16, "rollout_steps": 16, "learning_rate": 0.01}
    assert (mean_returns(learner(Dark(), params, memory=16, **settings), 2)[:, -1] > 0.8).all()
