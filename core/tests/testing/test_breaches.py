from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore.errors import EnvironmentDefinitionError
from envcore.numerics import numerics
from envcore.testing.breaches import Breach, breach_of_error, describe
from envcore.testing.places import Place

PLACE = Place("walk.py", 12, "transition", "reward = 1.0 * at_goal")


def raised(function: Any, *, x64: bool = False) -> Exception:
    strict = numerics(x64=x64, dtype_promotion="strict", rank_promotion="raise")
    with strict, pytest.raises(Exception) as caught:  # noqa: PT011
        function()
    return caught.value


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (
            lambda: 1.0 * jnp.array(True),
            (
                "bool and a Python float are mixed: turn the flag into a number, as in flag.astype(jnp.float32) "
                "or jnp.where(flag, 1.0, 0.0)."
            ),
        ),
        (
            lambda: jnp.array(True) * jnp.int32(1),
            "bool and int32 are mixed: turn the flag into a number, as in flag.astype(jnp.int32).",
        ),
        (
            lambda: jnp.array(True) * jnp.float32(1),
            (
                "bool and float32 are mixed: turn the flag into a number, as in flag.astype(jnp.float32) "
                "or jnp.where(flag, 1.0, 0.0)."
            ),
        ),
        (
            lambda: jnp.int32(1) + jnp.float32(1),
            "float32 and int32 are mixed: cast one of them, as in x.astype(jnp.float32).",
        ),
        (
            lambda: jnp.minimum(jnp.int32(1), 0.5),
            "a Python float and int32 are mixed: cast one of them, as in x.astype(jnp.float32).",
        ),
        (
            lambda: jnp.ones(3) * jnp.ones((2, 3)),
            (
                "the shapes (3,) and (2, 3) are mixed, which have different numbers of axes: "
                "add the missing axes, as in x[None, :] or x[:, None]."
            ),
        ),
    ],
)
def test_advice_on_promotion(function: Any, problem: str) -> None:
    assert breach_of_error(raised(function)).problem == problem


def test_advice_on_64_bit() -> None:
    problem = breach_of_error(raised(lambda: jnp.arange(3) + jnp.int32(1), x64=True)).problem
    assert problem.startswith("int32 and int64 are mixed: name the dtype where an array is made, as in jnp.arange(n, d")


def test_the_advice_on_flags_is_good() -> None:
    flag = jnp.array(True)
    for x64 in (False, True):
        with numerics(x64=x64, dtype_promotion="strict", rank_promotion="raise"):
            assert float(jnp.where(flag, 1.0, 0.0) * jnp.float32(2) + flag.astype(jnp.float32)) == 3


def test_other_errors_are_reported_with_their_type() -> None:
    assert breach_of_error(KeyError("wind")).problem == "KeyError: 'wind'"
    assert breach_of_error(EnvironmentDefinitionError("a reward is missing.")).problem == "a reward is missing."


def test_the_place_of_an_error_takes_precedence() -> None:
    place = breach_of_error(raised(lambda: jax.jit(lambda: 1.0 * jnp.array(True))()), PLACE).place
    assert place is not None
    assert (
        place.source == "place = breach_of_error(raised(lambda: jax.jit(lambda: 1.0 * jnp.array(True))()), PLACE).place"
    )
    assert breach_of_error(ValueError(), PLACE).place == PLACE


def test_several_breaches_are_a_list_but_one_is_not() -> None:
    one, two = Breach("Wrong.", PLACE), Breach("Also wrong.")
    where = "walk.py:12, in transition"
    assert describe([one]) == f"Wrong.\n  {where}\n      reward = 1.0 * at_goal"
    assert describe([one, two]) == f"2 places:\n- Wrong.\n    {where}\n        reward = 1.0 * at_goal\n- Also wrong."
