"""Names that are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

INIT = """
from envcore.lazy import lazy_names
__getattr__, __dir__, __all__ = lazy_names(__name__, {"inside.deep": ["Deep"], "plain": ["one", "two"]}, ["plain"])
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "lazy_toy"
    (folder / "inside").mkdir(parents=True)
    (folder / "__init__.py").write_text(INIT)
    (folder / "inside" / "__init__.py").touch()
    (folder / "inside" / "deep.py").write_text("class Deep: ...\n")
    (folder / "plain.py").write_text("one, two = 1, 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder.name
    for name in [name for name in sys.modules if name.partition(".")[0] == folder.name]:
        del sys.modules[name]


def test_a_name_is_imported_when_it_is_asked_for(package: str) -> None:
    toy = __import__(package)
    assert f"{package}.plain" not in sys.modules
    assert (toy.one, toy.two) == (1, 2)
    assert toy.plain is sys.modules[f"{package}.plain"]
    assert f"{package}.inside" not in sys.modules
    assert toy.Deep.__module__ == f"{package}.inside.deep"


def test_names_are_listed_without_being_imported(package: str) -> None:
    toy = __import__(package)
    assert toy.__all__ == ["Deep", "one", "plain", "two"]
    assert {*toy.__all__, "__name__"} <= set(dir(toy))
    assert f"{package}.plain" not in sys.modules
