"""`rollout`: checks its arguments before anything is compiled, runs it to the end, and saves it.

A folder contains run.json (the description of the rollout), statistics.json, checkpoint.safetensors and, if steps are
recorded, `trajectories`. After a kill at any time, call it again to continue, with the same results bit for bit.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from envcore import checks
from envcore.engine.arguments import checked_params
from envcore.environment import Environment, EnvParams
from envcore.errors import InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore.rollout import Policy
from envcore.wrappers import Batched

from envcore_runs import checkpoint, distributed, folder, memory, signals, trajectories
from envcore_runs.choice import choice_of, with_params
from envcore_runs.description import described
from envcore_runs.episodes import EpisodeStatistics
from envcore_runs.folder import CHECKPOINT
from envcore_runs.loop import Loop, Plan, Progress, check_memory
from envcore_runs.policies import batch_policy, find_player
from envcore_runs.trajectories import Trajectories

STATISTICS = "statistics.json"

_CHUNK = 2**20
"""Steps of all environments between two checkpoints. This takes about 10 ms for a light environment, and less than a
second for most others."""
_FEWEST = 128
"""Steps of each environment between two checkpoints. After each chunk, the statistics are copied to the host."""
_SAVING = 5.0
"""Seconds between checkpoints."""


@dataclasses.dataclass(frozen=True)
class RolloutResult:
    """The result of a rollout, final or so far.

    Attributes:
      statistics: statistics of the first episodes of every environment. Means are NaN until all environments have
        finished them, because short episodes end first and would bias a mean.
      unfinished: number of environments that have not finished their episodes.
      num_envs: number of environments that run in parallel.
      steps: steps of each environment.
      resumed_after: steps taken by earlier calls, before this call resumed from their checkpoint.
      seconds: time for the steps of this call, without compilation.
      compile_seconds: time to reset, trace, compile and warm up.
    """

    statistics: EpisodeStatistics
    unfinished: int
    num_envs: int
    steps: int
    resumed_after: int
    seconds: float
    compile_seconds: float

    @property
    def steps_per_second(self) -> float:
        """Steps per second of all environments together. NaN if this call has taken no steps."""
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
    """Runs many environments in parallel, and measures episode statistics and speed.

    The mean return is unbiased: it covers the first `episodes` episodes of every environment, and is NaN until all
    environments have finished them.

    With `out`, the rollout is saved every five seconds, and when it is interrupted. Repeat the call to continue it. The
    files at the end are the same, bit for bit. The same seed gives the same episodes on any number of devices.

    Args:
      env: an id as for `envcore.make`, or an environment.
      num_envs: number of environments.
      steps: steps per environment, by default as many as its episodes take. Any number is allowed.
      episodes: episodes per environment to measure, 1 by default. Without `steps`, the rollout runs until every
        environment has finished them. Without both, it runs for at least a second, to measure the speed, and stops
        waiting after a minute.
      out: folder to save the rollout in. It must be new, empty, or contain this rollout. Needs `steps` or `episodes`.
      record: values to save at every step: fields of `envcore.rollout.Transition` and keys of its info. Needs `out`
        and `steps`.
      params: the environment's params, or a dict of params to replace in the default ones.
      options: constructor options, if `env` is an id.
      policy: "random", "legal", "module:function", the name of an announced policy, or a function
        `(None, obs, key) -> action` for one environment. Only the function's name is saved in `out`.
      seed: an integer from 0 to 2**63 - 1.
      devices: maximum number of devices per process, by default all.
      progress: called before the first steps, and after every chunk of them, usually at least twice a second.

    Raises:
      InvalidArgumentError: an argument is invalid, before anything is compiled. Or the policy fails when it is traced,
        or its actions are not in the action space.
      InvalidParamsError, UnknownEnvironmentError: as for `envcore.make`.
      NotEnoughMemoryError: the environments do not fit into memory.
      FileError: the folder contains something else, is damaged, is in use by another process, or cannot be written to.
      KeyboardInterrupt, SystemExit: Ctrl-C was pressed, or SIGTERM arrived, in any process. The results so far have
        been saved.
    """
    plan = planned(env, num_envs, steps, episodes, out, record, params, options, policy, seed, devices)
    return run(plan, progress)


def planned(
    env: str | Environment,
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
) -> Plan:
    """Checks the arguments of `rollout`. Takes the same arguments and raises the same errors."""
    number = functools.partial(checks.positive_integer, error=InvalidArgumentError)
    num_envs = number("num_envs", num_envs)
    steps = None if steps is None else number("steps", steps)
    episodes = None if episodes is None else number("episodes", episodes, at_most=np.iinfo(np.int32).max)
    devices = None if devices is None else number("devices", devices)
    if out is not None and steps is None and episodes is None:
        raise InvalidArgumentError("out needs steps or episodes, which set the length of the rollout.")
    if record and (out is None or steps is None):
        raise InvalidArgumentError("record needs out, the folder for the trajectories, and steps, their length.")
    key, choice = key_of(seed), choice_of(env, options, None, is_saved=False)
    made, made_params = choice.make()
    if isinstance(params, Mapping):
        made_params = with_params(choice.title, made, made_params, params)
    elif params is not None:
        made_params = checked_params(made, params)
    player = find_player(policy, choice.found.spec.id, made, made_params)
    batch_policy(player, Batched(player.env, 1), made_params)  # raises if the policy has a memory
    sharding = distributed.sharding("num_envs", num_envs, devices)
    names = trajectories.checked_names(record, player.env, made_params)
    bytes_each = memory.tree_bytes(trajectories.step_struct(player.env, made_params, names)) if names else 0
    path, chunk = None if out is None else Path(out).absolute(), None
    if path is not None:
        most = max(1, trajectories.SHARD_BYTES // (num_envs * max(bytes_each, 1)))
        chunk = min(max(_CHUNK // num_envs, _FEWEST), most)
    about = {"env_id": choice.title, "options": choice.options, "params": params or {}, "policy": policy}
    about |= {"num_envs": num_envs, "steps": steps, "episodes": episodes, "seed": seed}
    plan = Plan(player, made_params, num_envs, steps, episodes, key, sharding, path, chunk, names, described(about))
    check_memory(plan, bytes_each * (chunk or 0))
    return plan


def run(plan: Plan, progress: Callable[[RolloutResult], None] | None = None) -> RolloutResult:
    """Runs a planned rollout. Like `rollout`, whose errors it raises."""
    whole = {**plan.about, "record": plan.record, "steps_per_chunk": plan.chunk}
    show = progress or (lambda result: None)
    with folder.claimed(plan.folder, whole), memory.explained(f"num_envs {plan.num_envs:,}"):
        found = recorded = None
        if plan.folder is not None:
            path = plan.folder / CHECKPOINT
            found = checkpoint.load(path, Progress) if path.exists() else None
            resumed_after = found[1].steps if found else 0
            folder.check_agreed(plan.folder, resumed_after)
            if plan.record:
                struct = trajectories.step_struct(plan.player.env, plan.params, plan.record)
                recorded = Trajectories(plan.folder / trajectories.TRAJECTORIES, plan.record, plan.about, struct)
                recorded.resume(resumed_after)
            if found and plan.is_complete(found[1], 0.0):
                result = _result(plan, found[1], resumed_after, 0.0, 0.0)
                show(result)
                return result
        loop = Loop(plan, recorded and recorded.chosen)
        if plan.folder is not None and found:
            loop.resume(checkpoint.restore(plan.folder / CHECKPOINT, found[0], loop.struct, plan.key), found[1])
        before, last, stopped = loop.progress.steps, time.monotonic(), 0

        def so_far() -> RolloutResult:
            return _result(plan, loop.progress, before, loop.seconds, loop.compile_seconds)

        show(so_far())
        with signals.noted() as signum:
            while not stopped and not plan.is_complete(loop.progress, loop.seconds):
                first = loop.progress.steps
                shares = loop.advance(2**30 if plan.steps is None else plan.steps - first)
                if recorded:
                    recorded.write(first, shares)
                stopped = int(distributed.highest(signum()))
                if plan.folder is not None and distributed.any_says(time.monotonic() - last > _SAVING):
                    _save(plan.folder, loop, recorded)
                    last = time.monotonic()
                show(so_far())
            if plan.folder is not None:
                _save(plan.folder, loop, recorded)
        if stopped := int(distributed.highest(signum())):  # the signal may have come during the last save
            signals.stop(stopped)
        return so_far()


def _save(folder: Path, loop: Loop, recorded: Trajectories | None) -> None:
    """Writes the manifest and the statistics before the checkpoint, so that everything it counts exists."""
    progress, carry = loop.progress, loop.snapshot()
    if distributed.is_first():
        if recorded:
            recorded.save(progress.steps)
        statistics = dataclasses.asdict(_statistics(progress)).items()
        finite = {name: value if math.isfinite(value) else None for name, value in statistics}
        facts = {"steps": progress.steps, "unfinished": progress.unfinished, **finite}
        replace(folder / STATISTICS, (json.dumps(facts, indent=1) + "\n").encode())
        checkpoint.save(folder / CHECKPOINT, carry, dataclasses.asdict(progress))


def _statistics(progress: Progress) -> EpisodeStatistics:
    """Returns the statistics of the counted episodes. While environments are unfinished, only their number is known."""
    found = EpisodeStatistics.of(np.array(progress.moments))
    return EpisodeStatistics(found.episodes) if progress.unfinished else found


def _result(
    plan: Plan, progress: Progress, resumed_after: int, seconds: float, compile_seconds: float
) -> RolloutResult:
    found, left = _statistics(progress), progress.unfinished
    return RolloutResult(found, left, plan.num_envs, progress.steps, resumed_after, seconds, compile_seconds)
