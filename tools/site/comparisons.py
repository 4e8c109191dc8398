"""Measures how closely the tests compare our environments with their originals: `data/comparisons.json`.

    uv run python tools/site/comparisons.py

It runs the tests of the suites that replay recordings, or play beside an original or its formulas, and notes every
comparison of numbers that they make, with its tolerance. It takes several minutes.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import suites

_ROOT = Path(__file__).parents[2]
_DATA = Path(__file__).with_name("data") / "comparisons.json"
_SUITES = {"classic-control": "", "bsuite": "-bsuite", "minatar": "-MinAtar", "misc": "-misc"}
_TESTS = re.compile(
    "test_(every_recorded_step|transitions_are_the_recorded_ones|ten_thousand_transitions_agree|params_change_the_dynamics"
    "|games?|games_of|game_of|game_with|lockstep_with|whole_games|whole_episodes_in_lockstep|episodes_are_the|episodes_are_those"
    "|whole_games_follow|three_bullets)(?![a-z])"
)
_NAMES = {
    "bandit": "SimpleBandit",
    "mnist": "MNISTBandit",
    "cartpole": "CartPole",
    "cartpole_swingup": "CartPoleSwingup",
}


class Comparisons:
    """A pytest plugin that notes, for each environment, the comparisons of the tests that run.

    Attributes:
      found: by id: "transitions" that were played beside the original, "numbers" that were compared, the largest
        "difference" of a float, the result that it is "of" where the test names it, the largest share "of_tolerance" (1
        would fail), and "undecided", the transitions that differ because the original is near a threshold.
    """

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = collections.defaultdict(
            lambda: {"transitions": 0, "numbers": 0, "difference": 0.0, "of": "", "of_tolerance": 0.0, "undecided": 0}
        )
        self._item: Any = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Puts itself between the tests and what they compare with, before they are imported."""
        lockstep, minatar = importlib.import_module("lockstep"), importlib.import_module("minatar_lockstep")
        vars(lockstep)["check_agreement"] = self._noting_agreement(lockstep, lockstep.check_agreement)
        vars(minatar)["check"] = self._noting_steps(minatar.check)
        np.testing.assert_allclose = self._noting(np.testing.assert_allclose, 1e-7)
        np.testing.assert_array_equal = self._noting(np.testing.assert_array_equal, 0.0)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keeps the tests that compare with an original, of environments without a wrapper."""
        items[:] = [item for item in items if _TESTS.match(item.name) and item.path.stem != "test_wrappers"]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Notes only while a test runs."""
        self._item = item
        with contextlib.ExitStack() as stack:
            stack.callback(setattr, self, "_item", None)
            yield

    def _noting_agreement(self, lockstep: Any, check: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(check)
        def checked(ours: Any, theirs: Any, sizes: Any, context: Any = None) -> int:
            undecided = check(ours, theirs, sizes, context)
            row = self.found[env_id_of(self._item)]
            row["undecided"] += undecided
            row["transitions"] += 0 if "recorded" in self._item.name else len(next(iter(theirs.values())))
            decided = ~sizes.get("undecided", np.zeros(len(next(iter(theirs.values()))), bool))
            for name, value in theirs.items():
                size = sizes.get(name)
                if size is None:
                    size = np.maximum(np.abs(value), 1) if name == "obs" else np.abs(value)
                size = np.broadcast_to(size, np.shape(value))[decided]
                tolerance = lockstep.ROUNDINGS * lockstep.SPACING * size
                self._note(np.asarray(ours[name])[decided], np.asarray(value)[decided], tolerance, name)
            return undecided

        return checked

    def _noting_steps(self, check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def checked(task: Any, env: Any, steps: Any) -> None:
            check(task, env, steps)
            if "recorded" not in self._item.name:
                number = int((steps.ramping == env.difficulty_ramping).sum())
                self.found[env_id_of(self._item)]["transitions"] += number

        return checked

    def _noting(self, check: Callable[..., None], default_rtol: float) -> Callable[..., None]:
        @functools.wraps(check)
        def checked(actual: Any, desired: Any, *args: Any, **options: Any) -> None:
            check(actual, desired, *args, **options)
            if self._item is not None:
                rtol, atol = options.get("rtol", default_rtol), options.get("atol", 0.0)
                tolerance = atol + rtol * np.abs(np.asarray(desired, float))
                self._note(np.asarray(actual), np.asarray(desired), tolerance, "")

        return checked

    def _note(self, ours: Any, theirs: Any, tolerance: Any, name: str) -> None:
        row = self.found[env_id_of(self._item)]
        row["numbers"] += theirs.size
        if ours.dtype.kind != "f" or not theirs.size:
            return
        difference = np.abs(ours.astype(np.float64) - theirs)
        share = np.divide(difference, tolerance, out=np.zeros(difference.shape), where=difference > 0)
        largest = float(np.nanmax(difference, initial=0))
        if largest > row["difference"]:
            row |= {"difference": largest, "of": name}
        row["of_tolerance"] = max(row["of_tolerance"], float(np.nanmax(share, initial=0)))


def env_id_of(item: Any) -> str:
    """The id of the environment that a test is about."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    task: Any = given.get("task") or getattr(given.get("variant"), "task", None)
    if hasattr(task, "id"):
        return task.id
    suite, _, *folders, _ = item.path.relative_to(_ROOT / "packages").parts
    stem = folders[-1] if folders else item.path.stem.removeprefix("test_")
    name = _NAMES.get(stem) or "".join(part.capitalize() for part in stem.split("_"))
    is_stochastic = any("stochastic" in str(value) for value in given.values())
    return name + ("Stochastic" if is_stochastic else "") + _SUITES[suite]


def compare(*tests: str) -> dict[str, dict[str, Any]]:
    """Runs the tests of these paths that compare with an original; exits if one fails.

    Returns:
      What `Comparisons.found` describes, sorted by id, floats with two digits.
    """
    plugin = Comparisons()
    options = ["-n0", "-q", "-p", "no:cacheprovider", "-m", "not client"]
    if pytest.main([*options, f"--rootdir={_ROOT}", "-c", str(_ROOT / "pyproject.toml"), *tests], [plugin]):
        sys.exit("error: a test failed, see above")
    return {
        env_id: {name: float(f"{value:.2g}") if isinstance(value, float) else value for name, value in row.items()}
        for env_id, row in sorted(plugin.found.items())
    }


def main() -> None:
    """Writes the file."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    found = compare(*(str(_ROOT / "packages" / suite / "tests") for suite in _SUITES))
    suites.write_by_id(_DATA, found)
    print(_DATA)


if __name__ == "__main__":
    main()
