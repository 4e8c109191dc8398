"""Discovery: what good plugins announce, how broken ones are reported, and finding what is announced by its name."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from envcore import __version__
from envcore.errors import InvalidArgumentError, PluginError
from envcore.plugins import Announced, Catalogue, PluginRecord, Spec, discover
from envcore.specs import CommandSpec, EnvSpec
from fake_site import FakeSite, hook, metadata_of


def found(distribution: str) -> PluginRecord:
    """The record of a distribution."""
    (record,) = [each for each in discover() if each.distribution == distribution]
    return record


def names(record: PluginRecord) -> list[str]:
    return [spec.name for spec in record.specs]


# Good plugins.


def test_a_good_plugin_is_recorded(site: FakeSite) -> None:
    module = site.add_suite("Good_Suite", "A-v0", "B-v0")
    (record,) = discover()
    specs = EnvSpec("A-v0", "toy:Counter"), EnvSpec("B-v0", "toy:Counter")
    assert record == PluginRecord("good-suite", "1.2", "main", module, "loaded", specs)


def test_order_is_by_name(site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("zebra", "Z-v0")
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, name in ((first, "middle"), (second, "aardvark")):
        folder.mkdir()
        FakeSite(folder, monkeypatch).add_suite(name, "A-v0")
    for path in ([tmp_path, first, second], [second, first, tmp_path]):
        monkeypatch.setattr(sys, "path", [str(each) for each in path])
        assert [record.distribution for record in discover()] == ["aardvark", "middle", "zebra"]


def test_what_pip_is_removing_is_ignored(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    group = "[envcore.plugins]\nmain = good_suite_plugin\n"
    site.add_metadata("~ood_suite-1.1.dist-info", metadata_of("good-suite", "1.1"), group)
    (record,) = discover()
    assert (record.distribution, record.version, record.status) == ("good-suite", "1.2", "loaded")


# Broken plugins.

BROKEN = {
    "a missing package": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "sys.exit": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "a raising hook": (hook("raise ValueError('no rows today')"), "ValueError: no rows today"),
    "None": (hook("pass"), "envcore_env_specs() returned None instead of a list of EnvSpec"),
    "a string": (hook("return 'A'"), "envcore_env_specs() returned a str, not a EnvSpec: 'A'"),
    "a malformed id": (hook("return [EnvSpec('a b', 'a:A')]"), "the id of EnvSpec 'a b' must start"),
    "an id twice": (hook("return [EnvSpec('A-v0', 'a:A')] * 2"), "envcore_env_specs() announces 'A-v0' twice"),
    "no hook": ("x = 1", "it has no function envcore_env_specs() or envcore_commands() or "),
    "a misspelled hook": (
        hook("return []", "envcore_env_spec()"),
        "PluginValidationError: unknown hook 'envcore_env_spec'",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_recorded_and_takes_no_other_down(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    code, error = BROKEN[case]
    site.add("bad-suite", code)
    site.add_suite("good-suite", "A-v0")
    record = found("bad-suite")
    assert (record.status, record.specs) == ("broken", ())
    assert record.error.startswith(error)
    assert "\n" not in record.error
    assert found("good-suite").status == "loaded"
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    with pytest.raises(PluginError, match=r"^plugin bad-suite is broken: \S") as caught:
        discover()
    assert caught.value.__cause__ is not None


def test_damaged_metadata_affects_no_other_distribution(site: FakeSite) -> None:
    site.add_metadata("empty-1.0.dist-info", "")
    site.add_metadata("-odd.dist-info", "")
    site.add_metadata("binary-1.0.dist-info", metadata_of("binary"), b"[console_scripts]\nt\xf6\xf6l = tool:main\n")
    site.add_suite("nameless", "B-v0", metadata="rubbish")
    site.add_suite("good-suite", "A-v0")
    assert [(record.distribution, record.version, record.status) for record in discover()] == [
        ("good-suite", "1.2", "loaded"),
        ("nameless", "?", "broken"),
    ]


@pytest.mark.parametrize(
    ("requires", "fits"),
    [
        ("envcore", True),
        ("envcore>=99; extra == 'test'", True),
        ("envcore>=99; python_version > '3'", False),
    ],
)
def test_a_plugin_for_another_core_is_not_imported(site: FakeSite, requires: str, fits: bool) -> None:
    module = site.add_suite("good-suite", "A-v0", requires=requires)
    record = found("good-suite")
    assert record.status == ("loaded" if fits else "broken")
    if not fits:
        assert record.error == f"it needs envcore>=99, but envcore {__version__} is installed"
        assert module not in sys.modules


@pytest.mark.parametrize("disabled", ["Bad_Suite", "other, MAIN"])
def test_a_disabled_plugin_is_not_imported(site: FakeSite, monkeypatch: pytest.MonkeyPatch, disabled: str) -> None:
    module = site.add("bad-suite", "1 / 0")
    site.add_suite("good-suite", "A-v0", entry_points="another = good_suite_plugin")
    monkeypatch.setenv("ENVCORE_DISABLE_PLUGINS", disabled)
    record = found("bad-suite")
    assert (record.status, record.specs, record.error) == ("disabled", (), "it is listed in ENVCORE_DISABLE_PLUGINS")
    assert module not in sys.modules
    assert found("good-suite").status == "loaded"


# Finding what is announced.


def catalogue(*qualified: str) -> Catalogue[Announced[Spec]]:
    pairs = [each.split(":") for each in qualified]
    return Catalogue(Announced(distribution, EnvSpec(name, "toy:Counter")) for distribution, name in pairs)


def test_names_are_found_with_and_without_their_distribution() -> None:
    rows = catalogue("b:X", "a:X", "a:Y", "c:W")
    assert list(rows) == ["W", "a:X", "b:X", "Y"]
    assert rows["b:X"] == Announced("b", EnvSpec("X", "toy:Counter"))
    assert [each.distribution for each in rows.matching("X")] == ["a", "b"]
    assert rows.find("B:X", PluginError) == rows["b:X"]
    assert rows.find("a:Y", PluginError) == rows.find("Y", PluginError) == rows["Y"]
    assert [rows.find(each, PluginError) for each in ("x", "b:Y", ":Y", "Y:", "")] == [None] * 5
    with pytest.raises(InvalidArgumentError, match=r"the environment 'X' is announced by .*: use 'a:X' or 'b:X'"):
        rows.find("X", InvalidArgumentError)


def test_order_is_alphabetical_with_numbers_by_value() -> None:
    order = ["A-v0", "a-v1", "B-v0", "sea/0", "sea/2", "sea/10", "sea/100"]
    shuffled = random.Random(0).sample(order, len(order))
    assert list(catalogue(*(f"a:{each}" for each in shuffled))) == order


def test_what_is_announced_is_imported_when_it_is_loaded() -> None:
    assert Announced("x", CommandSpec("load", "", "json:loads")).load(PluginError)("[1]") == [1]
    with pytest.raises(InvalidArgumentError) as caught:
        Announced("x", CommandSpec("load", "", "no_such_module:f")).load(InvalidArgumentError)
    start = "the command x:load points at 'no_such_module:f', which cannot be imported: ModuleNotFoundError: "
    assert str(caught.value).startswith(start)
