"""`CheckActions`: eager, compiled, mapped and in a scan."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.errors import InvalidActionError
from envcore.wrappers import Batched, CheckActions, LogWrapper
from toy import Counter, Spring

KEY = jax.random.key(5)
COMPILED = (InvalidActionError, jax.errors.JaxRuntimeError)
"""The errors with which a compiled program can fail; JAX decides which."""


class Pair(Counter):
    """A counter whose action is a dict of a choice and a force; the bound of the force is a param."""

    def action_space(self, params: Any) -> Any:
        return spaces.Dict({"choice": spaces.Discrete(2), "force": spaces.Box(0.0, params.bonus, (2,))})

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        return super().transition(state, action["choice"], draws, params.replace(bonus=action["force"].sum()))


def stepped(env: Any, action: Any, params: Any = None) -> Any:
    return env.step(KEY, env.reset(KEY, params)[1], action, params)


GOOD_AND_BAD = [
    (Counter(), jnp.int32(1), [(jnp.int32(2), "got 2"), (jnp.int32(-1), "got -1"), (jnp.uint8(200), "got 200")]),
    (
        Spring(),
        jnp.ones(1),
        [
            (jnp.full(1, 1.5), r"got \[1.5\]"),
            (jnp.full(1, jnp.nan), r"got \[nan\]"),
        ],
    ),
    (
        Pair(),
        {"choice": jnp.int32(1), "force": jnp.full(2, 0.5)},
        [({"choice": jnp.int32(1), "force": jnp.array([0.5, 0.75])}, r"got {'choice': 1, 'force': \[0.5, 0.75\]}")],
    ),
]


@pytest.mark.parametrize(("inner", "good", "bad"), GOOD_AND_BAD)
@pytest.mark.parametrize("compile_step", [jax.jit, lambda step: step], ids=["compiled", "eager"])
def test_steps_fail(inner: Any, good: Any, bad: Any, compile_step: Any) -> None:
    for env in (CheckActions(inner), LogWrapper(CheckActions(inner))):
        step = compile_step(lambda action, env=env: stepped(env, action)[:4])
        jax.tree.map(np.testing.assert_array_equal, step(good)[0], stepped(inner, good)[0])
        for action, message in bad:
            with pytest.raises(COMPILED, match=f"outside its action space: {message}"):
                jax.block_until_ready(step(action))


def test_under_vmap_a_bad_one_is_named() -> None:
    env = CheckActions(Counter())

    @jax.jit
    def step(actions: Any) -> Any:
        keys = jax.random.split(KEY, 3)
        state = jax.vmap(env.reset)(keys)[1]
        return jax.vmap(env.step)(keys, state, actions)[:4]

    np.testing.assert_array_equal(step(jnp.array([0, 1, 0]))[2], np.array([0, 0.5, 0]))
    with pytest.raises(COMPILED, match="got 7"):
        jax.block_until_ready(step(jnp.array([0, 1, 7])))


def test_a_batch_names_the_index_of_the_first_bad_one() -> None:
    env = CheckActions(Batched(Batched(Spring(), 3), 2))
    actions = jnp.zeros((2, 3, 1)).at[1, 2].set(9.0)
    with pytest.raises(COMPILED, match=r"got \[9.0\] at \[1, 2\] of the batch"):
        jax.block_until_ready(jax.jit(lambda: stepped(env, actions)[:4])())


def test_in_a_scan() -> None:
    env = CheckActions(Counter(goal=100))
    params = env.default_params.replace(max_steps_in_episode=1000)

    @jax.jit
    def run(actions: Any) -> Any:
        return jax.lax.scan(lambda s, a: (env.step(KEY, s, a, params)[1], None), env.reset(KEY, params)[1], actions)[0]

    actions = jnp.ones(20, jnp.int32)
    assert run(actions).count == 20
    with pytest.raises(COMPILED, match="got 2"):
        jax.block_until_ready(run(actions.at[11].set(2)))
