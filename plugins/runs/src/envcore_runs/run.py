"""Runs a rollout to its end, and saves it on the way."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from envcore.environment import Environment, EnvParams
from envcore.rollout import Policy

from envcore_runs import distributed, memory, run_folder, saved_rollout, signals, trajectories
from envcore_runs.episode_statistics import EpisodeStatistics
from envcore_runs.measured_rollout import MeasuredRollout, Progress
from envcore_runs.pace import check_duration
from envcore_runs.plan import Plan, planned
from envcore_runs.trajectories import Trajectories

SECONDS = 1.0
"""A rollout without a number of steps goes on for this long, so that its speed can be told."""
_PATIENCE = 60.0
"""Seconds after which it no longer waits for the first episode of every environment."""


@dataclasses.dataclass(frozen=True)
class RolloutResult:
    """What a rollout has found: at its end, or so far.

    Attributes:
      statistics: of the first `episodes_per_env` episodes of every environment. Until all environments have finished
        them, means are NaN: short episodes end first, so a mean would favor them.
      episodes_per_env: how many episodes of each environment count.
      unfinished: number of environments that have not finished as many.
      num_envs: number of environments that step in parallel.
      steps: steps of each environment.
      resumed_after: those of them that an earlier call has taken, from whose checkpoint this one continued.
      seconds: the time that the others took, without compilation.
      seconds_left: about the time that the rest takes; NaN where episodes decide it.
      compile_seconds: the time to reset, trace, compile and warm up.
      num_devices: over how many devices the environments are spread.
      folder: in which the rollout is saved; None if it is not.
    """

    statistics: EpisodeStatistics
    episodes_per_env: int
    unfinished: int
    num_envs: int
    steps: int
    resumed_after: int
    seconds: float
    seconds_left: float
    compile_seconds: float
    num_devices: int
    folder: Path | None

    @property
    def was_resumed(self) -> bool:
        """Whether an earlier call has taken some of the steps."""
        return self.resumed_after > 0

    @property
    def steps_per_second(self) -> float:
        """Steps of all environments together in a second; NaN if this call has taken none."""
        taken = self.num_envs * (self.steps - self.resumed_after)
        return taken / self.seconds if taken else math.nan


def rollout(
    env: str | Environment,
    *,
    num_envs: int = 2048,
    steps: int | None = None,
    episodes: int | None = None,
    out: str | Path | None = None,
    record: str | Iterable[str] = (),
    params: Mapping[str, Any] | EnvParams | None = None,
    options: Mapping[str, Any] | None = None,
    policy: str | Policy = "random",
    seed: int = 0,
    devices: int | None = None,
    progress: Callable[[RolloutResult], None] | None = None,
) -> RolloutResult:
    """Steps many environments in parallel, and measures their episodes and the speed. It takes any number of steps.

    The mean return is unbiased: it counts the first `episodes` episodes of every environment, and there is none until
    all environments have finished them.

    With `out`, the rollout is saved every five seconds, and when it is interrupted: the same call continues it, and
    ends with the same files, bit for bit. The same seed gives the same episodes, on any devices.

    Args:
      env: what `envcore.make` takes, or an environment.
      num_envs: number of environments.
      steps: steps of each environment; by default as many as its episodes take.
      episodes: episodes of each environment to measure, 1 by default. Without `steps`, the rollout goes on until every
        environment has finished them. If you give neither, it takes at least a second, to measure the speed, and gives
        up waiting after a minute.
      out: the folder in which the rollout is saved: new, empty, or of this rollout.
      record: what of each step to write there: names of `envcore.rollout.Transition` and of its info.
      params: the environment's params; or values for some of them by name.
      options: the constructor's options, if `env` is an id.
      policy: "random", "legal", "module:function", the name of an announced policy, or a function
        `(None, obs, key) -> action` of one environment. Of a function, `out` keeps the name alone.
      seed: an integer from 0 to 2**63 - 1.
      devices: the most devices to use in each process; by default all that JAX has.
      progress: is called before the first steps, and several times a second.

    Raises:
      InvalidArgumentError: an argument is invalid, before anything is compiled; the policy fails when it is traced, or
        its actions are not in the action space; or it would take more than ten years.
      InvalidParamsError, UnknownEnvironmentError: as for `envcore.make`.
      NotEnoughMemoryError: so many environments do not fit into memory.
      FileError: the folder holds something else, or is damaged; another process writes there; or it cannot be written.
      KeyboardInterrupt, SystemExit: Ctrl-C was pressed, or SIGTERM has come, in any process; what was found so far has
        been saved.
    """
    plan = planned(
        env,
        num_envs=num_envs,
        steps=steps,
        episodes=episodes,
        out=out,
        record=record,
        params=params,
        options=options,
        policy=policy,
        seed=seed,
        devices=devices,
    )
    return run(plan, progress)


def run(plan: Plan, progress: Callable[[RolloutResult], None] | None = None) -> RolloutResult:
    """Runs what was planned; as `rollout`, whose errors it raises."""
    folder, show = plan.folder, progress or (lambda result: None)
    whole = {**plan.about, "record": plan.record, "steps_per_chunk": plan.chunk}
    claimed = contextlib.nullcontext() if folder is None else run_folder.claimed(folder, whole)
    with claimed, memory.explained("num_envs", plan.num_envs):
        recorded = saved = found = None
        if folder is not None and plan.record:
            struct = trajectories.step_struct(plan.player.env, plan.params, plan.record)
            recorded = Trajectories(folder / trajectories.TRAJECTORIES, plan.record, plan.about, struct)
        if folder is not None:
            found = saved_rollout.find_checkpoint(folder, plan.steps, plan.num_envs)
            if found and _is_complete(plan, found.progress):
                result = _finished(plan, folder, found.progress, recorded)
                show(result)
                return result
        measured = MeasuredRollout(
            plan.player, plan.num_envs, plan.params, plan.key, plan.episodes, plan.sharding, plan.chunk, recorded
        )
        if folder is not None:
            saved = saved_rollout.SavedRollout(folder, measured, recorded, found, plan.key)
        result = _result(plan, measured)
        if plan.steps is not None:
            check_duration("steps", plan.steps, result.seconds_left)
        show(result)
        stopped = 0
        with signals.noted() as signum:
            while not stopped and not _is_complete(plan, measured.progress):
                measured.advance(2**30 if plan.steps is None else plan.steps - measured.progress.steps)
                if saved is not None:
                    saved.save_if_old()
                show(_result(plan, measured))
                stopped = int(distributed.highest(signum()))
            if saved is not None:
                saved.save()
        if stopped:
            signals.stop(stopped)
        return _result(plan, measured)


def _is_complete(plan: Plan, progress: Progress) -> bool:
    if plan.steps is not None:
        return progress.steps >= plan.steps
    if progress.unfinished:
        return not plan.is_patient and progress.seconds >= _PATIENCE
    return plan.is_patient or progress.seconds >= SECONDS


def _finished(plan: Plan, folder: Path, progress: Progress, recorded: Trajectories | None) -> RolloutResult:
    """The result of an earlier call, whose files are checked; nothing is compiled."""
    if recorded is not None:
        recorded.resume(progress.steps)
    if distributed.is_first():
        saved_rollout.write_statistics(folder, progress)
    return _described(plan, progress, 0.0, 0.0)


def _result(plan: Plan, measured: MeasuredRollout) -> RolloutResult:
    progress, left = measured.progress, math.nan
    if plan.steps is not None:
        left = measured.pace.seconds(plan.steps - progress.steps)
    return _described(plan, progress, left, measured.compile_seconds)


def _described(plan: Plan, progress: Progress, seconds_left: float, compile_seconds: float) -> RolloutResult:
    return RolloutResult(
        progress.unbiased,
        plan.episodes,
        progress.unfinished,
        plan.num_envs,
        progress.steps,
        progress.earlier,
        progress.seconds,
        seconds_left,
        compile_seconds,
        plan.sharding.mesh.size,
        plan.folder,
    )
