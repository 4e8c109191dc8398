"""`envcore rollout`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from envcore import registry
from envcore.animation import check_writable, files, save_animation
from envcore.arguments import state_struct
from envcore.cli.interrupt import interruptible
from envcore.cli.options import key_of
from envcore.cli.output import say
from envcore.episode_statistics import LOGGED, EpisodeStatistics, summarize
from envcore.errors import RolloutError
from envcore.frames import picture_struct, render_frames
from envcore.rollout import RolloutState, Transition, begin, random_policy, unroll
from envcore.wrappers import Batched, LogWrapper

_MIN_CHUNKS = 20
_MAX_CHUNK = 2**22  # environment steps, of nine bytes each while they wait for their summary
_MAX_FRAMES = 500
_HEIGHT = 256  # of a picture, in pixels


def roll_out(env_id: str, num_envs: int, steps: int, gif: Path | None, seed: int) -> None:
    """Rolls out in compiled chunks with a progress bar, prints a table and writes the picture.

    Raises:
      EnvcoreError: an argument makes no sense, or the picture cannot be written.
    """
    if num_envs < 1 or steps < 1:
        raise RolloutError(f"--num-envs and --steps must be at least 1, got {num_envs} and {steps}.")
    key = key_of(seed)
    if gif is not None:
        check_writable(gif)
    env, params = registry.make(env_id)
    if gif is not None:
        picture_struct(env, state_struct(env), params, _HEIGHT)  # it may have no picture: say so before the work
    chunk = max(1, min(-(-steps // _MIN_CHUNKS), _MAX_CHUNK // num_envs))
    # Full chunks and what is left over: at most two programs, compiled before the clock starts.
    sizes = [chunk] * (steps // chunk) + [steps % chunk] * (steps % chunk > 0)
    batch = LogWrapper(Batched(env, num_envs))

    def collect(transition: Transition) -> tuple[Any, Any]:
        first = jax.tree.map(lambda x: x[0], transition.state.env_state) if gif is not None else None
        return {name: transition.info[name] for name in LOGGED}, first

    def run(start: RolloutState, num_steps: int) -> tuple[RolloutState, tuple[Any, Any]]:
        policy = random_policy(batch, params)
        end, (logs, first) = unroll(batch, policy, start, num_steps, params, collect=collect)
        return end, (summarize(logs), first)

    started = time.perf_counter()
    at = jax.jit(lambda key: begin(batch, key, params))(key)
    programs = {size: jax.jit(run, static_argnums=1).lower(at, size).compile() for size in dict.fromkeys(sizes)}
    jax.block_until_ready(at)
    compiled = time.perf_counter()

    statistics, states, done = EpisodeStatistics(), [], 0

    def report() -> None:
        rate = num_envs * done / (time.perf_counter() - compiled)
        _print_table(env_id, num_envs, done, statistics, rate, compiled - started)

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns) as progress, interruptible():
            task = progress.add_task(env_id, total=steps)
            for size in sizes:
                at, (summary, first) = programs[size](at)
                statistics, done = statistics.merge(summary), done + size
                states.append(first)
                progress.advance(task, size)
    except KeyboardInterrupt:
        report()
        raise
    report()
    if gif is not None:
        _write_picture(env, params, states, gif)


def _print_table(
    env_id: str, num_envs: int, steps: int, statistics: EpisodeStatistics, rate: float, compile_seconds: float
) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("environment", f"{env_id}, {num_envs:,} in parallel, {steps:,} steps each")
    table.add_row("episodes finished", f"{statistics.episodes:,}")
    if statistics.episodes:
        low, high = statistics.lowest_return, statistics.highest_return
        spread = f"{statistics.mean_return:.2f} ± {statistics.std_return:.2f} (from {low:.2f} to {high:.2f})"
        table.add_row("return", spread)
        table.add_row("length", f"{statistics.mean_length:.1f} ± {statistics.std_length:.1f} steps")
    table.add_row("speed", f"{rate:,.0f} steps/s on {jax.devices()[0].device_kind}")
    table.add_row("compile time", f"{compile_seconds:.2f} s, not counted in the speed")
    Console().print(table, markup=False)


def _write_picture(env: Any, params: Any, states: list[Any], gif: Path) -> None:
    joined = jax.tree.map(lambda *parts: jax.numpy.concatenate(parts)[:_MAX_FRAMES], *states)
    frames = render_frames(env, joined, params, height=_HEIGHT)
    with interruptible():  # a half-written file is removed
        save_animation(gif, frames, files.nearest_fps(gif.suffix, env.render_fps))
    say(f"{gif} shows the first environment's first {len(frames)} steps.")
