"""A pytest plugin that sorts tests by the seconds they take, as measured by `--record-seconds`.

A test that takes over `MAX_SECONDS_OF_TEST` is slow, as if it were marked so, and over `MAX_SECONDS_OF_SLOW_TEST` long.
`uv run pytest -m quick` runs the files whose other tests take little time, and of the other files the tables of rules.
What has not been measured is quick.
"""

from __future__ import annotations

import collections
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("seconds.json")
MAX_SECONDS_OF_FILE = 1.5
MAX_SECONDS_OF_TEST = 1.0
MAX_SECONDS_OF_SLOW_TEST = 6.0
LEFT_OUT = ("slow", "client", "exhaustive")


class Record(NamedTuple):
    """What takes long: seconds by the names of files, and by the ids of tests."""

    files: dict[str, float]
    tests: dict[str, float]


@functools.cache
def record() -> Record:
    """What was measured."""
    return Record(**json.loads(RECORD.read_text()))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record-seconds", action="store_true", help=f"write which tests take long to {RECORD.name}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: takes little time")
    if config.getoption("--record-seconds") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only quick tests are asked for, files without any are not even imported."""
    if config.getoption("markexpr") == "quick" and _name(collection_path) in record().files:
        return None if "\n@rules(" in collection_path.read_text() else True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks slow and quick tests, before those without the mark are deselected."""
    for item in items:
        seconds = 0 if config.getoption("--record-seconds") else record().tests.get(item.nodeid, 0)
        if seconds > MAX_SECONDS_OF_TEST:
            item.add_marker("slow")
        if seconds > MAX_SECONDS_OF_SLOW_TEST:
            item.add_marker("long")
        if _name(item.path) not in record().files and not any(map(item.get_closest_marker, LEFT_OUT)):
            item.add_marker("quick")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""


class _Recorder:
    """Adds up the seconds of each test in the process that reports."""

    def __init__(self):
        self._tests: collections.Counter[str] = collections.Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._tests[report.nodeid] += report.duration  # pyright: ignore[reportArgumentType]

    def pytest_sessionfinish(self) -> None:
        """What did not run keeps its numbers."""
        files: collections.Counter[str] = collections.Counter()
        for test, seconds in self._tests.items():
            files[_file(test)] += seconds if seconds <= MAX_SECONDS_OF_TEST else 0
        found = {
            "files": _long(files, MAX_SECONDS_OF_FILE, record().files),
            "tests": _long(self._tests, MAX_SECONDS_OF_TEST, record().tests),
        }
        RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def _long(seconds: Mapping[str, float], limit: float, before: dict[str, float]) -> dict[str, float]:
    """What took longer than the limit, and what did before and did not run now, in files that exist."""
    kept = {name: known for name, known in before.items() if name not in seconds and (ROOT / _file(name)).exists()}
    long = {name: round(found, 1) for name, found in seconds.items() if found > limit}
    return dict(sorted((kept | long).items()))


def _file(test: str) -> str:
    return test.partition("::")[0]
