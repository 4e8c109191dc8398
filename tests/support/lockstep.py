"""Lockstep with an original: the same states, actions and draws for both implementations, and then the same results.

A `Task` says how an environment of ours corresponds to its original. `our_steps` takes steps with our rules from chosen
states with chosen draws, `ForcedDraws` makes the original draw the same, and `check_agreement` compares the results:
exactly, or up to float32 rounding.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from envcore.engine import arguments
from envcore.environment import Environment

ROUNDINGS = 4
SPACING = float(np.finfo(np.float32).eps)

Fields = Mapping[str, np.ndarray]
"""Arrays (N, ...) by name, with one row per step."""

Calls = list[tuple[str, Any]]
"""The methods of numpy's generator that the original calls, in order, with their results."""


@dataclasses.dataclass(frozen=True)
class Task:
    """How an environment of ours corresponds to its original.

    Attributes:
      from_original: makes our states from the original's fields, both (N, ...); in MinAtar also from the last action.
      to_original: makes the original's fields from our states.
    """

    from_original: Callable[..., Any]
    to_original: Callable[[Any], Mapping[str, Any]]


def our_steps(env: Environment, params: Any, state: Any, action: Any, draws: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """Takes N steps with our rules, without auto-reset, each with the draws chosen for it.

    Args:
      env: our environment.
      params: of all steps.
      state: before each step, (N, ...).
      action: with the dtype of the action space, (N, ...).
      draws: as `transition` takes them, (N, ...); None if the rules draw nothing.

    Returns:
      The states after the steps, and the results: "obs", "reward",
      "terminated", "truncated", and the entries of `info` as "info.name".
    """
    obs, outcome = _stepper(env)(state, action, draws, arguments.checked_params(env, params))
    results = {"obs": obs, "reward": outcome.reward, "terminated": outcome.terminated, "truncated": outcome.truncated}
    results |= {f"info.{name}": value for name, value in outcome.info.items()}
    return outcome.state, {name: np.asarray(value) for name, value in results.items()}


@functools.cache
def _stepper(env: Environment) -> Any:
    def step(state: Any, action: Any, draws: Any, params: Any) -> tuple[Any, Any]:
        outcome = env.advance(state, action, draws, params)
        return env.observe(outcome.state, params), outcome

    return jax.jit(jax.vmap(step, (0, 0, 0, None)))


class ForcedDraws:
    """Replaces the original's random generator, numpy's RandomState or Generator, and returns the given draws.

    Each call must be the next of the given ones, ask for its shape, and have a range that contains the given value.
    """

    def __init__(self, slack: float = 0.0) -> None:
        """Values of `uniform` may be outside its range by `slack`, if they have been rounded."""
        self.calls: deque[tuple[str, Any]] = deque()
        self.slack = slack

    def giving(self, calls: Calls) -> ForcedDraws:
        """Sets the next calls, all of which must happen before the end of the `with` block."""
        self.calls.extend(calls)
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        assert kind is not None or not self.calls, f"not drawn: {list(self.calls)}"

    def rand(self, *shape: int) -> Any:
        return self._next("rand", shape, 0.0, 1.0)

    def randn(self) -> float:
        return self._next("randn", (), -np.inf, np.inf)

    def uniform(self, low: float, high: float) -> float:
        return self._next("uniform", (), low - self.slack, high + self.slack)

    def randint(self, low: int, high: int | None = None, size: int | None = None) -> Any:
        low, high = (0, low) if high is None else (low, high)
        return self._whole("randint", size, low, high - 1)

    def binomial(self, n: int, p: float, size: int | None = None) -> Any:
        assert (n, p) == (1, 0.5)
        return self._whole("binomial", size, 0, 1)

    def _whole(self, name: str, size: int | None, low: int, high: int) -> Any:
        value = self._next(name, () if size is None else (size,), low, high)
        return int(value) if size is None else value

    def _next(self, name: str, shape: tuple[int, ...], low: float, high: float) -> Any:
        expected, value = self.calls.popleft()
        assert name == expected
        assert np.shape(value) == shape
        assert np.all((value >= low) & (value <= high)), f"{name} gave {value}, not from {low} to {high}"
        return value


def check_agreement(
    ours: Fields, theirs: Fields, sizes: Mapping[str, np.ndarray], context: Mapping[str, np.ndarray] | None = None
) -> int:
    """Compares results by name, exactly if the original's are integers or bools.

    Args:
      ours, theirs: the results, under the same names.
      sizes: for rounded results, the size of the numbers that were added to compute them; by default their own size,
        but at least 1 for "obs". They may differ by `ROUNDINGS` times the spacing of float32 numbers of that size.
        The entry "undecided", bool (N,), marks rows that may differ arbitrarily.
      context: what a message shows of the row that differs beside its results.

    Returns:
      The number of undecided rows that differ.

    Raises:
      AssertionError: a decided row differs.
    """
    assert set(ours) == set(theirs), set(ours) ^ set(theirs)
    differs = {name: _differs(ours[name], theirs[name], sizes.get(name), name) for name in theirs}
    any_differs = np.any(list(differs.values()), axis=0)
    wrong = any_differs & ~sizes.get("undecided", np.zeros_like(any_differs))
    if wrong.any():
        row = np.flatnonzero(wrong)[0]
        lines = [f"{wrong.sum()} of {len(wrong)} rows differ; row {row}:"]
        lines += [f"  {name}: {value[row]}" for name, value in (context or {}).items()]
        for name, value in theirs.items():
            mark = "  <-- differs" if differs[name][row] else ""
            lines.append(f"  {name}: {np.asarray(ours[name])[row]}, original {value[row]}{mark}")
        raise AssertionError("\n".join(lines))
    return int(any_differs.sum())


def _differs(ours: Any, theirs: np.ndarray, size: np.ndarray | None, name: str) -> np.ndarray:
    ours = np.asarray(ours)
    assert ours.shape == theirs.shape, name
    if theirs.dtype.kind in "biu":
        wrong = ours != theirs
    else:
        if size is None:
            size = np.maximum(np.abs(theirs), 1) if name == "obs" else np.abs(theirs)
        wrong = ~(np.abs(ours.astype(np.float64) - theirs) <= ROUNDINGS * SPACING * size)
    return wrong.reshape(len(wrong), -1).any(axis=1)
