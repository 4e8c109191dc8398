"""DQN that counts: what it recalls, what it learns from, how it explores, and that it solves what needs these."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore_baselines import bsuite
from envcore_baselines.bsuite import visits as places
from envcore_baselines.bsuite.counting_dqn import CountingDQN, CountingDQNConfig, CountingDQNState
from envcore_baselines.errors import ConfigError
from envcore_bsuite.programs import Lane, Program, group
from toy import Counter, Spring

KEY = jax.random.key(0)
SMALL: dict[str, Any] = {
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


def learner(env: Any = None, **settings: Any) -> CountingDQN:
    env = env or Counter()
    return CountingDQN(env, env.default_params, CountingDQNConfig(**{**SMALL, **settings}))


def played(agent: CountingDQN, steps: int, ends: dict[int, float]) -> CountingDQNState:
    """After so many steps with rewards 1, 2, 3, ...; `ends` has the discount of each step that ends an episode."""
    agent_state, act, update = jax.jit(agent.init)(KEY), jax.jit(agent.act), jax.jit(agent.update)
    for number in range(steps):
        action, agent_state = act(agent_state, jnp.eye(4)[number % 4], KEY)
        info = {"step": jnp.int32(number), "discount": jnp.float32(ends.get(number, 1))}
        step = Step(action, jnp.float32(number + 1), jnp.bool_(number in ends), info)
        agent_state = update(agent_state, step, jax.random.fold_in(KEY, number))
    return agent_state


@pytest.mark.slow
def test_it_recalls_the_first_observation_of_the_episode() -> None:
    agent_state = played(learner(), 7, {2: 0.0})
    inputs = np.asarray(agent_state.replay.inputs[:7])
    seen, first = inputs[:, :8].reshape(7, 2, 4).argmax(-1).T
    assert seen.tolist() == [0, 1, 2, 3, 0, 1, 2]
    assert first.tolist() == [0, 0, 0, 3, 3, 3, 3]
    assert inputs[:, 8].tolist() == [1, 0, 0, 1, 0, 0, 0]


@pytest.mark.slow
def test_rewards_are_divided_by_the_largest_mean_square_of_returns() -> None:
    agent_state = played(learner(), 5, {1: 0.0, 2: 0.0})
    assert agent_state.episodes == 2
    assert float(agent_state.square) == float(agent_state.largest) == pytest.approx((3**2 + 3**2) / 2)
    assert float(agent_state.gain) == pytest.approx(4 + 5)
    assert float(played(learner(), 6, {2: 0.0, 3: 0.0, 5: 0.0}).largest) == pytest.approx((6**2 + 4**2 + 11**2) / 3)
    falling = played(learner(), 6, {4: 0.0, 5: 0.0})
    assert float(falling.square) == pytest.approx((15**2 + 6**2) / 2)
    assert float(falling.largest) == 15**2


@pytest.mark.parametrize(
    "steps", [pytest.param(7, marks=pytest.mark.slow), 11]
)  # fewer than the buffer holds, and more
def test_it_learns_from_steps_that_others_follow(steps: int) -> None:
    agent = learner()
    agent_state = played(agent, steps, {4: 0.0, 8: 1.0})
    batch = jax.jit(agent._sample)(agent_state, jnp.int32(steps), KEY)
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


@pytest.mark.slow
def test_it_learns_from_the_returns_of_episodes_that_terminated() -> None:
    """Rewards are 1, 2, ...; the second episode is cut by a time limit, the third goes on."""
    agent = learner(replay_capacity=16, return_episodes=2)
    batch = jax.jit(agent._sample)(played(agent, 9, {2: 0.0, 5: 1.0}), jnp.int32(9), KEY)
    found = {
        (float(gain), float(rest))
        for gain, rest, share in zip(batch.gain, batch.rest, batch.share, strict=True)
        if share
    }
    assert found == {(1 + 2 / 2, 6), (2 + 3 / 2, 5), (3, 3)}
    assert set(np.asarray(batch.share).tolist()) == {0, 2 / (2 + 2)}


@pytest.mark.slow
def test_bonuses_fall_with_the_visits_and_with_the_length_of_episodes() -> None:
    agent = learner(bonus=6.0, bonus_steps=2, bootstrap_steps=1)
    agent_state = played(agent, 8, {3: 0.0, 7: 0.0})
    row = agent_state.replay
    counts = np.asarray(places.counts(agent_state.visits, row.cell))[np.arange(8), np.asarray(row.action)]
    batch = agent._sample(agent_state, jnp.int32(8), KEY)
    expected = {round(6 * 2 / 4 / (1 + each), 4) for each in counts[:7]}
    assert set(np.round(np.asarray(batch.bonus), 4).tolist()) == expected


@pytest.mark.slow
def test_the_loss_is_that_of_the_targets() -> None:
    """A network without weights has the value 0."""
    agent = learner(optimism=0.0)
    agent_state = played(agent, 6, {2: 0.0})
    nothing = jax.tree.map(jnp.zeros_like, agent_state.learned.network)
    agent_state = agent_state._replace(learned=agent_state.learned._replace(target=nothing))
    batch = agent._sample(agent_state, jnp.int32(6), KEY)
    target = ((1 - batch.share) * batch.gain + batch.share * batch.rest) / np.sqrt(float(agent_state.largest))
    expected = float((target**2 + batch.bonus**2).mean())
    assert float(agent._loss(nothing, agent_state, batch)) == pytest.approx(expected, rel=1e-4)
    cut = batch._replace(is_whole=jnp.zeros_like(batch.is_whole))
    assert float(agent._loss(nothing, agent_state, cut)) == 0


@pytest.mark.slow
def test_it_learns_in_every_second_step_once_enough_are_stored() -> None:
    learned = [played(learner(), steps, {}).learned for steps in (3, 4, 5, 6)]
    assert [int(each.gradient_steps) for each in learned] == [0, 1, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("taken", [0, 1])
def test_it_takes_what_was_never_taken_where_it_has_been(taken: int) -> None:
    agent = learner(optimism=100.0, epsilon=0.0)
    _, agent_state = agent.act(played(agent, 6, {}), jnp.eye(4)[2], KEY)
    counts = agent_state.visits.counts.at[agent_state.cell].set(jnp.eye(2)[taken] * 5)
    agent_state = agent_state._replace(visits=agent_state.visits._replace(counts=counts))
    assert int(agent.act(agent_state, jnp.eye(4)[2], KEY)[0]) == 1 - taken
    values, _ = agent._values(agent_state.learned.network, agent_state, agent_state.inputs[None])
    plain = agent_state._replace(explores=jnp.bool_(False))
    assert int(agent.act(plain, jnp.eye(4)[2], KEY)[0]) == int(values[0].argmax())


@pytest.mark.slow
def test_it_explores_more_as_long_as_the_other_episodes_earn_nothing() -> None:
    agent = learner(exploration=0.75, late_exploration=0.1, earning_episodes=2)
    keys, agent_state = jax.random.split(KEY, 400), agent.init(KEY)

    def ended(agent_state: CountingDQNState, gain: float, explores: bool) -> tuple[CountingDQNState, float]:
        agent_state = agent_state._replace(explores=jnp.bool_(explores))
        after = jax.vmap(lambda key: agent._with_next_mode(agent_state, jnp.bool_(True), jnp.float32(gain), key))(keys)
        return jax.tree.map(lambda x: x[0], after), float(after.explores.mean())

    shares = []
    for gain, explores in ((5.0, True), (-1.0, False), (2.0, False), (-2.0, False)):
        agent_state, share = ended(agent_state, gain, explores)
        shares.append((round(float(agent_state.earned), 3), share))
    assert [earned for earned, _ in shares] == [0, -1, 0.5, -0.75]
    np.testing.assert_allclose([share for _, share in shares], [0.75, 0.75, 0.1, 0.75], atol=0.06)
    within = agent._with_next_mode(agent_state, jnp.bool_(False), jnp.float32(9), KEY)
    assert float(within.earned) == -0.75
    assert bool(within.explores) == bool(agent_state.explores)


@pytest.mark.slow
def test_where_nothing_recurs_counts_do_not_matter() -> None:
    agent = learner(optimism=100.0, epsilon=0.0)
    agent_state = played(agent, 6, {})
    visits = agent_state.visits._replace(surprises=agent_state.visits.total + 1)  # act adds a visit that recurs
    agent_state = agent_state._replace(visits=visits)
    obs = jnp.eye(4)[2]
    action, after = agent.act(agent_state, obs, KEY)
    values, _ = agent._values(after.learned.network, after, after.inputs[None])
    assert float(after.visits.recurrence) == 0
    assert int(action) == int(values[0].argmax())


@pytest.mark.slow
def test_random_actions_become_fewer() -> None:
    agent, keys = learner(epsilon=1.0, epsilon_steps=100, optimism=0.0), jax.random.split(KEY, 400)
    agent_state, obs = played(agent, 6, {}), jnp.eye(4)[2]
    best = None
    for total, expected in ((1e9, 0), (100, 0.25), (0, 0.5)):  # half of the random actions are the best one
        visits = agent_state.visits._replace(total=jnp.float32(total), surprises=jnp.float32(total + 1))
        actions = jax.vmap(lambda key, visits=visits: agent.act(agent_state._replace(visits=visits), obs, key)[0])(keys)
        best = int(actions[0]) if best is None else best
        assert float((actions != best).mean()) == pytest.approx(expected, abs=0.08)


class Wide(Counter):
    """Shows ten thousand numbers."""

    def observation_space(self, params: Any) -> Any:
        return spaces.Box(-1.0, 1.0, (100, 100))


def test_large_observations_are_projected_to_few_numbers() -> None:
    agent = learner(Wide(), max_inputs=64)
    cells = jnp.zeros((3, 10_000)).at[jnp.arange(3), jnp.array([5, 77, 9_000])].set(1.0)
    seen = np.asarray(jax.jit(jax.vmap(agent._projected))(cells))
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


def solved(bsuite_id: str, steps: int, column: str) -> float:
    """The share of the episodes in the second half of so many steps that add 1 to a column of bsuite's log."""
    (members,) = group([Lane(bsuite_id, 0)], {})
    program, nothing = Program(members, bsuite.counting_dqn), np.zeros(1, np.int32)
    halfway, _ = program.advance(program.start(KEY), nothing, steps // 2)
    before = int(getattr(halfway.env_state, column)[0]), int(halfway.episode[0])
    end, _ = program.advance(halfway, nothing, steps // 2)
    return (int(getattr(end.env_state, column)[0]) - before[0]) / (int(end.episode[0]) - before[1])


@pytest.mark.slow
def test_it_learns_what_only_memory_can_tell() -> None:
    """A bit that was shown four steps before; guessing is right in half of the episodes."""
    assert solved("memory_len/3", 16_000, "total_perfect") > 0.9


@pytest.mark.slow
def test_it_finds_what_only_a_plan_for_the_whole_episode_finds() -> None:
    """The treasure of a sea of 10 by 10, which random actions find once in a thousand episodes."""
    assert solved("deep_sea/0", 60_000, "total_bad_episodes") < 0.3
