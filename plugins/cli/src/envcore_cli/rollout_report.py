"""`envcore rollout`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import jax
from envcore.engine.arguments import state_struct
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rendering import picture_struct
from envcore.seeds import key_of
from envcore_runs import memory, placement, processes, run_folder, saved_rollout, trajectories
from envcore_runs.choice import Choice
from envcore_runs.interrupt import interruptible
from envcore_runs.measured_rollout import MeasuredRollout, check_memory
from envcore_runs.pace import check_duration
from envcore_runs.policies import find_player
from envcore_runs.saved_rollout import SavedRollout
from envcore_runs.trajectories import Trajectories
from rich.table import Table

from envcore_cli import output, picture
from envcore_cli.output import say

_SECONDS = 1.0  # of a rollout without --steps
_MOST_STEPS = 2**53  # of all environments; a hundred days at a thousand million a second
_MAX_FRAMES = 500
_HEIGHT = 256  # of the picture, in pixels


def report_rollout(
    choice: Choice,
    policy: str,
    num_envs: int,
    steps: int | None,
    gif: Path | None,
    seed: int,
    devices: int | None = None,
    out: Path | None = None,
    record: str = "",
) -> None:
    """Runs a measured rollout with a progress bar, prints a table and writes the picture.

    Args:
      choice: the environment.
      policy: as for `find_player`.
      num_envs: number of environments that step in parallel.
      steps: steps of each environment; None for as many as fit into a second.
      gif: where to write a picture of the first environment; None for no picture.
      seed: the seed of the random key.
      devices: the most devices to use in each process; None for all.
      out: the folder in which the rollout is saved, and from which it continues; None for none. It needs `steps`.
      record: what of each step to write there, names with commas.

    Raises:
      EnvcoreError: an argument is invalid, there is not enough memory, or the picture cannot be written.
      KeyboardInterrupt: Ctrl-C was pressed, or another signal has come; the results so far have been saved and shown.
    """
    if num_envs < 1 or (steps is not None and steps < 1):
        given = "" if steps is None else f" and {steps}"
        raise InvalidArgumentError(f"--num-envs and --steps must be at least 1, got {num_envs}{given}.")
    if num_envs * (steps or 0) > _MOST_STEPS:
        raise InvalidArgumentError(
            f"--num-envs {num_envs:,} times --steps {steps:,} is more than 2**53 steps, which nobody can count."
        )
    if out is not None and steps is None:
        raise InvalidArgumentError("--out needs --steps N: how long the rollout is.")
    if record and out is None:
        raise InvalidArgumentError("--record needs --out DIR: the folder for the trajectories.")
    key = key_of(seed)
    if gif is not None:
        picture.check_writable(gif)
    env, params = choice.make()
    player = find_player(policy, choice.found.spec.id, env, params)
    env = player.env
    if gif is not None:
        picture_struct(env, state_struct(env), params, _HEIGHT)  # fails early if the environment has no picture
    sharding = placement.sharding("--num-envs", num_envs, devices)
    names = trajectories.checked_names(record, env, params) if record else ()
    bytes_each = trajectories.step_bytes(env, params, names) if names else 0
    chunk = None
    if out is not None:
        chunk = saved_rollout.chunk_steps(num_envs, trajectories.steps_per_shard(num_envs, bytes_each))
    check_memory(env, params, num_envs, sharding, bytes_each * (chunk or 0))
    if out is not None:
        trajectories.check_disk(out, (steps or 0) * num_envs * bytes_each)
    about = {"env_id": choice.title, "options": dict(choice.options), "params": dict(choice.params)}
    about |= {"policy": policy, "num_envs": num_envs, "steps": steps, "seed": seed}
    whole = {**about, "record": names, "steps_per_chunk": chunk}
    claimed = contextlib.nullcontext() if out is None else run_folder.claimed(out, whole)
    with claimed, memory.explained("--num-envs", num_envs):
        recorded = Trajectories(out / trajectories.TRAJECTORIES, names, about) if out is not None and names else None
        measured = MeasuredRollout(player, num_envs, params, key, sharding, chunk, recorded)
        saved = None if out is None or steps is None else SavedRollout(out, steps, measured, recorded, key)
        if steps is not None:
            left = steps - measured.progress.steps
            note = check_duration("--steps", steps, measured.pace.seconds(left))
            if note and processes.is_first():
                say(note)
        try:
            _run(measured, choice.title, steps, saved)
        except KeyboardInterrupt:
            if saved is not None:
                saved.save()
            if measured.progress.steps and processes.is_first():
                _print_table(choice.title, num_envs, measured, "interrupted: these are the results up to then")
            raise
        if processes.is_first():
            _print_table(choice.title, num_envs, measured, folder=out)
        if gif is not None:
            _write_picture(env, params, measured, gif)


def _run(measured: MeasuredRollout, title: str, steps: int | None, saved: SavedRollout | None) -> None:
    is_shared = not processes.is_alone()
    with output.progress_bar(is_shown=processes.is_first()) as shown, interruptible(is_shared):
        task = shown.add_task(title, total=_SECONDS if steps is None else steps)
        while True:
            done = measured.progress.steps
            shown.update(task, completed=measured.progress.seconds if steps is None else done)
            if done >= steps if steps is not None else measured.progress.seconds >= _SECONDS:
                break
            measured.advance(2**30 if steps is None else steps - done)
            if saved is not None:
                saved.save_if_old()
        if saved is not None:
            saved.save()


def _print_table(
    title: str, num_envs: int, measured: MeasuredRollout, note: str = "", folder: Path | None = None
) -> None:
    progress = measured.progress
    statistics = progress.statistics
    table = Table(show_header=False, box=None, pad_edge=False)
    if note:
        table.add_row("note", note, style="yellow")
    table.add_row("environment", f"{title}, {num_envs:,} in parallel, {progress.steps:,} steps each")
    table.add_row("episodes finished", f"{statistics.episodes:,}")
    if statistics.episodes:
        low, high = statistics.lowest_return, statistics.highest_return
        spread = f"{statistics.mean_return:.2f} ± {statistics.std_return:.2f} (from {low:.2f} to {high:.2f})"
        table.add_row("return", spread)
        table.add_row("length", f"{statistics.mean_length:.1f} ± {statistics.std_length:.1f} steps")
    if progress.steps > progress.earlier:
        rate = num_envs * (progress.steps - progress.earlier) / progress.seconds
        table.add_row("speed", f"{rate:,.0f} steps/s on {_devices(measured)}, over {progress.seconds:.2g} s")
    if progress.earlier:
        table.add_row("continued", f"after {progress.earlier:,} steps, which are not counted in the speed")
    if folder is not None:
        table.add_row("folder", str(folder))
    table.add_row("compile time", f"{measured.compile_seconds:.2f} s, not counted in the speed")
    output.show(table)


def _devices(measured: MeasuredRollout) -> str:
    kind, num = jax.devices()[0].device_kind, measured.num_devices
    return (f"{num:,} x {kind}" if num > 1 else kind) + _of_processes()


def _of_processes() -> str:
    num = jax.process_count()
    return f" of {num:,} processes" if num > 1 else ""


def _write_picture(env: Environment[Any, Any], params: Any, measured: MeasuredRollout, gif: Path) -> None:
    """The first environment's first steps."""
    num_frames = min(measured.progress.steps, _MAX_FRAMES)
    states = measured.first_states(num_frames)
    if processes.is_first():
        picture.write(gif, env, states, params, height=_HEIGHT)
        output.say(f"{gif} shows the first environment's first {num_frames} steps.")
