"""Evolution strategy: what its members play by hand, what it refuses, and that it learns."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import NO_TIME_LIMIT
from envcore.wrappers import RunningStatistics
from envcore_baselines.es import ES, ESAgent, ESConfig, ESState
from envcore_baselines.learner import Metrics
from learning import Whole
from toy import Counter, Deck, Spring

KEY = jax.random.key(0)
SMALL = ESConfig(total_steps=64, population_size=4, episodes=2, hidden=())


def learner(env: Any, params: Any = None, **settings: Any) -> ES:
    return ES(env, env.default_params if params is None else params, ESConfig(**{**vars(SMALL), **settings}))


def counting_and_waiting(es: ES) -> tuple[Any, Any]:
    """A population whose first two members always count and whose last two always wait, and empty statistics."""
    agent = es.init(KEY).agent
    bias = jnp.array([[-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, -1.0]])
    kernel = jnp.zeros((4, *agent.policy["params"]["Dense_0"]["kernel"].shape))
    return {"params": {"Dense_0": {"bias": bias, "kernel": kernel}}}, agent.statistics


class Cliff(Counter):
    """Observations are infinite from the goal on."""

    def observe(self, state: Any, params: Any) -> Any:
        return jnp.where(state.count == self.goal, jnp.inf, super().observe(state, params))


def test_members_play_whole_episodes_and_count_what_they_see() -> None:
    """Longer ones than the loop's chunk of steps. Waiting ends at the limit, after the others."""
    env = Cliff(goal=23)
    es = learner(env, env.default_params.replace(max_steps_in_episode=50), max_steps=41)
    returns, statistics = jax.jit(es._play)(*counting_and_waiting(es), KEY)
    np.testing.assert_array_equal(returns, [[11.5, 11.5]] * 2 + [[0, 0]] * 2)
    seen = 4 * np.array([1 + 41, *[1] * 22, 0], np.float32)  # each count once, and 0 all the time
    assert float(statistics.count) == pytest.approx(seen.sum())
    np.testing.assert_allclose(statistics.mean, seen / seen.sum(), rtol=1e-4)


@pytest.mark.parametrize(("limit", "max_steps", "expected"), [(5, 2, 2), (2, 5, 2), (5, 0, 5), (NO_TIME_LIMIT, 5, 5)])
def test_the_shorter_limit_holds(limit: float, max_steps: int, expected: int) -> None:
    params = Counter().default_params.replace(max_steps_in_episode=limit)
    assert learner(Counter(), params, max_steps=max_steps).steps_per_update == 4 * 2 * expected


@pytest.mark.slow
def test_all_members_play_the_same_episodes() -> None:
    es = learner(Spring())
    agent = es.init(KEY).agent
    equal = jax.tree.map(lambda x: jnp.broadcast_to(x, (4, *x.shape)), agent.policy)
    returns, _ = jax.jit(es._play)(equal, agent.statistics, KEY)
    np.testing.assert_array_equal(returns, np.broadcast_to(returns[0], (4, 2)))
    assert returns[0, 0] != returns[0, 1]


def test_a_state_keeps_its_types() -> None:
    es = learner(Spring())
    before = jax.eval_shape(es.init, KEY)
    assert jax.eval_shape(es.update, before)[0] == before
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(before))


def test_steps_are_rounded_up_to_whole_generations_and_settings_change_over_them() -> None:
    es = learner(Spring(), total_steps=1601, std=0.4, final_std=0.1)
    assert (es.steps_per_update, es.num_updates) == (4 * 2 * 20, 11)
    np.testing.assert_allclose([es._std(0), es._std(5), es._std(10)], [0.4, 0.2, 0.1], rtol=1e-6)


def test_the_mean_moves_towards_the_elite_and_the_best_one_most() -> None:
    counts = learner(Counter(), elite=0.5)._shaped(None, -jnp.array([3.0, 1.0, 4.0, 2.0]), None, None)  # it minimizes
    weights = np.array([np.log(2.5 / 2), 0, np.log(2.5), 0])
    np.testing.assert_allclose(counts, weights.mean() - weights, rtol=1e-5)


def test_observations_are_normalized_by_what_was_seen() -> None:
    agent, obs = learner(Spring()).init(KEY).agent, jnp.array([1.4, -0.1])
    statistics = RunningStatistics(jnp.array([1.0, 0.0]), jnp.array([4.0, 0.25]), jnp.float32(1))
    plain, normalized = (learner(Spring(), normalize_observations=given) for given in (False, True))
    expected = plain.act(agent, (), jnp.array([0.2, -0.2]), KEY)[0]
    np.testing.assert_allclose(normalized.act(ESAgent(agent.policy, statistics), (), obs, KEY)[0], expected, rtol=1e-5)
    assert not np.allclose(plain.act(agent, (), obs, KEY)[0], expected)
    weights = agent.policy["params"]["Dense_0"]
    np.testing.assert_allclose(expected, np.array([0.2, -0.2]) @ weights["kernel"], rtol=1e-5)


def test_a_dict_of_observations_is_flattened_and_chance_has_no_part() -> None:
    es = learner(Deck(), max_steps=6)
    agent = es.init(KEY).agent
    obs = jnp.ones(es.env.observation_space(es.env.default_params).shape)
    action, memory = es.act(agent, es.start_memory(), obs, KEY)
    assert es.env.action_space(es.env.default_params).contains(action)
    assert all(
        es.act(agent, memory, obs, jax.random.key(n), greedy)[0] == action for n in range(5) for greedy in (False, True)
    )


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (Counter(), {"population_size": 5}, "population_size must be even, got 5"),
        (Deck(), {}, "es plays whole episodes, but Deck has no time limit: pass the setting max_steps"),
        (Whole(), {}, "the action space must be a Discrete or a float Box, but Whole has Box"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)


def train(es: ES, seeds: list[int]) -> tuple[np.ndarray, Any]:
    """The mean return of each seed and generation, (seeds, generations), and the agent of each seed."""

    def run(key: jax.Array) -> tuple[ESState, Metrics]:
        return jax.lax.scan(lambda state, _: es.update(state), es.init(key), length=es.num_updates)

    state, totals = jax.jit(jax.vmap(run))(jnp.stack([jax.random.key(seed) for seed in seeds]))
    return np.asarray(totals["returns"] / totals["episodes"]), state.agent


# The last generation has no spread, so that its mean return is that of the agent.


@pytest.mark.parametrize("elite", [0, pytest.param(0.25, marks=pytest.mark.slow)])
def test_discrete_actions_are_learned(elite: float) -> None:
    """Counting in all three steps earns 1.5; nobody who waits once can."""
    env, size = Counter(), 12
    params = env.default_params.replace(max_steps_in_episode=3)
    settings = {"elite": elite, "final_std": 1e-3, "learning_rate": 0.2}
    es = learner(env, params, total_steps=20 * size * 6, population_size=size, **settings)
    found, _ = train(es, [0, 1])
    assert (found[:, 0] < 1.4).all()
    np.testing.assert_array_equal(found[:, -1], [1.5, 1.5])


@pytest.mark.slow
def test_continuous_actions_are_learned_and_a_seed_decides_everything() -> None:
    """The mass runs away, unless it is pushed back: the cost must fall by two thirds."""
    env = Spring()
    params = env.default_params.replace(stiffness=-1.0, noise=0.0, start=0.5)
    es = learner(env, params, total_steps=30 * 16 * 40, population_size=16, final_std=1e-3, learning_rate=0.2)
    found, _ = train(es, [0, 0, 1])
    assert (found[:, -1] > found[:, 0] / 3).all()
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).all()


class Dark(Counter):
    """Shows nothing. The right action is 0 in the first step and 1 in the second."""

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        return state, (action == state.time).astype(jnp.float32), False, {}

    def observe(self, state: Any, params: Any) -> Any:
        return jnp.zeros(self.goal + 1)


@pytest.mark.slow
def test_what_only_memory_can_tell_is_learned() -> None:
    """Without a memory, one of the two actions is wrong."""
    params = Dark().default_params.replace(max_steps_in_episode=2)
    es = learner(Dark(), params, total_steps=30 * 64 * 4, population_size=64, memory=4, final_std=1e-3)
    found, agents = train(es, [0, 1])
    np.testing.assert_array_equal(found[:, -1], [2, 2])
    agent, memory = jax.tree.map(lambda x: x[0], agents), es.start_memory()
    for right in range(2):
        action, memory = es.act(agent, memory, jnp.zeros(4), KEY)
        assert action == right
