from __future__ import annotations

import dataclasses
import re
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from toy import Counter, CounterParams, Spring

KEY = jax.random.key(3)


@dataclasses.dataclass(frozen=True)
class Traced(Counter):
    @chex.assert_max_traces(n=1)
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().transition(state, action, draws, params)


def test_rules_are_traced_once_for_all_programs_around_them() -> None:
    env, again = Traced(13), Traced(13)
    _, state = env.reset(KEY)
    jax.jit(env.step)(KEY, state, jnp.int32(1))
    jax.jit(lambda *args: again.step(*args)[2] + 1)(KEY, state, jnp.int32(0))
    jax.jit(jax.vmap(again.step, (0, None, None)))(jax.random.split(KEY, 3), state, jnp.int32(1))
    with pytest.raises(AssertionError, match=r"'transition' is traced > 1 times"):
        Traced(14).step(KEY, state, jnp.int32(1))


def test_a_step_inlines_into_the_caller_s_program() -> None:
    """Inspects the program as XLA gets it: newer JAX keeps the call in the jaxpr and inlines it when lowering."""
    env = Counter()
    _, state = env.reset(KEY)

    def step(*args: Any) -> Any:
        return env.step(*args)

    def functions_called_by(program: Any) -> set[str]:
        lowered = jax.jit(lambda *args: program(*args)).lower(KEY, state, jnp.int32(1))
        return set(re.findall(r"call @([a-z_]+?)(?:_\d+)?\(", lowered.as_text()))

    assert "step" in functions_called_by(jax.jit(step))
    assert {"step", "observe"}.isdisjoint(functions_called_by(step))


def test_params_map_and_are_not_baked_in() -> None:
    env = Counter()
    _, state = env.reset(KEY)
    params = CounterParams(bonus=np.arange(3, dtype=np.float32), max_steps_in_episode=np.array([1, 2, 3]))
    _, _, reward, done, _ = jax.vmap(env.step, (None, None, None, 0))(KEY, state, 1, params)
    assert (reward.tolist(), done.tolist()) == ([0, 1, 2], [True, False, False])


def test_final_obs_costs_nothing_where_it_is_not_used() -> None:
    class Cosine(Spring):
        def observe(self, state: Any, params: Any) -> jax.Array:
            return jnp.cos(super().observe(state, params))

    env = Cosine()
    _, state = env.reset(KEY)

    def cosines(function: Any) -> int:
        program = jax.jit(function).lower(KEY, state, jnp.zeros(1)).compile()
        return str(program.as_text()).count(" cosine(")

    assert cosines(lambda *args: env.step(*args)[:4]) < cosines(env.step)
