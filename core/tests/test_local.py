"""Registering a class or a function itself, as a notebook does."""

from __future__ import annotations

import dataclasses
import functools
import subprocess
import sys
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest
import toy
from envcore.errors import InvalidArgumentError, UnknownEnvironmentError
from envcore.registration import Registry
from envcore.specs import EnvSpec
from envcore.wrappers import LogWrapper

GOAL = {"goal": 7}


def new_class(name: str = "Walk", module: str | None = "__main__", goal: int = 3) -> Any:
    """A class as a cell of a notebook makes it, a new one each time it runs."""
    return dataclasses.dataclass(frozen=True)(
        type(name, (toy.Counter,), {"__module__": module, "__annotations__": {"goal": int}, "goal": goal})
    )


def goal_of(registry: Registry) -> int:
    env: Any = registry.make("Walk-v0")[0]
    return env.goal


def test_a_class_of_a_notebook(registry: Registry) -> None:
    walk = new_class()
    registry.register("Walk-v0", walk)
    env, params = registry.make("Walk-v0")
    assert type(env) is walk
    assert params == toy.CounterParams()
    assert registry.make("local:Walk-v0", goal=5)[0] == walk(5)
    ((env_id, found),) = registry.items()
    assert (env_id, found) == ("Walk-v0", registry["Walk-v0"])
    assert (found.qualified_id, found.spec) == ("local:Walk-v0", EnvSpec("Walk-v0", "__main__:Walk"))


def test_a_local_class_that_nothing_could_import(registry: Registry) -> None:
    @dataclasses.dataclass(frozen=True)
    class Übung(toy.Counter):
        pass

    registry.register("Walk-v0", Übung)
    assert type(registry.make("Walk-v0")[0]) is Übung
    assert registry["Walk-v0"].spec.entry_point == f"{__name__}:Übung"
    with pytest.raises(
        InvalidArgumentError, match=r"^Walk-v0 got an unexpected keyword argument 'gaol'; its options: goal\.$"
    ):
        registry.make("Walk-v0", gaol=5)


def test_fields_are_those_of_a_spec(registry: Registry) -> None:
    fields: dict[str, Any] = {"kwargs": GOAL, "summary": "Count.", "source": "made up", "family": "walks"}
    registry.register("walks/1", toy.Counter, **fields)
    registry.register(id="walks/2", entry_point="toy:Counter", **fields)
    assert registry.make("walks/1")[0] == registry.make("walks/2")[0] == toy.Counter(goal=7)
    assert [each.spec for each in registry.values()] == [
        EnvSpec("walks/1", "toy:Counter", **fields),
        EnvSpec("walks/2", "toy:Counter", **fields),
    ]


def test_functions(registry: Registry) -> None:
    def make_counter(goal: int = 4) -> toy.Counter:
        return toy.Counter(goal)

    registry.register("A-v0", make_counter, kwargs=GOAL)
    registry.register("B-v0", lambda: LogWrapper(toy.Counter(2)))
    registry.register("C-v0", lambda **options: toy.Counter(**options))
    assert registry.make("A-v0")[0] == toy.Counter(7)
    assert registry.make("A-v0", goal=9)[0] == toy.Counter(9)
    assert registry.make("B-v0")[0] == LogWrapper(toy.Counter(2))
    assert registry.make("C-v0", goal=5)[0] == toy.Counter(5)
    assert registry["B-v0"].spec.entry_point == f"{__name__}:_lambda_"


@pytest.mark.parametrize("module", ["my-script", "2048.game", None, "a..b", ""])
def test_modules_whose_names_are_not_identifiers(registry: Registry, module: str | None) -> None:
    registry.register("Walk-v0", new_class(module=module))
    assert goal_of(registry) == 3


# A cell that runs more than once.


def test_a_redefined_class_takes_the_place_of_the_old_one(registry: Registry) -> None:
    registry.register("Walk-v0", new_class())
    assert goal_of(registry) == 3
    registry.register("Walk-v0", new_class(goal=5), summary="Walk on.")
    assert goal_of(registry) == 5
    assert [each.spec.summary for each in registry.values()] == ["Walk on."]
    registry.register("Walk-v0", new_class(goal=5), kwargs=GOAL)
    assert goal_of(registry) == 7


def inner(name: str) -> Callable[[], toy.Counter]:
    """Two functions with the same name in different places."""
    if name == "first":

        def build() -> toy.Counter:
            return toy.Counter(1)

        return build
    return second()


def second() -> Callable[[], toy.Counter]:
    def build() -> toy.Counter:
        return toy.Counter(2)

    return build


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (new_class(), new_class("Run"), r"'X-v0' is registered already, as '__main__:Walk': choose another id$"),
        (new_class(), new_class(module="walks"), "as '__main__:Walk': choose another id"),
        (inner("first"), inner("second"), "as '.*:inner.<locals>.build': choose another id"),
        ("toy:Deck", toy.Counter, "as 'toy:Deck': choose another id"),
        (toy.Counter, "toy:Deck", "as 'toy:Counter': choose another id"),
        (toy.Counter, "toy:Counter", "as 'toy:Counter', without the class or function itself: choose another id"),
    ],
)
def test_anything_else_under_one_id_clashes(registry: Registry, before: Any, after: Any, message: str) -> None:
    registry.register("X-v0", before)
    known = registry["X-v0"]
    with pytest.raises(InvalidArgumentError, match=message):
        registry.register("X-v0", after)
    assert registry["X-v0"] is known


def test_the_class_itself_may_take_the_place_of_its_spec(registry: Registry) -> None:
    registry.register("X-v0", "toy:Counter", kwargs=GOAL)
    registry.register("X-v0", toy.Counter)
    assert registry.make("X-v0")[0] == toy.Counter()


# What is refused.

TAKES = "register takes a subclass of envcore.Environment, a function that returns an environment, or a string"


@pytest.mark.parametrize(
    ("args", "fields", "message"),
    [
        (("X-v0", toy.Counter()), {}, f"{TAKES} 'package.module:Class', got an object of Counter"),
        (("X-v0", toy.CounterParams), {}, f"{TAKES} .* got the class CounterParams"),
        (("X-v0", functools.partial(toy.Counter, goal=5)), {}, f"{TAKES} .* got an object of partial"),
        (("X-v0", None), {}, f"{TAKES} .* got an object of NoneType"),
        (("X-v0", len), {}, f"{TAKES} .* got an object of builtin_function_or_method"),
        (("X-v0", "toy.Counter"), {}, r"entry_point of 'X-v0' must read 'package\.module:Class', got 'toy\.Counter'"),
        (("X v0", toy.Counter), {}, "id 'X v0' must start with a letter"),
        ((3, toy.Counter), {}, "EnvSpec.id must be a string, got 3"),
        (("X-v0", toy.Counter), {"kwargs": {"goal": [1]}}, "must be hashable"),
        (("X-v0", toy.Counter), {"kwargs": 0}, "must map option names to values, got 0"),
    ],
)
def test_what_register_refuses(registry: Registry, args: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        registry.register(*args, **fields)
    with pytest.raises(UnknownEnvironmentError):
        registry["X-v0"]


@pytest.mark.parametrize(
    ("args", "fields", "message"),
    [
        (("X-v0", toy.Counter), {"goal": 5}, "unexpected keyword argument 'goal'"),
        (("X-v0",), {}, "missing 1 required positional argument: 'entry_point'"),
        ((toy.Counter,), {}, "missing 1 required positional argument: 'entry_point'"),
        (("X-v0", toy.Counter, {"goal": 5}), {}, "positional arguments"),
    ],
)
def test_wrong_arguments(registry: Registry, args: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        registry.register(*args, **fields)
    assert "X-v0" not in registry


def test_registering_a_function_or_a_string_imports_no_jax() -> None:
    code = """
        import sys, envcore
        envcore.register("A-v0", lambda: None)
        envcore.register("B-v0", "toy:Counter")
        list(envcore.registry)
        assert "jax" not in sys.modules
    """
    subprocess.run([sys.executable, "-I", "-c", dedent(code)], check=True)
