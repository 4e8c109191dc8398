"""Bootstrapped DQN: its members, their priors and masks, and that it explores where DQN does not."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_baselines.bootstrapped_dqn import BootstrappedDQN, BootstrappedDQNConfig, EnsembleState
from envcore_baselines.dqn import DQN, DQNConfig, Transition
from toy import Counter

KEY = jax.random.key(0)
SMALL: dict[str, Any] = {
    "num_envs": 4,
    "replay_capacity": 16,
    "min_replay_size": 4,
    "batch_size": 8,
    "hidden": (8,),
    "members": 3,
}


def learner(env: Any, **settings: Any) -> BootstrappedDQN:
    return BootstrappedDQN(env, env.default_params, BootstrappedDQNConfig(**{**SMALL, **settings}))


@pytest.fixture(scope="module")
def small() -> BootstrappedDQN:
    return learner(Counter(), prior_scale=2.0)


@pytest.fixture(scope="module")
def agent_state(small: BootstrappedDQN) -> EnsembleState:
    """Before the first step."""
    return jax.jit(small.start)(KEY)


def batch(done: Any) -> tuple[Transition, jax.Array]:
    """A step of each of the four environments."""
    obs = jnp.eye(4)
    done = jnp.asarray(done)
    return Transition(obs, jnp.array([0, 1, 0, 1]), jnp.ones(4), 1.0 - done, obs[::-1]), done


def test_values_are_the_learned_ones_and_the_priors(small: BootstrappedDQN, agent_state: EnsembleState) -> None:
    obs = jnp.eye(4)
    learned, prior = ([*jax.tree.leaves(jax.tree.map(lambda x: x[1], tree))] for tree in agent_state.agent)

    def network(leaves: Any) -> np.ndarray:
        bias, kernel, last_bias, last_kernel = map(np.asarray, leaves)
        return np.maximum(obs @ kernel + bias, 0) @ last_kernel + last_bias

    values = jax.jit(small._values)(agent_state.agent, obs)[1]
    np.testing.assert_allclose(values, network(learned) + 2 * network(prior), rtol=1e-5, atol=1e-6)
    transitions, done = batch([False] * 4)
    stored = jax.jit(small.record)(agent_state, transitions, done, jnp.int32(0), KEY).replay
    np.testing.assert_allclose(stored.prior[:4, 1], 2 * network(prior), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(stored.next_prior[:4, 1], 2 * network(prior)[::-1], rtol=1e-5, atol=1e-6)


def test_a_member_acts_for_a_whole_episode(small: BootstrappedDQN, agent_state: EnsembleState) -> None:
    transitions, done = batch([False, True, False, True])
    agent_state = agent_state._replace(active=jnp.array([2, 0, 1, 0]))
    keys = jax.random.split(KEY, 20)
    record = jax.vmap(lambda key: small.record(agent_state, transitions, done, jnp.int32(0), key).active)
    drawn = np.asarray(jax.jit(record)(keys))
    assert (drawn[:, [0, 2]] == [2, 1]).all()
    assert set(drawn[:, 1]) == set(drawn[:, 3]) == {0, 1, 2}
    values = jax.jit(small._values)(agent_state.agent, transitions.obs)
    expected = [int(values[member, number].argmax()) for number, member in enumerate([2, 0, 1, 0])]
    assert jax.jit(small.explore)(agent_state, transitions.obs, KEY).tolist() == expected


def test_members_learn_from_their_part_of_the_transitions() -> None:
    agent = learner(Counter(), members=200, mask_probability=0.5, batch_size=64)
    transitions, done = batch([False] * 4)

    @jax.jit
    def run() -> tuple[Any, Any]:
        agent_state = agent.record(agent.start(KEY), transitions, done, jnp.int32(0), KEY)
        return agent_state, agent.learn(agent_state, jnp.int32(1), KEY)[0]

    before, after = run()
    mask = before.replay.mask[:4]
    assert abs(mask.mean() - 0.5) < 0.1
    is_changed = (before.network["params"]["Dense_1"]["bias"] != after.network["params"]["Dense_1"]["bias"]).any(1)
    np.testing.assert_array_equal(is_changed, mask.any(0))  # some members learn from none of them
    for mine, theirs in zip(*map(jax.tree.leaves, (before.prior, after.prior)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_members_gradient_does_not_depend_on_the_others(small: BootstrappedDQN, agent_state: EnsembleState) -> None:
    transitions, done = batch([False, True, False, False])

    @jax.jit
    def gradient(network: Any) -> Any:
        stored = small.record(agent_state, transitions, done, jnp.int32(0), KEY).replay
        return jax.grad(small._loss)(network, agent_state, jax.tree.map(lambda x: x[:4], stored))

    together = gradient(agent_state.network)
    apart = gradient(jax.tree.map(lambda x: x.at[1:].multiply(3.0), agent_state.network))
    for mine, theirs in zip(*map(jax.tree.leaves, (together, apart)), strict=True):
        np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-5, atol=1e-6)
        assert np.abs(mine[1:] - theirs[1:]).max() > 1e-3


def test_the_greedy_action_is_the_best_one_by_the_mean(small: BootstrappedDQN, agent_state: EnsembleState) -> None:
    values = np.asarray(jax.jit(small._values)(agent_state.agent, jnp.eye(4)))
    act = jax.vmap(small.act, (None, None, 0, None, None))
    actions, _ = jax.jit(lambda obs: act(agent_state.agent, small.start_memory(), obs, KEY, True))(jnp.eye(4))
    np.testing.assert_array_equal(actions, values.mean(0).argmax(-1))


def test_an_episode_is_played_by_one_member(small: BootstrappedDQN, agent_state: EnsembleState) -> None:
    values = np.asarray(jax.jit(small._values)(agent_state.agent, jnp.eye(4)))
    act = jax.jit(jax.vmap(lambda memory, key: small.act(agent_state.agent, memory, jnp.eye(4)[2], key)))
    keys = jax.random.split(KEY, 30)
    actions, members = act(jnp.broadcast_to(small.start_memory(), 30), keys)
    assert set(members.tolist()) == {0, 1, 2}
    np.testing.assert_array_equal(actions, values[members, 2].argmax(-1))
    np.testing.assert_array_equal(act(members, keys[::-1])[1], members)


def solved(dqn: DQN) -> bool:
    """Whether it finds the treasure in most of its last hundred episodes in Deep Sea of size 8."""
    state = jax.jit(dqn.init)(KEY)
    _, totals = jax.jit(lambda state: jax.lax.scan(lambda x, _: dqn.update(x), state, length=dqn.num_updates))(state)
    returns = np.asarray(totals["returns"])[np.asarray(totals["episodes"]) > 0]
    return (returns[-100:] > 0.9).mean() > 0.5


@pytest.mark.slow
def test_it_explores_where_dqn_does_not() -> None:
    """Acting at random finds the treasure once in 256 episodes."""
    env, params = envcore.make("DeepSea-bsuite", size=8)
    settings: Any = {"total_steps": 4000, "batch_size": 32, "min_replay_size": 32, "hidden": (32,)}
    assert solved(BootstrappedDQN(env, params, BootstrappedDQNConfig(members=10, **settings)))
    assert not solved(DQN(env, params, DQNConfig(**settings)))
