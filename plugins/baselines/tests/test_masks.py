"""Agents choose among legal actions, and learn what those are worth."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import envcore_baselines
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import rollout, spaces
from envcore.errors import InvalidArgumentError
from envcore.wrappers import ActionMaskObservation
from envcore_baselines import algorithms
from envcore_baselines.bootstrapped_dqn import BootstrappedDQNConfig
from envcore_baselines.dqn import DQNConfig, Transition
from envcore_baselines.es import ESConfig
from envcore_baselines.learner import as_observed, masked, observed, with_masks
from envcore_baselines.ppo import Categorical, PPOConfig
from envcore_baselines.pqn import PQN, PQNConfig
from envcore_baselines.trained import TrainedAgent, episode_returns
from learning import replay
from toy import Counter, Deck

KEY = jax.random.key(0)


@dataclasses.dataclass(frozen=True)
class Stairs(Counter):
    """The counter with a third action, which is never legal, and with a fourth, which is so on odd counts only.

    Both end the episode, for -100 where they are illegal.
    """

    def action_space(self, params: Any) -> Any:
        return spaces.Discrete(4)

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        return jnp.stack([True, True, False, state.count % 2 == 1])

    def transition(self, state: Any, action: jax.Array, draws: jax.Array, params: Any) -> tuple[Any, ...]:
        is_legal = self.action_mask(state, params)[action]
        state, reward, terminated, info = super().transition(state, jnp.minimum(action, 1), draws, params)
        return state, jnp.where(is_legal, reward, -100.0), terminated | (action >= 2), info


@dataclasses.dataclass(frozen=True)
class Pairs(Counter):
    """The counter with another number before the action. What a mask forbids ends the episode, for -100."""

    joint: bool = False

    def action_space(self, params: Any) -> Any:
        return spaces.MultiDiscrete([3, 2])

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        """Of combinations, or a row for each number; the last column says nothing of the second number."""
        is_odd = state.count % 2 == 1
        if self.joint:
            return jnp.array([[True, False], [False, True], [False, False]]).at[2, 1].set(is_odd)
        return jnp.array([[False, True, False], [True, True, True]]).at[0, 2].set(is_odd)

    def transition(self, state: Any, action: jax.Array, draws: jax.Array, params: Any) -> tuple[Any, ...]:
        mask = self.action_mask(state, params)
        is_legal = mask[action[0], action[1]] if self.joint else mask[0, action[0]]
        state, reward, terminated, info = super().transition(state, action[1], draws, params)
        return state, jnp.where(is_legal, reward, -100.0), terminated | ~is_legal, info


DQN_SETTINGS: dict[str, Any] = {"min_replay_size": 8, "batch_size": 8, "replay_capacity": 64, "hidden": (8,)}
CONFIGS: dict[str, Any] = {
    "ppo": PPOConfig(num_envs=8, rollout_steps=16, hidden=(8,), memory=4, normalize_observations=True),
    "es": ESConfig(population_size=8, episodes=2, hidden=(8,), normalize_observations=True),
    "dqn": DQNConfig(epsilon=0.5, num_envs=8, **DQN_SETTINGS),
    "pqn": PQNConfig(num_envs=8, rollout_steps=16, hidden=(8,), epsilon=0.5),
    "bootstrapped_dqn": BootstrappedDQNConfig(epsilon=0.5, num_envs=8, members=3, **DQN_SETTINGS),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "env"),
    [
        *((name, Stairs()) for name in CONFIGS),
        *((name, Pairs(joint=joint)) for name in ("ppo", "es") for joint in (False, True)),
    ],
)
def test_only_legal_actions_are_taken(name: str, env: Any) -> None:
    learner: Any = algorithms.learner(name, env, env.default_params, CONFIGS[name])
    state, totals = jax.jit(lambda key: jax.lax.scan(lambda state, _: learner.update(state), key, length=20))(
        jax.jit(learner.init)(KEY)
    )
    assert totals["episodes"].sum() > 0
    assert (totals["returns"] >= 0).all()
    returns, _ = episode_returns(learner, env.default_params, state.agent, KEY, 100, False)
    assert (returns >= 0).all()


def test_probabilities_are_those_of_legal_actions() -> None:
    logits, mask = jnp.array([[1.0, 2.0, 5.0], [1.0, 2.0, 5.0]]), jnp.array([[True, True, False], [False] * 3])
    distribution = Categorical(spaces.Discrete(3))
    found = distribution.masked(logits, mask)
    odds = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    np.testing.assert_allclose(distribution.log_prob(found[:1], jnp.array([1])), np.log(odds[1:]), rtol=1e-5)
    np.testing.assert_allclose(distribution.entropy(found[:1]), [-(odds * np.log(odds)).sum()], rtol=1e-5)
    gradient = jax.grad(lambda x: distribution.entropy(distribution.masked(x, mask)).sum())(logits)
    assert gradient[0, 2] == 0
    assert np.isfinite(np.asarray(gradient)).all()
    np.testing.assert_array_equal(found[1], logits[1])  # none is legal
    np.testing.assert_array_equal(masked(logits, mask), found)
    assert masked(logits, None) is logits


@pytest.mark.parametrize("name", ["dqn", "bootstrapped_dqn"])
def test_the_value_of_what_comes_next_is_that_of_a_legal_action(name: str) -> None:
    """Targets do not contain the values of illegal actions, however large."""
    env = Stairs()
    learner: Any = algorithms.learner(name, env, env.default_params, CONFIGS[name])
    agent_state = jax.jit(learner.start)(KEY)
    obs = {"observation": jnp.eye(4)[:1], "action_mask": jnp.array([[True, True, False, False]])}

    @jax.jit
    def loss(bias: jax.Array) -> jax.Array:
        """With a target network whose last bias is this one."""
        layers = agent_state.target["params"]
        last = {**layers["Dense_1"], "bias": jnp.broadcast_to(bias, layers["Dense_1"]["bias"].shape)}
        target = {"params": {**layers, "Dense_1": last}}
        transition = Transition(obs, jnp.array([0]), jnp.zeros(1), jnp.ones(1), obs)
        before = agent_state._replace(target=target)
        after = learner.record(before, transition, jnp.zeros(1, bool), jnp.int32(0), KEY)
        batch = jax.tree.map(lambda x: x[:1], after.replay)
        return learner._loss(agent_state.network, after, batch)

    assert loss(jnp.array([0.0, 0, 50, 50])) == loss(jnp.zeros(4))
    assert loss(jnp.array([0.0, 50, 0, 0])) > loss(jnp.zeros(4))


def test_targets_over_several_steps_are_those_of_legal_actions() -> None:
    env, row = Stairs(), jnp.zeros((1, 1))
    obs = {"observation": jnp.eye(4)[None, :1], "action_mask": jnp.array([[[True, True, False, False]]])}
    info = {"terminated": row > 0, "returned_episode_returns": row}
    steps = rollout.Transition(None, obs, jnp.zeros((1, 1), jnp.int32), row, obs, row > 0, info)
    config = PQNConfig(num_envs=1, rollout_steps=1, epochs=1, minibatches=1, hidden=(8,))
    learner = PQN(with_masks(env, env.default_params), env.default_params, config, rollout=replay(steps))
    state = jax.jit(learner.init)(KEY)
    layers = state.network["params"]

    @jax.jit
    def error(bias: jax.Array) -> jax.Array:
        """Of the first action's value, with a network whose last bias is this one."""
        network = {"params": {**layers, "Dense_1": {**layers["Dense_1"], "bias": bias}}}
        return jnp.sqrt(2 * learner.update(state._replace(network=network))[1]["loss"])

    assert error(jnp.array([0.0, 0, 50, 50])) == error(jnp.zeros(4))
    assert error(jnp.array([0.0, 50, 0, 0])) > error(jnp.zeros(4)) + 40


@dataclasses.dataclass(frozen=True)
class Cards(Deck):
    """The deck, whose first card is never legal."""

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        return jnp.arange(self.size) > 0


def test_what_is_observed() -> None:
    learner_env, env = observed(Cards(), None), with_masks(Cards(), None)
    obs, _ = learner_env.reset(KEY)
    assert jax.tree.map(jnp.shape, obs) == {"action_mask": (6,), "observation": (7,)}
    jax.tree.map(np.testing.assert_array_equal, as_observed(learner_env, env.reset(KEY)[0], None), obs)
    assert observed(env, None) == learner_env  # which others have put masks around
    assert with_masks(env, None) == env
    assert isinstance(with_masks(Pairs(), None), ActionMaskObservation)
    assert with_masks(Counter(), None) == Counter()  # has none


@pytest.mark.slow
def test_a_trained_agent_reads_the_masks_of_its_environment(tmp_path: Path) -> None:
    env = Stairs()
    settings: dict[str, Any] = {"total_steps": 64, "num_envs": 4, "rollout_steps": 8, "hidden": (8,)}
    (agent,) = envcore_baselines.train("ppo", env, **settings).agents
    path = tmp_path / "agent.safetensors"
    agent.save(path)
    for each in (agent, *(TrainedAgent.of_file(path, each, env.default_params) for each in (env, agent.env))):
        obs, _ = each.env.reset(KEY)
        for legal in range(4):
            obs["action_mask"] = jnp.arange(4) == legal
            assert each.policy(None, obs, KEY) == legal
    with pytest.raises(InvalidArgumentError, match="needs action masks: observe with its `env`"):
        agent.policy(None, env.reset(KEY)[0], KEY)
