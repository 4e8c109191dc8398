"""Discovery against plugins that are broken in every way that we could think of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from envcore import __version__
from envcore.errors import EnvcoreError, PluginError
from envcore.installing import CORE
from envcore.plugins import PluginRecord, announcing_nothing, discover, problems
from envcore.specs import AlgorithmSpec, CommandSpec, NamedSpec, PolicySpec
from fake_site import FakeSite, announcing, commands, hook, metadata_of


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    monkeypatch.setattr("envcore.plugins._MOST_ROWS", 2_000)
    return FakeSite(tmp_path, monkeypatch)


def found(distribution: str) -> PluginRecord:
    """The record of a distribution."""
    (record,) = [each for each in discover() if each.distribution == distribution]
    return record


def test_nothing_installed(site: FakeSite) -> None:
    assert discover() == ()


def test_records_a_good_plugin(site: FakeSite) -> None:
    module = site.add_suite("Good_Suite", "A-v0", "B-v0")
    (record,) = discover()
    assert record == PluginRecord("good-suite", "1.2", "main", module, "loaded", record.specs)
    assert [spec.id for spec in record.specs] == ["A-v0", "B-v0"]
    assert list(problems([record])) == []


def test_a_plugin_may_announce_commands_alone_or_beside_environments(site: FakeSite) -> None:
    row = "return [CommandSpec('walk', 'Walk to the end.', 'no_such_module:walk')]"
    site.add("commands-alone", commands(row))
    site.add("both", announcing("A-v0") + commands(row))
    both, alone = discover()
    walk = CommandSpec("walk", "Walk to the end.", "no_such_module:walk")
    assert (alone.status, alone.specs, alone.commands) == ("loaded", (), (walk,))
    assert (both.status, [spec.id for spec in both.specs], both.commands) == ("loaded", ["A-v0"], (walk,))


@pytest.mark.parametrize(("hook_name", "kind"), [("policies", PolicySpec), ("algorithms", AlgorithmSpec)])
def test_policies_and_algorithms(site: FakeSite, hook_name: str, kind: type[NamedSpec]) -> None:
    imports = f"from envcore.specs import {kind.__name__}\n"
    row = f"return [{kind.__name__}('walk', 'Walk.', 'no_such_module:walk')]"
    site.add("good-suite", imports + hook(row, f"envcore_{hook_name}()"))
    site.add("other-suite", imports + hook(f"{row} * 2", f"envcore_{hook_name}()"))
    good, other = discover()
    assert (good.status, getattr(good, hook_name)) == ("loaded", (kind("walk", "Walk.", "no_such_module:walk"),))
    assert (other.status, other.error) == ("broken", f"envcore_{hook_name}() announces 'walk' twice")


def test_order_is_that_of_names(site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("zebra", "Z-v0")
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, name in ((first, "middle"), (second, "aardvark")):
        folder.mkdir()
        FakeSite(folder, monkeypatch).add_suite(name, "A-v0")
    for path in ([tmp_path, first, second], [second, first, tmp_path]):
        monkeypatch.setattr(sys, "path", [str(each) for each in path])
        assert [record.distribution for record in discover()] == ["aardvark", "middle", "zebra"]


def test_the_same_distribution_twice_on_the_path_counts_once(
    site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = tmp_path / "behind"
    behind.mkdir()
    FakeSite(behind, monkeypatch).add_suite("good-suite", "Old-v0")
    front = tmp_path / "front"
    front.mkdir()
    FakeSite(front, monkeypatch).add_suite("good-suite", "New-v0")
    monkeypatch.setattr(sys, "path", [str(front), str(behind)])
    (record,) = discover()
    assert [spec.id for spec in record.specs] == ["New-v0"]


NO_HOOK = (
    "it has no function envcore_env_specs() or envcore_commands() or envcore_policies() or envcore_algorithms() "
    "that is marked with @envcore.plugins.hookimpl"
)
IMPORTS = {
    "a missing package": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "a syntax error": ("def broken(:", "SyntaxError: "),
    "a bug": ("1 / 0", "ZeroDivisionError: division by zero"),
    "sys.exit": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "sys.exit without a status": ("import sys; sys.exit()", "SystemExit"),
    "a BaseException": ("class Stop(BaseException): ...\nraise Stop('stop\\n  here')", "Stop: stop here"),
    "an exception whose str raises": (
        "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute",
        "Mute: an error whose message cannot be shown",
    ),
    "an exception whose str exits": (
        "class Rude(Exception):\n    def __str__(self): raise SystemExit(2)\nraise Rude",
        "Rude: an error whose message cannot be shown",
    ),
}
HOOKS = {
    "a raising hook": (hook("raise ValueError('no rows today')"), "ValueError: no rows today"),
    "a hook that exits": (hook("raise SystemExit(1)"), "SystemExit: 1"),
    "None": (hook("pass"), "envcore_env_specs() returned None instead of a list of EnvSpec"),
    "a number": (hook("return 3"), "envcore_env_specs() returned 3 instead of a list of EnvSpec"),
    "a string": (hook("return 'A-v0'"), "row 0 of envcore_env_specs() is of type str, not EnvSpec"),
    "a generator that raises midway": (
        hook("yield EnvSpec('A-v0', 'a:A'); raise KeyError('b')"),
        "KeyError: 'b'",
    ),
    "a row that is a tuple": (
        hook("return [EnvSpec('A-v0', 'a:A'), ('B-v0', 'b:B')]"),
        "row 1 of envcore_env_specs() is of type tuple, not EnvSpec",
    ),
    "a row of a class without checks": (
        hook("return [type('Lax', (EnvSpec,), {'__post_init__': lambda self: None})(None, None)]"),
        "row 0 of envcore_env_specs() is of type Lax, not EnvSpec",
    ),
    "a malformed id": (
        hook("return [EnvSpec('a b', 'a:A')]"),
        "EnvSpec.id 'a b' must start with a letter or digit and hold only a-z, A-Z, 0-9 and . _ + / -",
    ),
    "an endless generator": (
        hook("n = 0\n    while True:\n        n += 1\n        yield EnvSpec(f'A-v{n}', 'a:A')"),
        "envcore_env_specs() announces more than 2,000 environments; use options instead",
    ),
    "an endless generator of one row": (
        hook("import itertools\n    return itertools.repeat(EnvSpec('A-v0', 'a:A'))"),
        "envcore_env_specs() announces 'A-v0' twice",
    ),
    "a cancelled task": (hook("import asyncio\n    raise asyncio.CancelledError"), "CancelledError"),
    "an endless recursion": (hook("return envcore_env_specs()"), "RecursionError: "),
    "an id twice": (announcing("A-v0", "B-v0", "A-v0"), "envcore_env_specs() announces 'A-v0' twice"),
    "no hook": ("", NO_HOOK),
    "an unmarked hook": (
        "def envcore_env_specs(): return []",
        NO_HOOK,
    ),
}
COMMANDS = {
    "a raising hook of commands": (commands("raise ValueError('no commands today')"), "ValueError: no commands today"),
    "no commands": (commands("pass"), "envcore_commands() returned None instead of a list of CommandSpec"),
    "an environment among the commands": (
        commands("return [CommandSpec('walk', 'Walk.', 'a:A'), EnvSpec('A-v0', 'a:A')]"),
        "row 1 of envcore_commands() is of type EnvSpec, not CommandSpec",
    ),
    "a malformed command": (
        commands("return [CommandSpec('--walk', 'Walk.', 'a:A')]"),
        "CommandSpec.name '--walk' must start with a letter and hold only words of a-z and 0-9, joined by - or _",
    ),
    "a command twice": (
        commands("return [CommandSpec('walk', 'Walk.', 'a:A')] * 2"),
        "envcore_commands() announces 'walk' twice",
    ),
    "endless commands": (
        commands("n = 0\n    while True:\n        n += 1\n        yield CommandSpec(f'walk{n}', '', 'a:A')"),
        "envcore_commands() announces more than 2,000 commands",
    ),
    "good environments beside bad commands": (
        announcing("A-v0") + commands("return 3"),
        "envcore_commands() returned 3 instead of a list of CommandSpec",
    ),
}
MISSPELLED = {
    "a misspelled hook": (
        hook("return []", "envcore_env_spec()"),
        "its envcore_env_spec() is not a hook of envcore: did you mean envcore_env_specs()?",
    ),
    "a misspelled hook without its mark": (
        hook("return []") + "\ndef envcore_policys(): return []\n",
        "its envcore_policys() is not a hook of envcore: did you mean envcore_policies()?",
    ),
    "one of two hooks without its mark": (
        hook("return []") + "\ndef envcore_commands(): return []\n",
        "its envcore_commands() is not marked with @envcore.plugins.hookimpl",
    ),
}
WRONG_HOOKS = {
    "commands with an argument too many": (commands("return []", "envcore_commands(app)"), "{'app'}"),
    "an argument too many": (hook("return []", "envcore_env_specs(config)"), "{'config'}"),
    "a hook of a newer core": (
        hook("return []") + "\n@hookimpl\ndef envcore_wrappers(): return []\n",
        "unknown hook 'envcore_wrappers'",
    ),
}


@pytest.mark.parametrize("case", IMPORTS | HOOKS | COMMANDS | MISSPELLED)
def test_broken_plugin(site: FakeSite, case: str) -> None:
    code, error = (IMPORTS | HOOKS | COMMANDS | MISSPELLED)[case]
    site.add("bad-suite", code)
    site.add_suite("good-suite", "A-v0")
    record = found("bad-suite")
    assert (record.status, record.specs, record.commands) == ("broken", (), ())
    assert record.error.startswith(error)
    assert "\n" not in record.error
    assert found("good-suite").status == "loaded"
    (problem,) = problems(discover())
    assert f"plugin bad-suite 1.2 (bad_suite_plugin) is left out: {record.error}." in problem
    assert "ENVCORE_DISABLE_PLUGINS=bad-suite" in problem


@pytest.mark.parametrize("case", WRONG_HOOKS)
def test_wrong_hook(site: FakeSite, case: str) -> None:
    code, error = WRONG_HOOKS[case]
    site.add("bad-suite", code)
    record = found("bad-suite")
    assert (record.status, record.specs, record.commands) == ("broken", (), ())
    assert record.error.startswith("PluginValidationError: ")
    assert error in record.error
    assert "\n" not in record.error


@pytest.mark.parametrize("case", IMPORTS | HOOKS | COMMANDS | MISSPELLED | WRONG_HOOKS)
def test_strict_mode_raises(site: FakeSite, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    code, _ = (IMPORTS | HOOKS | COMMANDS | MISSPELLED | WRONG_HOOKS)[case]
    site.add("bad-suite", code)
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    with pytest.raises(PluginError, match=r"^plugin bad-suite is broken: \S") as caught:
        discover()
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("entry_point", "error"),
    [
        ("main = bad_suite_plugin:plugin", "AttributeError: module 'bad_suite_plugin' has no attribute 'plugin'"),
        ("main = bad_suite.plugin", "ModuleNotFoundError: No module named 'bad_suite'"),
        ("main = not a module!", ("AttributeError: ", "ValueError: ")),  # the first from old importlib_metadata
        (
            "main = bad_suite_plugin\nother = bad_suite_plugin",
            "it has 2 entry points in the group envcore.plugins, where a distribution has one",
        ),
    ],
)
def test_bad_entry_point(site: FakeSite, entry_point: str, error: str | tuple[str, ...]) -> None:
    site.add("bad-suite", announcing("A-v0"), entry_points=entry_point)
    site.add_suite("good-suite", "A-v0")
    bad = [record for record in discover() if record.distribution == "bad-suite"]
    assert {(record.status, record.specs) for record in bad} == {("broken", ())}
    assert all(record.error.startswith(error) for record in bad)
    assert found("good-suite").status == "loaded"


@pytest.mark.parametrize("metadata", ["", "Metadata-Version: 2.1\nVersion: 1.2\n", "rubbish", b"Name: na\xefve\n"])
def test_distribution_without_a_name(site: FakeSite, metadata: str | bytes) -> None:
    module = site.add("nameless", announcing("A-v0"), metadata=metadata)
    site.add_suite("good-suite", "A-v0")
    record = found("nameless")
    assert (record.status, record.module, record.version) == ("broken", module, "?")
    assert record.error == "its metadata is missing, unreadable or without a valid name; install it again"
    assert module not in sys.modules
    assert found("good-suite").status == "loaded"


# Distributions whose entry points are damaged; test_distributions.py has the many ways.

STRANGE = b"[console_scripts]\nt\xf6\xf6l = tool:main\n"


def test_damaged_entry_points_that_name_no_group_are_shown_without_a_warning(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add_metadata("stranger-3.0.dist-info", metadata_of("stranger", "3.0"), STRANGE)
    site.add_suite("good-suite", "A-v0")
    for strict in ("0", "1"):
        monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", strict)
        record = found("stranger")
        assert (record.status, record.version, record.name, record.module) == ("unreadable", "3.0", "", "")
        assert record.error.startswith("its entry_points.txt is damaged (UnicodeDecodeError: 'utf-8' codec")
        assert record.error.endswith("; install it again")
        assert found("good-suite").status == "loaded"
        assert list(problems(discover())) == []


def test_damaged_entry_points_of_a_plugin(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_metadata("bad_suite-1.2.dist-info", metadata_of("bad-suite"), "[envcore.plugins]\nmain")
    site.add_suite("good-suite", "A-v0")
    record = found("bad-suite")
    assert (record.status, record.specs, record.commands) == ("broken", (), ())
    assert record.error.startswith("its entry_points.txt is damaged (TypeError: ")
    assert found("good-suite").status == "loaded"
    (problem,) = problems(discover())
    assert problem.startswith(f"plugin bad-suite 1.2 is left out: {record.error}. Fix or uninstall it, ")
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    with pytest.raises(PluginError, match=r"^plugin bad-suite is broken: its entry_points\.txt is damaged"):
        discover()


@pytest.mark.parametrize("distribution", ["bad-suite", "stranger"])
def test_damaged_ones_can_be_disabled(site: FakeSite, monkeypatch: pytest.MonkeyPatch, distribution: str) -> None:
    damage = STRANGE if distribution == "stranger" else "[envcore.plugins]\nmain"
    site.add_metadata(f"{distribution.replace('-', '_')}-1.2.dist-info", metadata_of(distribution), damage)
    monkeypatch.setenv("ENVCORE_DISABLE_PLUGINS", distribution)
    assert found(distribution).status == "disabled"
    assert list(problems(discover())) == []


def test_with_autoload_off_no_damage_matters(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_metadata("stranger-3.0.dist-info", metadata_of("stranger"), STRANGE)
    site.add_metadata("bad_suite-1.2.dist-info", metadata_of("bad-suite"), "[envcore.plugins]\nmain")
    site.add_suite("good-suite", "A-v0")
    monkeypatch.setenv("ENVCORE_PLUGIN_AUTOLOAD", "0")
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    assert [(record.distribution, record.status) for record in discover()] == [
        ("bad-suite", "disabled"),
        ("good-suite", "disabled"),
    ]


def test_copies_that_pip_left_behind_disable_nothing(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    group = "[envcore.plugins]\nmain = good_suite_plugin\n"
    site.add_metadata("~ood_suite-1.1.dist-info", metadata_of("good-suite", "1.1"), group)
    site.add_metadata("good_suite-1.1.dist-info", metadata_of("good-suite", "1.1"), group)
    site.add_metadata("good_suite-1.0.dist-info", "", group)
    (record,) = discover()
    assert (record.distribution, record.version, record.status) == ("good-suite", "1.2", "loaded")


def test_two_distributions_with_one_module_are_told_apart(site: FakeSite) -> None:
    module = site.add_suite("old-name", "A-v0")
    site.add_suite("new-name", "A-v0", entry_points=f"main = {module}")
    assert [(record.distribution, record.status) for record in discover()] == [
        ("new-name", "loaded"),
        ("old-name", "loaded"),
    ]


def test_two_functions_of_one_plugin_add_up(site: FakeSite) -> None:
    second = "@hookimpl(specname='envcore_env_specs')\ndef more():\n    yield EnvSpec('B-v0', 'b:B')\n"
    site.add("good-suite", announcing("A-v0") + second)
    assert {spec.id for spec in found("good-suite").specs} == {"A-v0", "B-v0"}


def test_a_plugin_may_announce_as_many_rows_as_the_limit_allows(site: FakeSite) -> None:
    site.add("good-suite", hook("return (EnvSpec(f'A-v{n}', 'a:A') for n in range(2_000))"))
    assert len(found("good-suite").specs) == 2_000


@pytest.mark.parametrize("rows", ["[EnvSpec(f'A-v{n}', 'a:A') for n in range(100_000)]", "endless()"])
def test_far_too_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str) -> None:
    endless = "import itertools\ndef endless():\n    for n in itertools.count(): yield EnvSpec(f'A-v{n}', 'a:A')\n"
    FakeSite(tmp_path, monkeypatch).add("large-suite", endless + hook(f"return {rows}"))
    error = "envcore_env_specs() announces more than 10,000 environments; use options instead"
    assert found("large-suite").error == error


HUGE = "'x' * 10_000_000"
LONG = {
    "an id": (
        hook(f"return [EnvSpec({HUGE}, 'a:A')]"),
        "EnvSpec.id must have at most 1,000 characters, got 10,000,000",
    ),
    "a summary": (
        hook(f"return [EnvSpec('A-v0', 'a:A', summary={HUGE})]"),
        "EnvSpec.summary must have at most 1,000 characters, got 10,000,000",
    ),
    "a command's summary": (
        commands(f"return [CommandSpec('walk', {HUGE}, 'a:A')]"),
        "CommandSpec.summary must have at most 1,000 characters, got 10,000,000",
    ),
    "an error": (f"raise ImportError({HUGE})", f"ImportError: {'x' * 1000}\N{HORIZONTAL ELLIPSIS}"),
    "a result": (
        hook(f"return type('Odd', (), {{'__repr__': lambda self: {HUGE}}})()"),
        "envcore_env_specs() returned xxx",
    ),
    "bytes": (hook(f"return [EnvSpec(({HUGE}).encode(), 'a:A')]"), "EnvSpec.id must be a string, got b'xxx"),
}


@pytest.mark.parametrize("case", LONG)
def test_text_without_end_is_cut(site: FakeSite, case: str) -> None:
    code, error = LONG[case]
    site.add("bad-suite", code)
    record = found("bad-suite")
    assert record.status == "broken"
    assert record.error.startswith(error)
    assert len(record.error) < 1_100


def test_ids_that_differ_in_case_and_separators_are_different(site: FakeSite) -> None:
    site.add_suite("good-suite", "A_b-v0", "a-b-v0", "A-B-v0", "a_b-V0")
    assert len(found("good-suite").specs) == 4


def test_an_interrupt_is_not_caught(site: FakeSite) -> None:
    site.add("slow-suite", "import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    with pytest.raises(KeyboardInterrupt):
        discover()


@pytest.mark.parametrize(
    ("requires", "fits"),
    [
        (CORE, True),
        (f"{CORE.title()}>={__version__}", True),
        ("envcore[all]>=0.1,<1", True),
        ("envcore>=99", False),
        ("envcore[all]==0.0.1", False),
        ("envcore>=99; python_version < '3'", True),
        ("envcore>=99; extra == 'test'", True),
        ("envcore>=99; python_version > '3'", False),
        ("envcore-minatar>=99", True),
        (f"{CORE} 99 or so", True),
    ],
)
def test_plugin_for_another_core(site: FakeSite, requires: str, fits: bool) -> None:
    module = site.add_suite("good-suite", "A-v0", requires=requires)
    record = found("good-suite")
    assert record.status == ("loaded" if fits else "broken")
    if not fits:
        assert record.error.startswith(f"it needs {CORE}")
        assert f"{CORE} {__version__} is installed" in record.error
        assert module not in sys.modules


def test_a_core_before_its_release_fits_plugins_for_older_ones(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envcore.plugins.__version__", "0.3.0rc1")
    site.add_suite("older-suite", "A-v0", requires="envcore>=0.2,<1")
    site.add_suite("newer-suite", "A-v0", requires="envcore>=0.3")
    assert [record.status for record in discover()] == ["broken", "loaded"]


@pytest.mark.parametrize("names", ["Bad_Suite", " bad.suite ,,", "other, MAIN", "main"])
def test_disabled_is_never_imported(site: FakeSite, monkeypatch: pytest.MonkeyPatch, names: str) -> None:
    module = site.add("bad-suite", "1 / 0")
    site.add_suite("good-suite", "A-v0", entry_points="other = good_suite_plugin")
    monkeypatch.setenv("ENVCORE_DISABLE_PLUGINS", names)
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    record = found("bad-suite")
    assert (record.status, record.specs, record.error) == ("disabled", (), "ENVCORE_DISABLE_PLUGINS names it")
    assert module not in sys.modules
    assert list(problems(discover())) == []


def test_disabling_an_unknown_plugin_is_reported(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("good-suite", "A-v0")
    monkeypatch.setenv("ENVCORE_DISABLE_PLUGINS", "god-suite")
    assert found("good-suite").status == "loaded"
    assert list(problems(discover())) == [
        "ENVCORE_DISABLE_PLUGINS names 'god-suite', which matches no installed plugin."
    ]


@pytest.mark.parametrize("off", ["0", " 0 ", "false", "No", "OFF"])
def test_autoload_off(site: FakeSite, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    module = site.add_suite("good-suite", "A-v0")
    monkeypatch.setenv("ENVCORE_PLUGIN_AUTOLOAD", off)
    record = found("good-suite")
    assert (record.status, record.specs, record.error) == ("disabled", (), "ENVCORE_PLUGIN_AUTOLOAD is off")
    assert module not in sys.modules


@pytest.mark.parametrize("on", ["", " ", "1", "True", "yes", "on"])
def test_autoload_on(site: FakeSite, monkeypatch: pytest.MonkeyPatch, on: str) -> None:
    site.add_suite("good-suite", "A-v0")
    monkeypatch.setenv("ENVCORE_PLUGIN_AUTOLOAD", on)
    assert found("good-suite").status == "loaded"


@pytest.mark.parametrize("variable", ["ENVCORE_PLUGIN_AUTOLOAD", "ENVCORE_STRICT_PLUGINS", "ENVCORE_TRACE_PLUGINS"])
def test_a_switch_is_on_or_off(site: FakeSite, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "maybe")
    with pytest.raises(EnvcoreError, match=f"{variable} must be 0 or 1, got 'maybe'"):
        discover()


def test_what_a_plugin_says_cannot_steer_the_terminal(site: FakeSite) -> None:
    site.add("evil", "raise ImportError('\\x1b]0;renamed\\x07 \\x9b2J \\u202egnp')")
    (record,) = discover()
    assert record.error == r"ImportError: \x1b]0;renamed\x07 \x9b2J \u202egnp"
    (problem,) = problems([record, PluginRecord("a\x1b", "1\x07", "main", "m\x1b", "loaded")])
    assert problem.isprintable()
    (problem,) = problems([PluginRecord("a\x1b", "1\x07", "main", "m\x1b", "broken", (), "why")])
    assert r"plugin a\x1b 1\x07 (m\x1b) is left out" in problem


def test_a_distribution_without_an_entry_point_is_named(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    assert list(announcing_nothing()) == []
    needs_core = f"{metadata_of('silent-suite')}Requires-Dist: envcore>=0.1\n"
    site.add_metadata("silent_suite-1.2.dist-info", needs_core)
    site.add_metadata("other-1.2.dist-info", f"{metadata_of('other')}Requires-Dist: jax\n")
    (sentence,) = announcing_nothing()
    assert sentence.startswith("silent-suite requires envcore, but announces nothing: ")
    site.add_metadata("silent_suite-1.2.dist-info", needs_core, "[envcore.plugin]\nmain = silent_suite\n")
    wrong = "silent-suite has an entry point in the group 'envcore.plugin', which must be 'envcore.plugins'."
    assert list(announcing_nothing()) == [wrong]
