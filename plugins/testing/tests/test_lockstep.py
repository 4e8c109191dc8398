from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore import spaces
from envcore_testing import ConformanceError, check_lockstep
from envcore_testing.lockstep import mostly_legal_action
from toy import Counter

GOAL, BONUS = 3, 0.5


def reset(key: jax.Array) -> tuple[Any, Any]:
    return 0, observe(0)


def step(count: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
    """The rules of `Counter`, as somebody else would write them."""
    count = jnp.where(count + action > GOAL, GOAL, count + action)
    return count, observe(count), BONUS * action, count == GOAL


def observe(count: Any) -> jax.Array:
    return jnp.arange(GOAL + 1) == count


def test_the_same_rules_written_twice() -> None:
    assert check_lockstep(Counter(), reset, step, num_steps=200) > 20


def test_the_time_limit_is_that_of_the_params_unless_the_other_one_says() -> None:
    def own_limit(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        count, time = state
        count, *rest = step(count, action, key)
        return (count, time + 1), *rest, time + 1 >= 2

    params = Counter().default_params.replace(max_steps_in_episode=2)
    assert check_lockstep(Counter(), reset, step, params=params, num_steps=40) == 20
    assert check_lockstep(Counter(), lambda key: ((0, 0), observe(0)), own_limit, params=params, num_steps=40) == 20
    with pytest.raises(ConformanceError, match=r"at step 1, truncated is False instead of True"):
        check_lockstep(Counter(), lambda key: ((0, 0), observe(0)), own_limit, num_steps=40)


@pytest.mark.parametrize(
    ("part", "wrong", "message"),
    [
        (2, lambda reward: reward * 1.0000001, r"reward is 0.5 instead of 0.50000"),
        (3, lambda terminated: terminated & False, r"terminated is True instead of False"),
        (1, lambda obs: obs[::-1], r"final_obs|obs"),
    ],
)
def test_the_first_difference_is_named(part: int, wrong: Any, message: str) -> None:
    def other(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        result = list(step(state, action, key))
        result[part] = wrong(result[part])
        return tuple(result)

    with pytest.raises(ConformanceError, match=f"Counter: at step [0-9]+, .*{message}"):
        check_lockstep(Counter(), reset, other)


@dataclasses.dataclass(frozen=True)
class NoWaiting(Counter):
    """The counter, whose action 0 is illegal."""

    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.array([False, True])


def steps_until_an_end(**options: Any) -> set[int]:
    """Lengths of the episodes of `NoWaiting`, as its other implementation sees them."""
    lengths: set[int] = set()

    def counted(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        count, time = state
        count, *rest = step(count, action, key)
        jax.debug.callback(lambda end, time: lengths.add(int(time)) if end else None, rest[-1], time + 1)
        return (count, time + 1), *rest

    check_lockstep(NoWaiting(), lambda key: ((0, 0), observe(0)), counted, num_steps=200, **options)
    jax.effects_barrier()
    return lengths


def test_actions_are_mostly_legal_where_there_are_masks() -> None:
    lengths = steps_until_an_end()
    assert lengths >= {GOAL, GOAL + 1}
    assert max(lengths) < GOAL + 4


def test_a_policy_chooses_the_actions() -> None:
    assert steps_until_an_end(policy=lambda key, state, params: 1) == {GOAL}
    # Waits once, at the start.
    assert steps_until_an_end(policy=lambda key, state, params: (state.time > 0).astype(jnp.int32)) == {GOAL + 1}


def test_a_start_that_differs() -> None:
    with pytest.raises(ConformanceError, match=r"Counter: after the reset, obs is 1.0 instead of 0.0"):
        check_lockstep(Counter(), lambda key: (0, observe(1)), step)


KEYS = jax.random.split(jax.random.key(0), 4000)


@dataclasses.dataclass(frozen=True)
class Choice(Counter):
    """The counter with four actions."""

    def action_space(self, params: Any) -> spaces.Discrete:
        return spaces.Discrete(4)


@dataclasses.dataclass(frozen=True)
class LastIsLegal(Choice):
    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.arange(4) == 3


@pytest.mark.parametrize(("env", "share"), [(Choice(), 1 / 4), (LastIsLegal(), 7 / 8 + 1 / 32)])
def test_the_share_of_legal_actions(env: Choice, share: float) -> None:
    _, state = env.reset(KEYS[0])
    actions = jax.vmap(lambda key: mostly_legal_action(env, key, state, env.default_params))(KEYS)
    assert (actions == 3).mean() == pytest.approx(share, abs=0.02)
    assert jnp.unique(actions).tolist() == [0, 1, 2, 3]
