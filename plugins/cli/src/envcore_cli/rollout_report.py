"""`envcore rollout`."""

from __future__ import annotations

from typing import Any

import jax
from envcore_runs import distributed
from envcore_runs.choice import Choice
from envcore_runs.loop import Plan
from envcore_runs.run import RolloutResult, planned, run
from rich.table import Table

from envcore_cli import output


def report_rollout(choice: Choice, steps: int | None = None, episodes: int | None = None, **given: Any) -> None:
    """Runs a rollout with a progress bar, and prints a table of results.

    Args:
      choice: the environment.
      steps: steps per environment, as for `envcore_runs.rollout`.
      episodes: episodes per environment, as for `envcore_runs.rollout`.
      **given: other arguments of `envcore_runs.rollout`.

    Raises:
      EnvcoreError: an argument is invalid, or there is not enough memory.
      KeyboardInterrupt: you pressed Ctrl-C. The results so far have been saved and printed.
      SystemExit: SIGTERM arrived. The results so far have been saved and printed.
    """
    plan = planned(choice.title, options=choice.options, params=choice.params, steps=steps, episodes=episodes, **given)
    is_first = distributed.is_first()
    last: RolloutResult | None = None
    result: RolloutResult | None = None
    stopped: BaseException = KeyboardInterrupt()
    total = plan.num_envs * (plan.episodes or 1) if steps is None else steps
    with output.progress_of(choice.title, total, is_shown=is_first) as show:

        def progress(result: RolloutResult) -> None:
            nonlocal last
            last = result
            show(result.statistics.episodes if steps is None else result.steps)

        try:
            result = run(plan, progress)
        except (KeyboardInterrupt, SystemExit) as error:
            stopped = error  # raised again after the table is printed
    if result is None:
        if is_first and last is not None and last.steps:
            _print_table(choice.title, plan, last, is_interrupted=True)
        raise stopped
    if is_first:
        _print_table(choice.title, plan, result)


def _print_table(title: str, plan: Plan, result: RolloutResult, *, is_interrupted: bool = False) -> None:
    statistics, each = result.statistics, plan.episodes or 1
    table = Table(show_header=False, box=None, pad_edge=False)
    if is_interrupted:
        table.add_row("note", "interrupted, so these are partial results", style="yellow")
    table.add_row("environment", f"{title}, {result.num_envs:,} in parallel, {result.steps:,} steps each")
    first = f"the first {each:,} episodes" if each > 1 else "the first episode"
    table.add_row("episodes", f"{statistics.episodes:,} ({first} of each environment)")
    if result.unfinished:
        table.add_row("unfinished", _unfinished(result, each, is_interrupted=is_interrupted), style="yellow")
    else:
        low, high = statistics.lowest_return, statistics.highest_return
        spread = f"{statistics.mean_return:.2f} ± {statistics.std_return:.2f} (from {low:.2f} to {high:.2f})"
        table.add_row("return", spread)
        table.add_row("length", f"{statistics.mean_length:.1f} ± {statistics.std_length:.1f} steps")
    if result.steps > result.resumed_after:
        speed = f"{result.steps_per_second:,.0f} steps/s on {_devices(plan.sharding.mesh.size)}"
        table.add_row("speed", f"{speed}, over {result.seconds:.2g} s")
    if result.resumed_after:
        table.add_row("continued", f"after {result.resumed_after:,} steps, not counted in the speed")
    if plan.folder is not None and not is_interrupted:
        table.add_row("folder", str(plan.folder))
    if result.steps > result.resumed_after:
        table.add_row("compile time", f"{result.compile_seconds:.2f} s, not counted in the speed")
    output.show(table)


def _unfinished(result: RolloutResult, episodes: int, *, is_interrupted: bool) -> str:
    """Explains why there is no mean return, and what to do."""
    missing = f"{episodes:,} episodes" if episodes > 1 else "an episode"
    text = f"{result.unfinished:,} of {result.num_envs:,} environments have not finished {missing}. "
    text += "There is no mean return yet, because short episodes end first."
    advice = f" Use --episodes {episodes} without --steps to wait for all environments."
    return text if is_interrupted else text + advice


def _devices(num: int) -> str:
    kind, processes_ = jax.devices()[0].device_kind, jax.process_count()
    of_processes = f" of {processes_:,} processes" if processes_ > 1 else ""
    return (f"{num:,} x {kind}" if num > 1 else kind) + of_processes
