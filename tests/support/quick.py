"""A pytest plugin with a quick tier: `uv run pytest -m quick` runs files of tests that take little time.

Which files take long was measured by `--record-seconds`; a new one is quick until it is measured again. Of the others
the tables of rules are quick. Slow tests never are.
"""

from __future__ import annotations

import collections
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).with_name("seconds.json")
MAX_SECONDS = 1.5
LEFT_OUT = ("slow", "client", "exhaustive")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-seconds", action="store_true", help=f"write which files take over {MAX_SECONDS} s to {RECORD.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "quick: takes little time")
    if config.getoption("--record-seconds") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Recorder())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only quick tests are asked for, files without any are not even imported."""
    if config.getoption("markexpr") == "quick" and _name(collection_path) in _long_files(config):
        return None if "\n@rules(" in collection_path.read_text() else True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks quick tests, before those without the mark are deselected."""
    for item in items:
        if _name(item.path) not in _long_files(config) and not any(map(item.get_closest_marker, LEFT_OUT)):
            item.add_marker("quick")


_LONG_FILES = pytest.StashKey[frozenset[str]]()


def _long_files(config: pytest.Config) -> frozenset[str]:
    if _LONG_FILES not in config.stash:
        config.stash[_LONG_FILES] = frozenset(json.loads(RECORD.read_text()))
    return config.stash[_LONG_FILES]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""


class _Recorder:
    """Adds up the seconds of each file in the process that reports."""

    def __init__(self):
        self._seconds: collections.Counter[str] = collections.Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration  # pyright: ignore[reportArgumentType]

    def pytest_sessionfinish(self) -> None:
        """Files that did not run keep their numbers."""
        before = {name: seconds for name, seconds in json.loads(RECORD.read_text()).items() if (ROOT / name).exists()}
        found = {**before, **{name: round(seconds, 1) for name, seconds in self._seconds.items()}}
        long = {name: found[name] for name in sorted(found) if found[name] > MAX_SECONDS}
        RECORD.write_text(json.dumps(long, indent=2) + "\n")
