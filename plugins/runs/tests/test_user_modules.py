"""What a user names as MODULE:NAME."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from envcore.errors import InvalidArgumentError
from envcore_runs.user_modules import imported, imported_function, is_reference, reference_to


def test_a_module_may_be_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("of_the_user.py").write_text("number = 3\nraise_ = 1 / number\n")
    assert imported("thing", "of_the_user:number") == 3
    with pytest.raises(InvalidArgumentError, match=r"^thing of_the_user:number is not a function, but 3\.$"):
        imported_function("thing", "of_the_user:number")


@pytest.mark.parametrize("name", ["", "a:", ":b", "a:b.c", "a b:c", "a.py:c"])
def test_no_references(name: str) -> None:
    assert not is_reference(name)
    with pytest.raises(
        InvalidArgumentError, match="thing must be one, two or MODULE:CLASS, as in `import MODULE`, got"
    ):
        imported("thing", name, ("one", "two"), "CLASS")
    with pytest.raises(InvalidArgumentError, match="thing must be MODULE:NAME, as in"):
        imported("thing", name)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("no_such_module:f", "ModuleNotFoundError: No module named"), ("json:f", "AttributeError: module 'json' has no")],
)
def test_what_cannot_be_imported(name: str, problem: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^thing {name} cannot be imported: {problem}"):
        imported("thing", name)


def test_a_reference_leads_back() -> None:
    assert reference_to("thing", json.loads) == "json:loads"
    renamed: Any = lambda: None  # noqa: E731
    for value in (renamed, json.JSONDecoder.decode, json.JSONDecoder()):
        with pytest.raises(InvalidArgumentError, match=r"^thing .* has no name by which a saved run can find it"):
            reference_to("thing", value)


def test_another_process_has_another_script(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own:
        """As if the script had defined it."""

    Own.__module__, Own.__qualname__ = "__main__", "Own"
    monkeypatch.setattr(sys.modules["__main__"], "Own", Own, raising=False)
    with pytest.raises(InvalidArgumentError, match="Define it at the top level of a module that the script imports"):
        reference_to("thing", Own)
