from __future__ import annotations

import functools
import inspect
import json
from pathlib import Path
from typing import Any

import broken
import flax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy
from envcore import random
from envcore.errors import EnvironmentDefinitionError
from envcore.wrappers import FrameStack
from envcore_testing.breaches import (
    Breach,
    Place,
    breach_of_error,
    describe,
    is_own,
    place_of_class,
    place_of_error,
    place_of_method,
)
from envcore_testing.numerics import numerics

HERE = str(Path(__file__).relative_to(Path.cwd())) if Path(__file__).is_relative_to(Path.cwd()) else __file__


def here(function: Any, offset: int, source: str) -> Place:
    return Place(HERE, inspect.getsourcelines(function)[1] + offset, function.__name__, source)


def mixes(x: jax.Array) -> jax.Array:
    y = x + 1
    return jnp.add(y, jnp.ones((2, 2), jnp.float16))


def error_of(function: Any, *args: Any) -> Exception:
    with jax.numpy_dtype_promotion("strict"), pytest.raises(Exception) as caught:  # noqa: PT011
        function(*args)
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next  # the line above is the author's own, too
    return error


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap, lambda f: jax.jit(jax.vmap(f))])
def test_the_innermost_own_line_of_an_error(transform: Any) -> None:
    error = error_of(transform(mixes), jnp.ones((2, 2), jnp.float32))
    assert place_of_error(error) == here(mixes, 2, "return jnp.add(y, jnp.ones((2, 2), jnp.float16))")


def test_an_error_that_comes_from_elsewhere_has_no_place() -> None:
    assert place_of_error(error_of(random.uniform, "no key")) is None
    assert place_of_error(ValueError("never raised")) is None


class WithProperty(toy.Counter):
    @property
    @functools.cache  # noqa: B019
    def default_params(self) -> toy.CounterParams:
        return toy.CounterParams()


def test_methods_and_properties() -> None:
    place = place_of_method(broken.BROKEN["strict_rank_promotion"], "observe")
    assert place is not None
    assert Path(place.file).name == "broken.py"
    assert (place.function, place.source) == ("observe", "def observe(self, state: Any, params: Any) -> Any:")
    place = place_of_method(WithProperty(), "default_params")
    assert place == here(WithProperty, 3, "def default_params(self) -> toy.CounterParams:")._replace(
        function="default_params"
    )


def test_what_the_author_has_not_written_is_passed_over() -> None:
    place = place_of_method(toy.Counter(), "step", "restart", "transition")
    assert place is not None
    assert place.function == "transition"
    place = place_of_method(toy.Counter(), "step", "no_such_method")
    assert place == place_of_class(toy.Counter)
    assert place is not None
    assert place.source.startswith("class Counter(")


def test_inside_of_a_wrapper() -> None:
    assert place_of_method(FrameStack(toy.Counter(), 2), "observe") == place_of_method(toy.Counter(), "observe")


def test_classes_whose_source_is_not_the_author_s() -> None:
    assert place_of_class(FrameStack) is None
    assert place_of_class(type("Made", (), {})) is None


def test_own_files() -> None:
    assert is_own(__file__)
    assert is_own(pytest.__file__)  # any other installed package may be a suite
    for file in (jax.__file__, np.__file__, flax.__file__, random.__file__, json.__file__, "<string>"):
        assert not is_own(file)


def test_a_place_is_one_line_and_its_source() -> None:
    assert str(Place("a.py", 3, "observe", "return 1")) == "a.py:3, in observe\n    return 1"
    assert str(Place("a.py", 3, "observe", "")) == "a.py:3, in observe"


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
