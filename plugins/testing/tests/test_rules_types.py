from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore_testing.numerics import numerics
from envcore_testing.rules_types import find_promotions, strict_dtypes, strict_ranks

FLAG = jax.ShapeDtypeStruct((), jnp.bool_)


def sources(function: Any, switch: Any = strict_dtypes) -> list[str]:
    with numerics():
        found = find_promotions(lambda: jax.eval_shape(lambda *args: function(*args), FLAG), switch)
    return [each.place.source if each.place else each.problem for each in found]


def many(flag: jax.Array) -> Any:
    half = 0.5 * flag
    number = jnp.where(flag, 1, 0) + half  # weak types mix
    strong = jnp.int32(1) * flag
    return helper(flag) + jnp.stack(
        [
            number,
            2.0 * flag,
        ]
    ) + strong.astype(jnp.float32)  # fmt: skip


def helper(flag: jax.Array) -> Any:
    return flag + jnp.float32(1)


EVERY = [
    "half = 0.5 * flag",
    "strong = jnp.int32(1) * flag",
    "return flag + jnp.float32(1)",
    "2.0 * flag,",
]


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        jax.jit,
        lambda f: lambda flag: jax.vmap(f)(flag[None]),
        lambda f: lambda flag: jax.lax.cond(flag, f, f, flag),
        lambda f: lambda flag: jax.lax.scan(lambda _, x: (None, f(x)), None, flag[None]),
    ],
)
def test_every_line_is_found(transform: Any) -> None:
    assert sources(transform(many)) == EVERY


def calls_on_a_spared_line(flag: jax.Array) -> Any:
    return (1.0 * flag, helper(flag))


def test_what_a_spared_line_calls_is_not_spared() -> None:
    assert sources(calls_on_a_spared_line) == ["return (1.0 * flag, helper(flag))", "return flag + jnp.float32(1)"]


def ranks(flag: jax.Array) -> Any:
    x = jnp.ones((2, 3)) * jnp.ones(3)
    y = 1.0 * flag
    return x + jnp.ones((1, 2, 3)) * y


def test_every_mix_of_ranks_is_found() -> None:
    assert sources(ranks, strict_ranks) == ["x = jnp.ones((2, 3)) * jnp.ones(3)", "return x + jnp.ones((1, 2, 3)) * y"]


def test_a_search_leaves_nothing_behind() -> None:
    jitted = jax.jit(many)
    before = sys.gettrace()
    assert sources(jitted) == EVERY
    assert sources(jitted) == EVERY  # nothing traced with spared lines is kept
    assert sys.gettrace() is before
    with jax.numpy_dtype_promotion("strict"), pytest.raises(ValueError, match="promotion"):
        jitted(jnp.array(True))


def test_another_error_ends_the_search() -> None:
    def wrong(flag: jax.Array) -> Any:
        half = 0.5 * flag
        raise RuntimeError(f"out of wind at {half.shape}")

    assert sources(wrong) == ["half = 0.5 * flag", 'raise RuntimeError(f"out of wind at {half.shape}")']


def test_nothing_is_found_where_nothing_is_mixed() -> None:
    assert sources(lambda flag: jnp.where(flag, 1.0, 0.0)) == []
