"""DQN: its errors and actions by hand, what it stores, when it learns, what it refuses, and that it learns."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_baselines import dqn as dqn_file
from envcore_baselines.dqn import DQN, DQNConfig, Transition
from toy import Counter, Spring

KEY = jax.random.key(0)
STRUCT: Any = {"obs": jax.ShapeDtypeStruct((2,), jnp.uint8), "reward": jax.ShapeDtypeStruct((), jnp.float32)}
SMALL: dict[str, Any] = {
    "num_envs": 4,
    "rollout_steps": 2,
    "replay_capacity": 16,
    "min_replay_size": 8,
    "batch_size": 4,
    "hidden": (8,),
}


def learner(env: Any, params: Any = None, **settings: Any) -> DQN:
    return DQN(env, env.default_params if params is None else params, DQNConfig(**{**SMALL, **settings}))


def bias(network: Any) -> np.ndarray:
    return np.asarray(network["params"]["Dense_1"]["bias"])


def returns(dqn: DQN, key: jax.Array, num_updates: int) -> np.ndarray:
    """The mean return of each tenth of a run."""
    state = jax.jit(dqn.init)(key)
    _, totals = jax.jit(lambda state: jax.lax.scan(lambda x, _: dqn.update(x), state, length=num_updates))(state)
    sums = [np.asarray(x).reshape(10, -1).sum(1) for x in (totals["returns"], totals["episodes"])]
    return sums[0] / sums[1]


def transitions(first: int, number: int) -> dict[str, jax.Array]:
    values = np.arange(first, first + number)
    return {"obs": jnp.asarray(np.stack([values, values], 1), jnp.uint8), "reward": jnp.asarray(values, jnp.float32)}


def test_new_transitions_take_the_place_of_the_oldest() -> None:
    buffer = dqn_file.empty(STRUCT, 6)
    for count in range(0, 10, 2):
        buffer = jax.jit(dqn_file.add)(buffer, transitions(count, 2), jnp.int32(count))
    assert buffer["reward"].tolist() == [6, 7, 8, 9, 4, 5]
    assert buffer["obs"][:, 1].tolist() == [6, 7, 8, 9, 4, 5]
    assert buffer["obs"].dtype == jnp.uint8


def test_what_is_stored_is_sampled_uniformly() -> None:
    buffer = dqn_file.add(dqn_file.empty(STRUCT, 6), transitions(7, 3), jnp.int32(0))
    batch = dqn_file.sample(buffer, jnp.int32(3), 6000, jax.random.key(0))
    assert (batch["obs"][:, 0] == batch["reward"]).all()
    counts = np.bincount(batch["obs"][:, 0], minlength=10)
    assert counts[:7].sum() == 0
    assert (np.abs(counts[7:] - 2000) < 4 * np.sqrt(6000 * 2 / 9)).all()
    full = dqn_file.add(buffer, transitions(10, 3), jnp.int32(3))
    assert set(dqn_file.sample(full, jnp.int32(90), 200, jax.random.key(0))["obs"][:, 0].tolist()) == {*range(7, 13)}


def test_errors_are_those_of_one_step_targets() -> None:
    values, next_values = jnp.array([[1.0, 2.0], [3.0, 5.0]]), jnp.array([[10.0, 20.0], [7.0, 6.0]])
    rewards, discounts = jnp.array([0.5, -1.0]), jnp.array([1.0, 0.0])
    batch = Transition(None, jnp.array([1, 0]), rewards, discounts, None)
    found = jax.jit(learner(Counter(), discount=0.9)._errors)(values, next_values, batch)
    np.testing.assert_allclose(found, [2 - (0.5 + 0.9 * 20), 3 - -1.0], rtol=1e-6)


def test_only_a_terminated_episode_has_no_value_afterwards() -> None:
    """Counting terminates, waiting is cut by the time limit."""
    env = Counter(goal=1)
    params = env.default_params.replace(max_steps_in_episode=1)
    dqn = learner(env, params, num_envs=8, epsilon=1.0, rollout_steps=1)
    stored = jax.jit(lambda: dqn.update(dqn.init(KEY))[0].agent_state.replay)()
    stored = jax.tree.map(lambda x: np.asarray(x)[:8], stored)
    assert 0 < stored.action.sum() < 8
    np.testing.assert_array_equal(stored.obs, np.eye(2)[[0] * 8])
    np.testing.assert_array_equal(stored.next_obs, np.eye(2)[stored.action])  # not the next episode's first
    np.testing.assert_array_equal(stored.discount, stored.action == 0)
    np.testing.assert_array_equal(stored.reward, 0.5 * stored.action)


def test_it_learns_once_enough_is_stored_and_copies_the_target_sometimes() -> None:
    dqn = learner(Counter(), min_replay_size=16, gradient_steps=3, target_period=5)
    update, state = jax.jit(dqn.update), jax.jit(dqn.init)(KEY)
    numbers, targets = [], [bias(state.agent_state.target)]
    for _ in range(5):
        state, _ = update(state)
        numbers.append(int(state.agent_state.gradient_steps))
        targets.append(bias(state.agent_state.target))
    assert numbers == [0, 3, 6, 9, 12]
    is_copied = [bool((before != after).any()) for before, after in itertools.pairwise(targets)]
    assert is_copied == [False, False, True, False, True]  # at the gradient steps 5 and 10
    assert (bias(state.agent_state.network) != targets[-1]).any()


@pytest.mark.parametrize(
    ("env", "settings", "message"),
    [
        (Spring(), {}, "dqn needs a Discrete action space, but Spring has Box"),
        (Counter(), {"num_envs": 5}, "num_envs must divide replay_capacity = 16, got 5"),
        (Counter(), {"min_replay_size": 17}, "min_replay_size must be at most replay_capacity = 16, got 17"),
    ],
)
def test_what_does_not_fit(env: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learner(env, **settings)


def test_it_learns() -> None:
    """Counting in all three steps earns 1.5; at random it is half of that."""
    env = Counter()
    params = env.default_params.replace(max_steps_in_episode=3)
    dqn = learner(env, params, replay_capacity=1024, batch_size=32, learning_rate=0.01, discount=0.9)
    assert returns(dqn, KEY, 600)[-1] > 1.4
