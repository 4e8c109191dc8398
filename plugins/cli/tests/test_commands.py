"""Commands of plugins: working ones, broken ones, and two with the same name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from envcore.plugins import PluginRecord
from envcore.specs import CommandSpec
from envcore.suggestions import how_to_install

if TYPE_CHECKING:
    from command_line import Run

MARKUP = "Do [/red] things."

MODULE = """
    import typer
    from envcore.errors import EnvcoreError

    def greet(name: str, times: int = 1):
        "Greet somebody."
        print(f"hello {name}" * times)

    def fail():
        raise EnvcoreError("nothing to do")

    several = typer.Typer(add_completion=True)

    @several.command()
    def one(): print("one")

    @several.command()
    def two(): print("two")

    alone = typer.Typer()

    @alone.command()
    def only(word: str): print(f"only {word}")

    number = 3
"""

MODULES = {
    "walk_commands": MODULE,
    "raising_commands": "raise ImportError('no disk today')",
}

RECORDS = [
    PluginRecord("broken-suite", "1.0", "main", "broken_suite", "broken", (), "ValueError: no rows today"),
    *(
        PluginRecord(name, "1.0", "main", name, "loaded", tuple(CommandSpec(*row) for row in rows))
        for name, rows in {
            "a-suite": [
                ("greet", MARKUP, "walk_commands:greet"),
                ("several", "Several commands.", "walk_commands:several"),
                ("alone", "A single command.", "walk_commands:alone"),
                ("fail", "Fail.", "walk_commands:fail"),
                ("twin", "The twin of a.", "walk_commands:greet"),
                ("list", "Another list.", "walk_commands:greet"),
            ],
            "b-suite": [
                ("twin", "The twin of b.", "walk_commands:alone"),
                ("raising", "", "raising_commands:greet"),
                ("missing", "", "walk_commands:nothing"),
                ("number", "", "walk_commands:number"),
            ],
        }.items()
    ),
]


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[PluginRecord, ...]:
    for name, code in MODULES.items():
        (tmp_path / f"{name}.py").write_text(dedent(code))
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    return tuple(RECORDS)


def test_functions_and_apps_are_commands(run: Run) -> None:
    assert run("greet", "you", "--times", "2") == (0, "hello youhello you\n", "")
    assert run("several", "two")[:2] == (0, "two\n")
    assert run("alone", "word")[:2] == (0, "only word\n")
    help_ = run("several", "--help")[1]
    assert "one" in help_
    assert "completion" not in help_
    assert "Greet somebody." in run("greet", "--help")[1]
    assert run("greet")[0] == 2


def test_an_envcore_error_is_one_line(run: Run) -> None:
    assert run("fail") == (1, "", "error: nothing to do\n")


def test_the_help_lists_them_without_importing_them(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    shown = [line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line.strip()]
    assert shown[:4] == ["list", "plugins", "info", "rollout"]
    assert {"a-suite:list", "a-suite:twin", "b-suite:twin", "greet", "several", "missing"} <= set(shown)
    assert shown.count("list") == 1
    assert "twin" not in shown
    assert MARKUP in out
    assert not set(MODULES) & set(sys.modules)


def test_two_of_one_name_are_qualified_by_distribution(run: Run) -> None:
    code, _, err = run("twin", "x")
    assert code == 1
    assert err == (
        "error: the command 'twin' is announced by several distributions: use 'a-suite:twin' or 'b-suite:twin'.\n"
    )
    assert run("A_Suite:twin", "x")[1] == "hello x\n"
    assert run("b-suite:twin", "x")[1] == "only x\n"


def test_no_plugin_replaces_a_command_of_the_command_line(run: Run) -> None:
    assert "Counter-v0" in run("list")[1]
    assert run("a-suite:list", "x")[1] == "hello x\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raising", "'raising_commands:greet', which cannot be imported: ImportError: no disk today"),
        ("missing", "'walk_commands:nothing', which cannot be imported: AttributeError: module 'walk_commands' has no"),
        ("number", "'walk_commands:number', which is neither a typer.Typer nor a function"),
    ],
)
def test_a_broken_command_says_what_is_wrong_and_affects_no_other(run: Run, name: str, message: str) -> None:
    code, out, err = run(name)
    assert (code, out) == (1, "")
    assert err.startswith(f"error: the command b-suite:{name} points at {message}")
    assert err.count("\n") == 1
    assert run("greet", "you")[0] == run("list")[0] == run("--help")[0] == 0


def test_an_unknown_command_names_the_nearest_what_to_install_and_what_is_broken(run: Run) -> None:
    code, _, err = run("gret")
    assert code == 2
    assert "there is no command 'gret'. Did you mean 'greet'?" in err
    assert "Plugin broken-suite is broken: ValueError: no rows today." in err
    provided = f"envcore-baselines provides it: {how_to_install('envcore-baselines')}."
    assert f"there is no command 'bsuite'. {provided}" in run("bsuite")[2]
    assert f"Did you mean 'bsuite'? {provided}" in run("bsuit")[2]
    assert "pip install" not in run("c-suite:twin")[2]


def test_the_help_of_installed_commands_imports_nothing_heavy() -> None:
    code = """
        import sys
        from envcore_cli import main
        sys.argv = ["envcore", "--help"]
        try:
            main()
        except SystemExit:
            heavy = {"jax", "numpy", "PIL", "envcore_baselines.bsuite.commands", "envcore_viewer.commands"}
            print(sorted(heavy & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
