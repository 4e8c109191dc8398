"""The registry: looking up, registering, making, and what each refuses."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest
import toy
from envcore.errors import (
    EnvironmentLoadError,
    InvalidArgumentError,
    PluginWarning,
    UnknownEnvironmentError,
)
from envcore.registration import Registry
from envcore.specs import EnvSpec
from envcore.wrappers import LogWrapper
from fake_site import FakeSite, hook

COUNTER = ("Counter-v0", "toy:Counter")


# Discovery.


def test_discovers_once(site: FakeSite, registry: Registry) -> None:
    site.add_suite("good-suite", "A-v0")
    before = registry.plugins
    site.add_suite("later-suite", "B-v0")
    assert registry.plugins is before
    assert list(registry) == ["A-v0"]


def test_warns_once(site: FakeSite, registry: Registry) -> None:
    site.add("bad-suite", "1 / 0")
    with pytest.warns(PluginWarning, match=r"plugin bad-suite 1\.2 is left out: ZeroDivisionError"):
        list(registry)
    list(registry)  # warnings are errors in these tests


def test_a_plugin_that_looks_at_the_catalogue_is_broken(
    site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envcore.registration.registry", registry)
    monkeypatch.setattr("envcore.registration.make", registry.make)
    site.add("bad-suite", "import envcore\n" + hook("return [each.spec for each in envcore.registry.values()]"))
    site.add("worse-suite", "import envcore\nenvcore.make('A-v0')")
    site.add_suite("good-suite", "A-v0")
    with pytest.warns(PluginWarning) as caught:
        plugins = registry.plugins
    assert [plugin.status for plugin in plugins] == ["broken", "loaded", "broken"]
    assert plugins[0].error == "a plugin may not make or list environments while it is being loaded"
    assert len(caught) == 2


def test_threads_discover_once(site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy, "loads", [], raising=False)
    counting = "import time, toy\ntime.sleep(0.05)\ntoy.loads.append(__name__)\n"
    module = site.add("good-suite", counting + hook("return [EnvSpec('Counter-v0', 'toy:Counter')]"))
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(registry.make("Counter-v0"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [env for env, _ in made] == [toy.Counter()] * 8
    assert toy.loads == [module]  # pyright: ignore[reportAttributeAccessIssue]


# Registering.


def test_registered_environments_are_made_without_a_plugin(registry: Registry) -> None:
    for _ in range(2):
        registry.register(*COUNTER)
    assert registry.make("Counter-v0") == (toy.Counter(), toy.CounterParams())
    assert registry.make("local:Counter-v0")[0] == toy.Counter()


# Looking up.


def test_is_a_mapping(site: FakeSite, registry: Registry) -> None:
    site.add_suite("b-suite", "A-v0", "B-v0")
    site.add_suite("a-suite", "A-v0")
    registry.register(*COUNTER)
    assert isinstance(registry, Mapping)
    assert list(registry) == ["a-suite:A-v0", "b-suite:A-v0", "B-v0", "Counter-v0"]
    assert len(registry) == 4
    assert all(env_id in registry for env_id in [*registry, "b-suite:B-v0", "local:Counter-v0"])
    assert not any(env_id in registry for env_id in ("A-v0", "C-v0", "a-suite:B-v0", "", None))
    assert registry.get("A-v0") is registry.get("C-v0") is None
    assert registry.make("A_Suite:A-v0")[0] == toy.Counter()
    with pytest.raises(UnknownEnvironmentError, match="use 'a-suite:A-v0' or 'b-suite:A-v0'"):
        registry.make("A-v0")


def test_members_of_a_family_are_listed_made_and_suggested(registry: Registry) -> None:
    for number in (10, 1, 2):
        registry.register(f"counters/{number}", *COUNTER[1:], kwargs={"goal": number}, family="counters")
    assert list(registry) == ["counters/1", "counters/2", "counters/10"]
    assert registry.make("counters/2")[0] == toy.Counter(goal=2)
    with pytest.raises(UnknownEnvironmentError, match="Did you mean 'counters/1'"):
        registry.make("counter/1")


def test_an_unknown_id_repeats_what_is_left_out(site: FakeSite, registry: Registry) -> None:
    site.add("bad-suite", "1 / 0")
    with pytest.warns(PluginWarning), pytest.raises(UnknownEnvironmentError) as caught:
        registry.make("A-v0")
    assert "Plugin bad-suite is broken: ZeroDivisionError: division by zero." in str(caught.value)


def new_class(name: str = "Walk", goal: int = 3) -> Any:
    """A class as a cell of a notebook makes it, a new one each time it runs."""
    fields = {"__module__": "__main__", "__annotations__": {"goal": int}, "goal": goal}
    return dataclasses.dataclass(frozen=True)(type(name, (toy.Counter,), fields))


def test_a_class_of_a_notebook(registry: Registry) -> None:
    walk = new_class()
    registry.register("Walk-v0", walk)
    assert type(registry.make("Walk-v0")[0]) is walk
    assert registry.make("local:Walk-v0", goal=5)[0] == walk(5)
    found = registry["Walk-v0"]
    assert (found.qualified_name, found.spec) == ("local:Walk-v0", EnvSpec("Walk-v0", "__main__:Walk"))


def test_functions(registry: Registry) -> None:
    def make_counter(goal: int = 4) -> toy.Counter:
        return toy.Counter(goal)

    registry.register("A-v0", make_counter, kwargs={"goal": 7})
    registry.register("B-v0", lambda: LogWrapper(toy.Counter(2)))
    assert registry.make("A-v0")[0] == toy.Counter(7)
    assert registry.make("A-v0", goal=9)[0] == toy.Counter(9)
    assert registry.make("B-v0")[0] == LogWrapper(toy.Counter(2))
    assert registry["B-v0"].spec.entry_point == f"{__name__}:_lambda_"


def test_a_redefined_class_takes_the_place_of_the_old_one(registry: Registry) -> None:
    registry.register("Walk-v0", new_class())
    again = new_class(goal=5)
    registry.register("Walk-v0", again, summary="Walk on.")
    assert registry.make("Walk-v0")[0] == again()
    assert [each.spec.summary for each in registry.values()] == ["Walk on."]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (new_class(), new_class("Run"), r"'X-v0' is registered already, as '__main__:Walk': choose another id$"),
        ("toy:Deck", toy.Counter, "as 'toy:Deck': choose another id"),
    ],
)
def test_anything_else_under_one_id_clashes(registry: Registry, before: Any, after: Any, message: str) -> None:
    registry.register("X-v0", before)
    known = registry["X-v0"]
    with pytest.raises(InvalidArgumentError, match=message):
        registry.register("X-v0", after)
    assert registry["X-v0"] is known


# What is refused.

TAKES = "register takes a subclass of envcore.Environment, a function that returns an environment, or a string"


@pytest.mark.parametrize(
    ("env_id", "entry_point", "message"),
    [
        ("X-v0", toy.Counter(), f"{TAKES} 'package.module:Class', got Counter"),
        ("X-v0", toy.CounterParams, f"{TAKES} .* got <class 'toy.CounterParams'>"),
        ("X-v0", "toy.Counter", r"entry_point of EnvSpec 'X-v0' must be .*, got 'toy\.Counter'"),
        ("X v0", toy.Counter, "id of EnvSpec 'X v0' must start with a letter"),
    ],
)
def test_what_register_refuses(registry: Registry, env_id: str, entry_point: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        registry.register(env_id, entry_point)
    with pytest.raises(UnknownEnvironmentError):
        registry["X-v0"]


# MODULE:CLASS.


MY_ENVS = """
from toy import Counter as Counter

def long(goal: int = 5) -> Counter:
    return Counter(goal)
"""


def test_an_environment_of_a_module_that_nothing_announces(
    site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.folder / "my_envs.py").write_text(MY_ENVS)
    monkeypatch.delitem(sys.modules, "my_envs", raising=False)
    monkeypatch.setitem(sys.modules, "toy", toy)
    assert registry.find("my_envs:Counter").spec.id == "Counter"
    assert "my_envs" not in sys.modules
    assert registry.make("my_envs:Counter", goal=4)[0] == toy.Counter(4)
    assert registry.make("my_envs:long")[0] == toy.Counter(5)
    assert list(registry) == []
    with pytest.raises(UnknownEnvironmentError, match="and no module 'no_such_module' to import Counter from"):
        registry.make("no_such_module:Counter")


# Making.


@dataclasses.dataclass(frozen=True)
class Grid(toy.Counter):
    size: int = dataclasses.field(kw_only=True)
    is_torus: bool = False

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be positive, got {self.size}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": 1}, r"^X-v0 has no option 'color'; its options: goal, is_torus, size\.$"),
        ({}, r"^X-v0 cannot be made: .* missing 1 required keyword-only argument: 'size'$"),
        ({"size": 0}, r"^X-v0 got invalid options: size must be positive, got 0$"),
        ({"bonus": 1.0}, r" It is a param: params\.replace\(bonus=\.\.\.\)"),
        ({"size": 1, "is_torus": "False"}, r"^X-v0's option is_torus must be True or False, got 'False'\.$"),
    ],
)
def test_wrong_options(registry: Registry, options: dict[str, Any], message: str) -> None:
    registry.register("X-v0", "toy:Counter" if "bonus" in options else f"{__name__}:Grid")
    with pytest.raises(InvalidArgumentError, match=message):
        registry.make("X-v0", **options)


@pytest.mark.parametrize(
    ("entry_point", "reason"),
    [
        ("toy:Missing", "cannot be imported: AttributeError: module 'toy' has no attribute 'Missing'"),
        ("exiting_module:X", "cannot be imported: SystemExit: 3"),
        (f"{__name__}:COUNTER", "is neither a class of environments nor a function"),
        (f"{__name__}:new_class", "returns <class '__main__.Walk'> instead of an Environment"),
    ],
)
def test_an_entry_point_that_leads_nowhere(site: FakeSite, registry: Registry, entry_point: str, reason: str) -> None:
    (site.folder / "exiting_module.py").write_text("raise SystemExit(3)")
    registry.register("X-v0", entry_point)
    with pytest.raises(EnvironmentLoadError) as caught:
        registry.make("X-v0")
    assert str(caught.value).startswith(f"the environment local:X-v0 points at '{entry_point}', which ")
    assert reason in str(caught.value)
