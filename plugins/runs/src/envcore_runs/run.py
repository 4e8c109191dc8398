"""A rollout: what it is asked to do, checked before anything is compiled, and how it is run to its end and saved.

A folder holds run.json (what it is the rollout of), statistics.json, checkpoint.safetensors and, if steps are recorded,
`trajectories`. After a kill at any moment the same call continues it, with the same results bit for bit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import checks
from envcore.engine.arguments import checked_params
from envcore.environment import Environment, EnvParams
from envcore.errors import InvalidArgumentError
from envcore.files import replace
from envcore.random import key_of
from envcore.rollout import Policy
from envcore.wrappers import Batched
from jax.sharding import NamedSharding

from envcore_runs import checkpoint, distributed, folder, memory, signals, trajectories
from envcore_runs.choice import choice_of, with_params
from envcore_runs.description import described, fields_of, name_of
from envcore_runs.episodes import EpisodeStatistics
from envcore_runs.loop import Loop, check_memory
from envcore_runs.policies import Player, batch_policy, find_player
from envcore_runs.records import Natural
from envcore_runs.trajectories import Trajectories

CHECKPOINT, STATISTICS = "checkpoint.safetensors", "statistics.json"

_CHUNK = 2**20
"""Steps of all environments between two files of a saved rollout: about 10 ms of a light environment, below a second of
most others."""
_FEWEST = 128
"""Steps of each environment between them: every chunk brings the moments of each environment to the host."""
_SAVING = 5.0
"""Seconds between checkpoints."""
_MEASURING = 1.0
"""A rollout without a number of steps goes on for so many seconds, so that its speed can be told."""
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


@dataclasses.dataclass(frozen=True)
class Plan:
    """A rollout that can begin.

    Attributes:
      player: what chooses the actions, and its environment.
      params: the environment's params.
      num_envs: number of environments that step in parallel.
      steps: of each environment; None for as many as its episodes take.
      episodes: of each environment, which the statistics count.
      is_patient: whether to wait for the episodes of every environment, however long they take.
      key: the random key of the whole rollout.
      sharding: the devices.
      folder: in which it is saved; None for none.
      chunk: steps of each environment between two files; None without a folder.
      record: the parts of each step that are recorded.
      about: what decides its results, as JSON can hold it; empty if there is no folder.
    """

    player: Player
    params: Any
    num_envs: int
    steps: int | None
    episodes: int
    is_patient: bool
    key: jax.Array
    sharding: NamedSharding
    folder: Path | None
    chunk: int | None
    record: tuple[str, ...]
    about: Mapping[str, Any]

    def is_complete(self, steps: int, unfinished: int, seconds: float) -> bool:
        """Whether the rollout ends after so many steps of each environment and so many seconds."""
        if self.steps is not None:
            return steps >= self.steps
        if unfinished:
            return not self.is_patient and seconds >= _PATIENCE
        return self.is_patient or seconds >= _MEASURING


@dataclasses.dataclass(frozen=True)
class _Saved:
    """What a checkpoint says beside its arrays: see `Loop`."""

    steps: Natural
    unfinished: Natural
    moments: list[float]


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
      progress: is called before the first steps, and about twice a second.

    Raises:
      InvalidArgumentError: an argument is invalid, before anything is compiled; or the policy fails when it is traced,
        or its actions are not in the action space.
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


def planned(
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
) -> Plan:
    """Checks what `rollout` is given; its arguments and errors are those of `rollout`."""
    for name, value in (("num_envs", num_envs), ("steps", steps), ("episodes", episodes)):
        if value is not None or name == "num_envs":
            at_most = np.iinfo(np.int32).max if name == "episodes" else None
            checks.positive_integer(name, value, InvalidArgumentError, at_most=at_most)
    if out is not None and steps is None and episodes is None:
        raise InvalidArgumentError("out needs steps or episodes: how long the rollout is.")
    if record and (out is None or steps is None):
        raise InvalidArgumentError("record needs out, the folder for the trajectories, and steps, their length.")
    key, choice = key_of(seed), choice_of(env, options, None, is_saved=False)
    made, made_params = choice.make()
    if isinstance(params, Mapping):
        made_params = with_params(choice.title, made, made_params, params)
    elif params is not None:
        made_params = checked_params(made, params)
    player = find_player(policy, choice.found.spec.id, made, made_params)
    batch_policy(player, Batched(player.env, 1), made_params)  # which has no memory
    sharding = distributed.sharding("num_envs", num_envs, devices)
    names = trajectories.checked_names(record, player.env, made_params)
    bytes_each = trajectories.step_bytes(player.env, made_params, names)
    chunk, about, counted = None, dict[str, Any](), episodes or 1
    if out is not None:
        chunk = min(max(_CHUNK // num_envs, _FEWEST), trajectories.steps_per_shard(num_envs, bytes_each))
        is_whole = params is not None and not isinstance(params, Mapping)
        about = {
            "env_id": choice.title,
            "options": described(choice.options),
            "params": fields_of(params) if is_whole else described(params or {}),
            "policy": policy if isinstance(policy, str) else name_of(policy),
            "num_envs": int(num_envs),
            "steps": None if steps is None else int(steps),
            "episodes": int(counted),
            "seed": int(seed),
        }
    check_memory(player.env, made_params, num_envs, sharding, bytes_each * (chunk or 0))
    if out is not None:
        trajectories.check_disk(Path(out), (steps or 0) * num_envs * bytes_each)
    path, is_patient = None if out is None else Path(out), episodes is not None
    return Plan(player, made_params, num_envs, steps, counted, is_patient, key, sharding, path, chunk, names, about)


def run(plan: Plan, progress: Callable[[RolloutResult], None] | None = None) -> RolloutResult:
    """Runs what was planned; as `rollout`, whose errors it raises."""
    whole = {**plan.about, "record": plan.record, "steps_per_chunk": plan.chunk}
    claimed = contextlib.nullcontext() if plan.folder is None else folder.claimed(plan.folder, whole)
    show = progress or (lambda result: None)
    with claimed, memory.explained("num_envs", plan.num_envs):
        recorded, tensors, saved = None, None, _Saved(0, plan.num_envs, [])
        if plan.folder is not None and (plan.folder / CHECKPOINT).exists():
            tensors, saved = checkpoint.load(plan.folder / CHECKPOINT, _Saved)
        if plan.folder is not None:
            folder.check_agreed(plan.folder, saved.steps)
            if plan.record:
                struct = trajectories.step_struct(plan.player.env, plan.params, plan.record)
                recorded = Trajectories(plan.folder / trajectories.TRAJECTORIES, plan.record, plan.about, struct)
                recorded.resume(saved.steps)
        if tensors is not None and plan.is_complete(saved.steps, saved.unfinished, 0.0):
            result = _result(plan, saved, saved.steps)
            show(result)
            return result
        record = None if recorded is None else recorded.chosen
        loop = Loop(plan.player, plan.num_envs, plan.params, plan.key, plan.episodes, plan.sharding, plan.chunk, record)
        if plan.folder is not None and tensors is not None:
            loop.resume(checkpoint.restore(plan.folder / CHECKPOINT, tensors, loop.struct, plan.key), saved.steps)

        def found() -> RolloutResult:
            so_far = _Saved(loop.steps, loop.unfinished, loop.moments.tolist())
            return _result(plan, so_far, saved.steps, loop.seconds, loop.compile_seconds)

        show(found())
        stopped, last = 0, time.monotonic()
        with signals.noted() as signum:
            while not stopped and not plan.is_complete(loop.steps, loop.unfinished, loop.seconds):
                first, limit = loop.steps, 2**30 if plan.steps is None else plan.steps - loop.steps
                shares = loop.advance(limit)
                if recorded is not None:
                    recorded.write(first, shares)
                stopped = int(distributed.highest(signum()))
                if not stopped and plan.folder is not None and distributed.any_says(time.monotonic() - last > _SAVING):
                    _save(plan, loop, recorded)
                    last = time.monotonic()
                show(found())
            _save(plan, loop, recorded)
        if stopped:
            signals.stop(stopped)
        return found()


def _save(plan: Plan, loop: Loop, recorded: Trajectories | None) -> None:
    """Writes the manifest and the statistics, then the checkpoint: what it counts is there."""
    if plan.folder is None:
        return
    carry, saved = loop.snapshot(), _Saved(loop.steps, loop.unfinished, loop.moments.tolist())
    if distributed.is_first():
        if recorded is not None:
            recorded.save(loop.steps)
        statistics = dataclasses.asdict(_result(plan, saved, 0).statistics)
        shown = {name: value if math.isfinite(value) else None for name, value in statistics.items()}
        facts = {"steps": loop.steps, "unfinished": loop.unfinished, **shown}
        replace(plan.folder / STATISTICS, (json.dumps(facts, indent=1) + "\n").encode())
        checkpoint.save(plan.folder / CHECKPOINT, carry, dataclasses.asdict(saved))


def _result(
    plan: Plan, found: _Saved, resumed_after: int, seconds: float = 0.0, compile_seconds: float = 0.0
) -> RolloutResult:
    statistics = EpisodeStatistics.of(np.array(found.moments))
    return RolloutResult(
        EpisodeStatistics(statistics.episodes) if found.unfinished else statistics,
        plan.episodes,
        found.unfinished,
        plan.num_envs,
        found.steps,
        resumed_after,
        seconds,
        compile_seconds,
        plan.sharding.mesh.size,
        plan.folder,
    )
