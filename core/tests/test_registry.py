"""The catalogue: looking up, registering, making, and what each refuses."""

from __future__ import annotations

import dataclasses
import importlib
import linecache
import threading
import types
import warnings
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import toy
from envcore.environment import Environment, EnvParams
from envcore.errors import (
    AmbiguousEnvironmentError,
    EnvironmentLoadError,
    EnvironmentOptionError,
    InvalidSpecError,
    PluginError,
    PluginWarning,
    UnknownEnvironmentError,
)
from envcore.plugins import discover
from envcore.registry import Registry
from envcore.specs import EnvSpec
from fake_site import FakeSite, hook

COUNTER = EnvSpec(id="Counter-v0", entry_point="toy:Counter")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    return FakeSite(tmp_path, monkeypatch)


@pytest.fixture
def registry(site: FakeSite) -> Registry:
    return Registry()


def local(registry: Registry, entry_point: str, **kwargs: Any) -> None:
    registry.register(EnvSpec(id="X-v0", entry_point=entry_point, kwargs=kwargs))


# Discovery.


def test_discovers_once(site: FakeSite, registry: Registry) -> None:
    site.add_suite("good-suite", "A-v0")
    before = registry.plugins()
    site.add_suite("later-suite", "B-v0")
    assert registry.plugins() is before
    assert [each.spec.id for each in registry.registrations()] == ["A-v0"]


@pytest.mark.parametrize(
    ("method", "args"), [("plugins", ()), ("registrations", ()), ("find", ("X-v0",)), ("make", ("X-v0",))]
)
def test_warns_once_and_at_the_users_line(
    site: FakeSite, registry: Registry, method: str, args: tuple[str, ...]
) -> None:
    site.add("bad-suite", "1 / 0")
    local(registry, "toy:Counter")
    with pytest.warns(PluginWarning, match=r"plugin bad-suite 1\.2 .* is left out: ZeroDivisionError") as caught:
        getattr(registry, method)(*args)
    (warning,) = caught
    line = linecache.getline(warning.filename, warning.lineno)
    assert (warning.filename, line.strip()) == (__file__, "getattr(registry, method)(*args)")
    getattr(registry, method)(*args)  # warnings are errors in these tests


def test_a_warning_turned_into_an_error_loses_nothing(site: FakeSite, registry: Registry) -> None:
    site.add("bad-suite", "1 / 0")
    site.add_suite("good-suite", "A-v0")
    with pytest.raises(PluginWarning, match="bad-suite"), warnings.catch_warnings(action="error"):
        registry.find("A-v0")
    assert registry.find("A-v0").distribution == "good-suite"
    assert [plugin.status for plugin in registry.plugins()] == ["broken", "loaded"]


def test_strict_mode_raises_every_time(site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add("bad-suite", "1 / 0")
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    for _ in range(2):
        with pytest.raises(PluginError, match="bad-suite"):
            registry.registrations()


def test_a_plugin_that_looks_at_the_catalogue_is_broken(
    site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envcore.registry._SHARED", registry)
    site.add("bad-suite", "import envcore\n" + hook("return [each.spec for each in envcore.list_envs()]"))
    site.add("worse-suite", "import envcore\nenvcore.make('A-v0')")
    site.add_suite("good-suite", "A-v0")
    with pytest.warns(PluginWarning) as caught:
        plugins = registry.plugins()
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
    registry.register(COUNTER)
    registry.register(COUNTER)
    assert registry.make("Counter-v0") == (toy.Counter(), toy.CounterParams())
    assert registry.make("local:Counter-v0")[0] == toy.Counter()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (EnvSpec(id="Counter-v0", entry_point="toy:Deck"), "'Counter-v0' is registered already, as 'toy:Counter'"),
        ("toy:Counter", "register takes EnvSpec objects, got 'toy:Counter'"),
    ],
)
def test_registering_is_all_or_nothing(registry: Registry, bad: Any, message: str) -> None:
    with pytest.raises(InvalidSpecError, match=message):
        registry.register(EnvSpec(id="Other-v0", entry_point="toy:Deck"), COUNTER, bad)
    assert registry.registrations() == ()


def test_a_clash_within_one_call(registry: Registry) -> None:
    registry.register(COUNTER)
    with pytest.raises(InvalidSpecError, match="registered already"):
        registry.register(EnvSpec(id="A-v0", entry_point="a:A"), EnvSpec(id="A-v0", entry_point="b:B"))
    assert [each.spec for each in registry.registrations()] == [COUNTER]


def test_registering_while_another_thread_lists(registry: Registry) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                registry.registrations()
        except BaseException as error:
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(300):
        registry.register(EnvSpec(id=f"A-v{number}", entry_point="a:A"))
    stop.set()
    reader.join()
    assert failures == []


def test_registering_from_a_module_that_discovery_waits_for(
    site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread imports a plugin's module, which registers; the other discovers, and waits for the import to end."""
    shared = types.SimpleNamespace(importing=threading.Event(), discovering=threading.Event(), registry=registry)
    monkeypatch.setattr(toy, "shared", shared, raising=False)

    def discover_late() -> Any:
        shared.discovering.set()
        return discover()

    monkeypatch.setattr("envcore.registry.discover", discover_late)
    code = """
        import toy
        from envcore.plugins import hookimpl
        from envcore.specs import EnvSpec

        toy.shared.importing.set()
        assert toy.shared.discovering.wait(10)
        toy.shared.registry.register(EnvSpec("B-v0", "toy:Counter"))

        @hookimpl
        def envcore_env_specs():
            return [EnvSpec("A-v0", "toy:Counter")]
    """
    module = site.add("good-suite", code)
    importer = threading.Thread(target=importlib.import_module, args=(module,), daemon=True)
    importer.start()
    assert shared.importing.wait(10)
    lister = threading.Thread(target=registry.registrations, daemon=True)
    lister.start()
    importer.join(10)
    lister.join(10)
    assert not importer.is_alive()
    assert not lister.is_alive()
    assert [each.qualified_id for each in registry.registrations()] == ["good-suite:A-v0", "local:B-v0"]


# Looking up.


def test_lists_in_the_order_of_ids(site: FakeSite, registry: Registry) -> None:
    site.add_suite("b-suite", "b-v0", "A-v0", "C-v0")
    site.add_suite("a-suite", "C-v0")
    registry.register(EnvSpec(id="B-v0", entry_point="toy:Counter"))
    assert [each.qualified_id for each in registry.registrations()] == [
        "b-suite:A-v0",
        "local:B-v0",
        "b-suite:b-v0",
        "a-suite:C-v0",
        "b-suite:C-v0",
    ]


def member(number: int, family: str = "counters/small") -> EnvSpec:
    return EnvSpec(f"{family}/{number}", "toy:Counter", {"goal": number}, family=family)


def test_a_family_is_listed_by_itself(site: FakeSite, registry: Registry) -> None:
    site.add_suite("good-suite", "A-v0")
    registry.register(*map(member, (10, 1, 2)), member(7, "a"))
    assert [each.spec.id for each in registry.registrations()] == ["A-v0"]
    assert registry.families() == ("a", "counters/small")
    assert [each.spec.id for each in registry.registrations("counters/small")] == [
        "counters/small/1",
        "counters/small/2",
        "counters/small/10",
    ]
    with pytest.raises(UnknownEnvironmentError, match=r"no family .* is called 'b'; there are: a, counters/small\.$"):
        registry.registrations("b")


def test_members_of_a_family_are_made_and_suggested(registry: Registry) -> None:
    registry.register(*map(member, range(1, 4)))
    assert registry.make("counters/small/2")[0] == toy.Counter(goal=2)
    with pytest.raises(UnknownEnvironmentError, match="Did you mean 'counters/small/3'"):
        registry.make("counter/small/3")


def test_no_families(registry: Registry) -> None:
    assert registry.families() == ()
    with pytest.raises(UnknownEnvironmentError, match="there are: none"):
        registry.registrations("a")


def test_a_clash_of_ids(site: FakeSite, registry: Registry) -> None:
    site.add_suite("b-suite", "A-v0")
    site.add_suite("a-suite", "A-v0")
    with pytest.raises(AmbiguousEnvironmentError, match=r"use make\('a-suite:A-v0'\) or make\('b-suite:A-v0'\)\.$"):
        registry.make("A-v0")
    assert registry.find("b-suite:A-v0").distribution == "b-suite"
    assert registry.find("A_Suite:A-v0").distribution == "a-suite"
    assert registry.make("a-suite:A-v0")[0] == toy.Counter()


@pytest.mark.parametrize("env_id", [None, 3, b"A-v0", COUNTER, ["A-v0"], np.str_])
def test_an_id_is_a_string(registry: Registry, env_id: Any) -> None:
    with pytest.raises(UnknownEnvironmentError, match="id is a string such as 'CartPole-v1', got"):
        registry.make(env_id)


def test_nothing_installed(registry: Registry) -> None:
    with pytest.raises(UnknownEnvironmentError, match=r"No environments are installed at all: pip install 'envcore\["):
        registry.make("Nothing")
    registry.register(COUNTER)
    with pytest.raises(UnknownEnvironmentError, match=r"Did you mean 'Counter-v0'\? `envcore list` shows"):
        registry.make("Counter")


@pytest.mark.parametrize(
    ("env_id", "suite"),
    [
        ("CartPole-v1", "envcore-classic-control"),
        ("MountainCar-v0", "envcore-classic-control"),
        ("SpaceInvaders-MinAtar", "envcore-minatar"),
        ("envcore-minatar:SpaceInvaders-MinAtar", "envcore-minatar"),
        ("Catch-bsuite", "envcore-bsuite"),
        ("bsuite/catch/0", "envcore-bsuite"),
        ("FourRooms-misc", "envcore-misc"),
    ],
)
def test_names_the_distribution_to_install(registry: Registry, env_id: str, suite: str) -> None:
    with pytest.raises(UnknownEnvironmentError, match=rf"If it is one of {suite}'s: pip install {suite}\."):
        registry.make(env_id)


@pytest.mark.parametrize("env_id", ["CartPole-v0", "other-suite:CartPole-v1", "other-suite:FourRooms-misc"])
def test_does_not_name_what_is_installed_or_not_meant(site: FakeSite, registry: Registry, env_id: str) -> None:
    site.add_suite("envcore-classic-control", "CartPole-v1")
    with pytest.raises(UnknownEnvironmentError) as caught:
        registry.make(env_id)
    assert "pip install" not in str(caught.value)


@pytest.mark.parametrize(
    ("env_id", "nearest"),
    [
        ("CartPole-v0", "Did you mean 'CartPole-v1'?"),
        ("cartpole-V1", "Did you mean 'CartPole-v1'?"),
        ("Cartpole", "Did you mean 'CartPole-v1'?"),
        ("other:CartPole-v1", "Did you mean 'good-suite:CartPole-v1'?"),
        (":CartPole-v1", "Did you mean 'good-suite:CartPole-v1'?"),
        ("", "is called ''. `envcore list`"),
        ("Nothing like it", "is called 'Nothing like it'. `envcore list`"),
    ],
)
def test_names_the_nearest(site: FakeSite, registry: Registry, env_id: str, nearest: str) -> None:
    site.add_suite("good-suite", "CartPole-v1", "Pendulum-v1")
    with pytest.raises(UnknownEnvironmentError) as caught:
        registry.find(env_id)
    assert nearest in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_id_repeats_what_is_left_out(
    site: FakeSite, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add("bad-suite", "1 / 0")
    site.add_suite("unloved-suite", "A-v0")
    monkeypatch.setenv("ENVCORE_DISABLE_PLUGINS", "unloved-suite")
    with pytest.warns(PluginWarning), pytest.raises(UnknownEnvironmentError) as caught:
        registry.make("A-v0")
    assert "Plugin bad-suite is broken: ZeroDivisionError: division by zero." in str(caught.value)
    assert "Plugin unloved-suite is disabled: ENVCORE_DISABLE_PLUGINS names it." in str(caught.value)
    assert "are installed at all" not in str(caught.value)


# Making.


@dataclasses.dataclass(frozen=True)
class Grid(Environment[Any, EnvParams]):
    size: int
    walls: Any = ()

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be positive, got {self.size}")
        {"few": 1}[self.walls] if isinstance(self.walls, str) else None

    @property
    def default_params(self) -> EnvParams:
        return EnvParams()


@dataclasses.dataclass(frozen=True)
class Tidy(Grid):
    """Turns what it gets into a tuple by itself."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "walls", tuple(self.walls))


not_a_class = toy.Counter()


def count_to(goal: int, tags: Any = ()) -> toy.Counter:
    """An entry point that is a function."""
    if goal < 1:
        raise ValueError(f"goal must be positive, got {goal}")
    return toy.Counter(goal)


def make_params() -> Any:
    class Params:
        def __repr__(self) -> str:
            return "Params()"

    return Params()


def test_params_are_on_the_device(registry: Registry) -> None:
    """Or each call of a compiled function would take them there again."""
    registry.register(COUNTER)
    env, params = registry.make("Counter-v0")
    leaves = jax.tree.leaves(params)
    assert leaves
    assert all(isinstance(leaf, jax.Array) for leaf in leaves)
    assert not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(env.default_params))


def test_an_entry_point_may_be_a_function(registry: Registry) -> None:
    local(registry, f"{__name__}:count_to", goal=5)
    assert registry.make("X-v0") == (toy.Counter(goal=5), toy.CounterParams())
    assert registry.make("X-v0", goal=7)[0] == toy.Counter(goal=7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": 1}, r"^X-v0 has no constructor option 'colour'; its options: goal, tags\.$"),
        ({"bonus": 1}, r"'bonus' is a parameter"),
        ({"goal": 0}, r"^X-v0 refuses its options: goal must be positive, got 0$"),
        ({"tags": [1]}, r"^X-v0's option 'tags' must be hashable, .* use a tuple, got \[1\]$"),
    ],
)
def test_wrong_options_of_a_function(registry: Registry, options: dict[str, Any], message: str) -> None:
    local(registry, f"{__name__}:count_to", goal=3)
    with pytest.raises(EnvironmentOptionError, match=message):
        registry.make("X-v0", **options)


def test_options_of_make_win_over_the_specs(registry: Registry) -> None:
    local(registry, "toy:Counter", goal=5)
    assert registry.make("X-v0")[0] == toy.Counter(goal=5)
    assert registry.make("X-v0", goal=7)[0] == toy.Counter(goal=7)


def test_unknown_option(registry: Registry) -> None:
    local(registry, "toy:Counter")
    with pytest.raises(EnvironmentOptionError, match=r"^X-v0 has no constructor option 'gaol'; its options: goal\.$"):
        registry.make("X-v0", gaol=3)


def test_an_option_that_is_a_parameter(registry: Registry) -> None:
    local(registry, "toy:Counter")
    with pytest.raises(
        EnvironmentOptionError, match=r"'bonus' is a parameter: params = params\.replace\(bonus=\.\.\.\)"
    ):
        registry.make("X-v0", bonus=1.0)


def test_an_option_that_is_a_parameter_of_an_environment_with_required_options(registry: Registry) -> None:
    local(registry, f"{__name__}:Grid", size=3)
    with pytest.raises(EnvironmentOptionError, match="'max_steps_in_episode' is a parameter"):
        registry.make("X-v0", max_steps_in_episode=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": 1}, r"^X-v0 has no constructor option 'colour'; its options: size, walls\.$"),
        ({}, r"^X-v0 refuses its options: .* missing 1 required positional argument: 'size'$"),
        ({"size": 0}, r"^X-v0 refuses its options: size must be positive, got 0$"),
        ({"size": "3"}, r"^X-v0 refuses its options: '<' not supported"),
        ({"size": 3, "walls": "many"}, r"^X-v0 refuses its options: 'many'$"),
        ({"size": 3, "walls": [1, 2]}, r"^X-v0's option 'walls' must be hashable, .* use a tuple, got \[1, 2\]$"),
        ({"size": 3, "walls": ([1], 2)}, r"option 'walls' must be hashable"),
        ({"size": 3, "walls": np.zeros(2)}, r"option 'walls' must be hashable"),
    ],
)
def test_wrong_options(registry: Registry, options: dict[str, Any], message: str) -> None:
    local(registry, f"{__name__}:Grid")
    with pytest.raises(EnvironmentOptionError, match=message):
        registry.make("X-v0", **options)


def test_an_environment_may_make_its_options_hashable(registry: Registry) -> None:
    local(registry, f"{__name__}:Tidy", size=3)
    assert registry.make("X-v0", walls=[1, 2])[0] == Tidy(size=3, walls=(1, 2))


@pytest.mark.parametrize(
    ("entry_point", "reason"),
    [
        ("no_such_module:X", "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("toy:Missing", "cannot be imported: AttributeError: module 'toy' has no attribute 'Missing'"),
        ("broken_module:X", "cannot be imported: OSError: two lines"),
        (f"{__name__}:not_a_class", "is neither a subclass of envcore.Environment nor a function"),
        ("toy:CounterState", "is neither a subclass of envcore.Environment nor a function"),
        (f"{__name__}:make_params", "returns Params() in place of an Environment"),
    ],
)
def test_an_entry_point_that_leads_nowhere(site: FakeSite, registry: Registry, entry_point: str, reason: str) -> None:
    (site.folder / "broken_module.py").write_text("raise OSError('two\\nlines')")
    local(registry, entry_point)
    with pytest.raises(EnvironmentLoadError) as caught:
        registry.make("X-v0")
    assert str(caught.value).startswith(f"local:X-v0 points at '{entry_point}', which ")
    assert reason in str(caught.value)
