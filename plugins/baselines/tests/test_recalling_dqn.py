"""Bootstrapped DQN with a memory: what it recalls, what it learns from, and that it plays from memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.wrappers import RunningStatistics
from envcore_baselines import bsuite
from envcore_baselines.errors import ConfigError
from envcore_baselines.recalling_dqn import Knowledge, RecallingDQN, RecallingDQNConfig
from envcore_bsuite.programs import Lane, Program, group
from toy import Counter, Spring

KEY = jax.random.key(0)
SMALL: dict[str, Any] = {
    "members": 3,
    "hidden": 4,
    "replay_capacity": 8,
    "min_replay_size": 4,
    "period": 2,
    "batch_size": 64,
    "bootstrap_steps": 2,
    "discount": 0.5,
}


class Step(NamedTuple):
    """What `update` reads of a step."""

    action: jax.Array
    reward: jax.Array
    done: jax.Array
    info: dict[str, jax.Array]


def learner(env: Any = None, **settings: Any) -> RecallingDQN:
    env = env or Counter()
    return RecallingDQN(env, env.default_params, RecallingDQNConfig(**{**SMALL, **settings}))


def played(agent: RecallingDQN, steps: int, ends: dict[int, float]) -> Knowledge:
    """After so many steps with rewards 1, 2, 3, ...; `ends` has the discount of each step that ends an episode."""
    knowledge, act, update = jax.jit(agent.init)(KEY), jax.jit(agent.act), jax.jit(agent.update)
    for number in range(steps):
        action, knowledge = act(knowledge, jnp.eye(4)[number % 4], KEY)
        info = {"step": jnp.int32(number), "discount": jnp.float32(ends.get(number, 1))}
        step = Step(action, jnp.float32(number + 1), jnp.bool_(number in ends), info)
        knowledge = update(knowledge, step, jax.random.fold_in(KEY, number))
    return knowledge


def test_it_recalls_the_first_observation_of_the_episode() -> None:
    knowledge = played(learner(), 7, {2: 0.0})
    seen, first = np.asarray(knowledge.replay.inputs[:7]).reshape(7, 2, 4).argmax(-1).T
    assert seen.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert first.tolist() == [0, 0, 0, 3, 3, 3, 3]


def test_rewards_are_divided_by_the_largest_mean_square_of_discounted_returns() -> None:
    knowledge = played(learner(), 5, {1: 0.0, 2: 0.0})
    returns = np.array([1 / 2 + 2, 3])
    assert knowledge.episodes == 2
    assert float(knowledge.square) == pytest.approx((returns**2).mean())
    assert float(knowledge.largest) == pytest.approx((returns**2).mean())
    assert float(knowledge.gain) == pytest.approx(4 / 2 + 5)
    assert float(played(learner(), 3, {0: 0.0, 2: 0.0}).largest) == pytest.approx((1 + (2 / 2 + 3) ** 2) / 2)


@pytest.mark.parametrize("steps", [7, 11])  # fewer than the buffer holds, and more
def test_it_learns_from_steps_that_others_follow(steps: int) -> None:
    agent = learner()
    knowledge = played(agent, steps, {4: 0.0, 8: 1.0})
    batch = jax.jit(agent._sample)(knowledge.replay, jnp.int32(steps), KEY)
    found = {
        (float(gain), float(discount), bool(whole), int(last.argmax()))
        for gain, discount, whole, last in zip(
            batch.gain, batch.discount, batch.is_whole, np.asarray(batch.last_inputs)[:, :4], strict=True
        )
    }
    expected = set[tuple[float, float, bool, int]]()
    for number in range(max(0, steps - 8), steps - 2):
        gain = number + 1 + (0 if number == 4 else (number + 2) / 2)
        discount = 0 if {number, number + 1} & {4} else 0.25
        expected.add((gain, discount, not {number, number + 1} & {8}, (number + 2) % 4))
    assert found == expected


def test_the_loss_is_that_of_the_targets() -> None:
    """Networks without weights have the value 0; the priors' weight is 0."""
    agent = learner(prior_scale=0.0)
    knowledge = played(agent, 6, {2: 0.0})
    nothing = jax.tree.map(jnp.zeros_like, knowledge.networks)
    knowledge = knowledge._replace(targets=nothing)
    batch = agent._sample(knowledge.replay, jnp.int32(6), KEY)
    scaled = np.asarray(batch.gain) / np.sqrt(float(knowledge.largest))
    assert float(agent._loss(nothing, knowledge, batch)) == pytest.approx(3 * (scaled**2).mean(), rel=1e-4)
    cut = batch._replace(is_whole=jnp.zeros_like(batch.is_whole))
    assert float(agent._loss(nothing, knowledge, cut)) == 0


def test_a_members_gradient_does_not_depend_on_the_others() -> None:
    agent = learner()
    knowledge = played(agent, 6, {2: 0.0})
    batch = agent._sample(knowledge.replay, jnp.int32(6), KEY)
    gradient = jax.jit(jax.grad(lambda networks: agent._loss(networks, knowledge, batch)))
    together = gradient(knowledge.networks)
    apart = gradient(jax.tree.map(lambda x: x.at[1:].multiply(3.0), knowledge.networks))
    for mine, theirs in zip(*map(jax.tree.leaves, (together, apart)), strict=True):
        np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-4, atol=1e-5)


def test_it_learns_in_every_second_step_once_enough_are_stored() -> None:
    assert [int(played(learner(), steps, {}).gradient_steps) for steps in (3, 4, 5, 6)] == [0, 1, 1, 2]


def test_at_first_one_member_acts_in_an_episode_later_more_often_the_mean() -> None:
    agent, keys = learner(exploration_steps=100), jax.random.split(KEY, 300)
    step = Step(jnp.int32(0), jnp.float32(0), jnp.bool_(True), {"step": jnp.int32(0), "discount": jnp.float32(0)})

    @jax.jit
    def drawn(count: float) -> jax.Array:
        knowledge = agent.init(KEY)
        seen = RunningStatistics(knowledge.statistics.mean, knowledge.statistics.var, jnp.float32(count))
        knowledge = knowledge._replace(statistics=seen)
        return jax.vmap(lambda key: agent.update(knowledge, step, key).active)(keys)

    for count, expected in ((0, [0, 100, 100, 100]), (200, [200, 33, 33, 33])):
        np.testing.assert_allclose(np.bincount(drawn(count) + 1, minlength=4), expected, atol=30)


def test_the_best_action_by_a_member_or_by_the_mean() -> None:
    agent = learner(prior_scale=0.0)
    knowledge, obs = played(agent, 3, {}), jnp.eye(4)[2]
    chosen = [int(agent.act(knowledge._replace(active=jnp.int32(active)), obs, KEY)[0]) for active in (-1, 0, 1, 2)]
    _, knowledge = agent.act(knowledge, obs, KEY)
    prior = jnp.zeros((1, 3, 2))
    values = np.asarray(agent._member_values(knowledge.networks, knowledge, knowledge.inputs[None], prior))[0]
    assert chosen == [int(each.argmax()) for each in (values.mean(0), *values)]


class Wide(Counter):
    """Shows ten thousand numbers."""

    def make_observation_space(self, params: Any) -> Any:
        return spaces.Box(-1.0, 1.0, (100, 100))


def test_large_observations_are_projected_to_few_numbers() -> None:
    agent = learner(Wide(), max_inputs=64)
    cells = jnp.zeros((3, 10_000)).at[jnp.arange(3), jnp.array([5, 77, 9_000])].set(1.0)
    seen = np.asarray(jax.jit(jax.vmap(agent._seen))(cells.reshape(3, 100, 100)))
    assert seen.shape == (3, 64)
    products = seen @ seen.T / 64
    np.testing.assert_allclose(products.diagonal(), 1, rtol=1e-4)
    assert np.abs(products - np.eye(3)).max() < 0.5


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (Spring(), {}, "observes a Box and takes actions of a Discrete, Spring has others"),
        (Counter(), {"min_replay_size": 2}, "min_replay_size must be more than bootstrap_steps .*, got 2"),
        (Counter(), {"min_replay_size": 9}, "and at most replay_capacity, got 9"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        learner(env, **settings)


@pytest.mark.slow
def test_it_learns_what_only_memory_can_tell() -> None:
    """A bit that was shown four steps before; guessing is right in half of the episodes."""
    (members,) = group([Lane("memory_len/3", 0)], {})
    program, nothing = Program(members, bsuite.recalling_dqn), np.zeros(1, np.int32)
    halfway, _ = program.advance(program.start(KEY), nothing, 10_000)
    before = int(halfway.env_state.total_perfect[0]), int(halfway.episode[0])
    end, _ = program.advance(halfway, nothing, 5_000)
    assert int(end.env_state.total_perfect[0]) - before[0] > 0.9 * (int(end.episode[0]) - before[1])
