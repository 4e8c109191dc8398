"""Runs a rollout in a loop: steps a batch of environments in chunks, with one compiled program."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore.devices import spread
from envcore.rollout import RolloutState, Transition, run_rollout, start_rollout
from envcore.wrappers import Batched
from jax.sharding import NamedSharding, PartitionSpec

from envcore_runs import distributed, memory
from envcore_runs.episodes import Episodes, joined
from envcore_runs.policies import Player, batch_policy, outside_action_space

_MEASURING = 1.0
"""Minimum duration in seconds of a rollout without a number of steps, so that its speed can be measured."""
_PATIENCE = 60.0
"""Seconds after which a rollout stops waiting for the first episode of every environment."""
_SECONDS = 0.5
"""Target duration of a chunk: long enough to hide the fixed cost of a call, and short enough to show progress."""
_MOST = 2**30  # maximum number of steps in a chunk, because they are counted in int32

Recorded = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a rollout.

    Attributes:
      steps: number of steps taken by each environment.
      unfinished: number of environments that have not finished all episodes to count.
      moments: moments of the episodes counted so far, see `episodes.joined`.
    """

    steps: int
    unfinished: int
    moments: list[float]


@dataclasses.dataclass(frozen=True)
class Plan:
    """A checked rollout, ready to run.

    Attributes:
      player: chooses the actions, and contains the environment.
      params: the environment's params.
      num_envs: number of environments that run in parallel, on all devices together.
      steps: steps per environment, or None for as many as its episodes take.
      episodes: number of episodes per environment that the statistics count. The rollout waits for them, however long
        they take. None counts one, and stops waiting after a minute.
      key: random key of the whole rollout.
      sharding: the devices, from `distributed.sharding`.
      folder: folder to save the rollout in, or None.
      chunk: steps of each environment between two checkpoints, or None for as many as take half a second.
      record: names of the values to record at each step.
      about: everything that determines the results, as JSON values. Empty if there is no folder.
    """

    player: Player
    params: Any
    num_envs: int
    steps: int | None
    episodes: int | None
    key: jax.Array
    sharding: NamedSharding
    folder: Path | None
    chunk: int | None
    record: tuple[str, ...]
    about: Mapping[str, Any]

    def is_complete(self, progress: Progress, seconds: float) -> bool:
        """Returns whether the rollout is complete after `seconds` seconds."""
        if self.steps is not None:
            return progress.steps >= self.steps
        if progress.unfinished:
            return self.episodes is None and seconds >= _PATIENCE
        return self.episodes is not None or seconds >= _MEASURING


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Carry:
    """The state of a rollout on the device.

    Attributes:
      rollout: the state that `run_rollout` continues from.
      obs: the last observation. It is carried from step to step because XLA would otherwise skip it for policies that
        ignore observations. Real policies use them, so the measured speed should include them.
      is_valid: whether all actions so far were in the action space, bool (num_envs,).
      episodes: the episodes so far.
    """

    rollout: RolloutState
    obs: Any
    is_valid: jax.Array
    episodes: Episodes


_SPLIT: Any = Carry(RolloutState(False, True), True, True, True)  # pyright: ignore[reportArgumentType]
"""Which parts of a `Carry` have an axis of environments."""


class Loop:
    """Steps a batch of environments, and keeps only a few numbers for each.

    Args:
      plan: the rollout to run.
      record: returns the arrays to record of a step, by name. The plan must have a `chunk` then.

    Attributes:
      struct: shapes and dtypes of the state.
      progress: progress so far, of all processes.
      seconds: time for the steps of this process, without compilation.
      compile_seconds: time to reset, trace, compile and warm up.

    Raises:
      EnvcoreError: the player has a memory, or the policy or the environment fails during tracing.
    """

    def __init__(self, plan: Plan, record: Callable[[Transition], dict[str, jax.Array]] | None = None):
        self._plan, self._record = plan, record
        self._sharding, self._batch = _batch(plan)
        self._policy = batch_policy(plan.player, self._batch, plan.params)
        self.progress, self.seconds = Progress(0, plan.num_envs, Episodes.of_none((1,), 1).row().tolist()), 0.0
        began = time.perf_counter()
        self._carry = _started(plan, plan.episodes or 1)
        self.struct = jax.eval_shape(lambda carry: carry, self._carry)
        program = spread(self._run, self._sharding, (_SPLIT, False), (_SPLIT, True))
        self._program = jax.jit(program).lower(self._carry, np.int32(1)).compile()
        self._timed(1)  # warms up
        self._next = _steps_in_time(1, distributed.highest(self._timed(1)[-1]))
        self.compile_seconds = time.perf_counter() - began

    def advance(self, limit: int) -> list[Recorded]:
        """Runs a chunk of at most `limit` steps, and returns what each device of this process recorded.

        Raises:
          InvalidArgumentError: the policy returned an action outside the action space.
        """
        steps = min(limit, self._plan.chunk or self._next, _MOST)
        carry, recorded, seconds = self._timed(steps)
        shares = _shares((carry.is_valid, carry.episodes))
        rows = [(ok.all(), seconds, (each.left > 0).sum(), *each.row()) for ok, each in shares]
        rows = distributed.gathered(np.array(rows, np.float64))
        if not rows[:, 0].all():
            raise outside_action_space(self._plan.player.name, self._batch.env, self._plan.params)
        seconds, self._carry = float(rows[:, 1].max()), carry
        self._next, self.seconds = _steps_in_time(steps, seconds), self.seconds + seconds
        self.progress = Progress(self.progress.steps + steps, int(rows[:, 2].sum()), joined(rows[:, 3:]).tolist())
        return [jax.tree.map(lambda x: x[0, :steps], each) for each in _shares(recorded)]

    def snapshot(self) -> Any:
        """Returns the state of all processes, for `resume`."""
        return distributed.whole(self._carry)

    def resume(self, carry: Any, progress: Progress) -> None:
        """Continues from a saved state and its progress."""
        self.progress = progress
        if self._sharding is not None:
            key, rollout = carry.rollout.key, carry.rollout.replace(key=())
            carry = distributed.placed(dataclasses.replace(carry, rollout=rollout), self._sharding)
            key = distributed.placed(key, NamedSharding(self._sharding.mesh, PartitionSpec()))
            carry = dataclasses.replace(carry, rollout=carry.rollout.replace(key=key))
        self._carry = carry

    def _run(self, carry: Carry, num_steps: jax.Array) -> tuple[Carry, Any]:
        """Takes `num_steps` steps, int32 (), on one device. Returns what it recorded as the last value."""

        def taken(rollout: RolloutState) -> tuple[RolloutState, tuple[Any, ...]]:
            rollout, taken = run_rollout(
                self._batch, self._policy, rollout, 1, self._plan.params, collect=self._collect
            )
            return rollout, jax.tree.map(lambda x: x[0], taken)

        def step(number: jax.Array, state: tuple[Carry, Any]) -> tuple[Carry, Any]:
            carry, rows = state
            rollout, (obs, reward, done, is_valid, recorded) = taken(carry.rollout)
            carry = Carry(rollout, obs, carry.is_valid & is_valid, carry.episodes.after(reward, done))
            return carry, jax.tree.map(lambda rows, new: rows.at[number].set(new), rows, recorded)

        *_, struct = jax.eval_shape(taken, carry.rollout)[1]
        rows = jax.tree.map(lambda x: jnp.zeros((self._plan.chunk or 0, *x.shape), x.dtype), struct)
        carry, rows = jax.lax.fori_loop(np.int32(0), num_steps, step, (carry, rows))
        # Devices are joined along the new first axis. The axis of environments is the third.
        return carry, jax.tree.map(lambda x: x[None], rows)

    def _timed(self, steps: int) -> tuple[Carry, Any, float]:
        started = time.perf_counter()
        carry, recorded = jax.block_until_ready(self._program(self._carry, np.int32(steps)))
        return carry, recorded, time.perf_counter() - started

    def _collect(self, step: Transition) -> tuple[Any, ...]:
        is_valid = jnp.array(True)
        if self._plan.player.name != "random":
            is_valid = self._batch.action_space(self._plan.params).contains(step.action)
        return step.obs, step.reward, step.done, is_valid, {} if self._record is None else self._record(step)


def check_memory(plan: Plan, recorded_bytes: int) -> None:
    """Checks that the environments fit into memory, before anything is allocated.

    Args:
      plan: the rollout.
      recorded_bytes: bytes recorded for a chunk of one environment.

    Raises:
      NotEnoughMemoryError: they do not fit. The message gives the number that fit.
    """
    key, one = jax.eval_shape(lambda: jax.random.key(0)), Batched(plan.player.env, 1)
    carry = jax.eval_shape(functools.partial(_begin, one, plan.params), key, 1)
    # The carries at the start, before and after a chunk, the chunk's arrays, the joined rows, and the file.
    bytes_each = 5 * memory.tree_bytes(carry) + 3 * recorded_bytes
    memory.check_fits("num_envs", plan.num_envs, bytes_each, memory.device_bytes(plan.sharding))


def _steps_in_time(steps: int, seconds: float) -> int:
    """Estimates how many steps take about `_SECONDS`, given the time of a measured number of steps."""
    return max(1, int(steps * _SECONDS / max(seconds, 1e-9)))


def _batch(plan: Plan) -> tuple[NamedSharding | None, Batched]:
    """Returns the devices to split the environments over (None for one), and the batch of one device."""
    num = plan.sharding.mesh.size
    batch = Batched(plan.player.env, plan.num_envs // num, distributed.AXIS if num > 1 else None)
    return (plan.sharding if num > 1 else None), batch


def _started(plan: Plan, episodes: int) -> Carry:
    """Returns the state before the first step, on all devices. Each environment will count `episodes` episodes."""
    sharding, batch = _batch(plan)
    # Every process can pass numpy arrays to a program that runs on all processes.
    words, impl = np.asarray(jax.random.key_data(plan.key)), jax.random.key_impl(plan.key)

    def begin(words: jax.Array, episodes: jax.Array) -> Carry:
        return _begin(batch, plan.params, jax.random.wrap_key_data(words, impl=impl), episodes)

    return jax.jit(spread(begin, sharding, (False, False), _SPLIT))(words, np.int32(episodes))


def _begin(batch: Batched, params: Any, key: jax.Array, episodes: jax.Array) -> Carry:
    """Resets the environments."""
    rollout = start_rollout(batch, key, params)
    obs, is_valid = batch.observe(rollout.state, params), jnp.ones(batch.num_envs, jnp.bool_)
    return Carry(rollout, obs, is_valid, Episodes.of_none(batch.batch_shape, episodes))


def _shares(tree: Any) -> list[Any]:
    """Returns each device's part of the arrays in this process, in the order of the batch."""

    def pieces(array: jax.Array) -> list[Any]:
        found = sorted(array.addressable_shards, key=lambda shard: shard.index[0].start or 0)
        return [np.asarray(shard.data) for shard in found]

    leaves, structure = jax.tree.flatten(tree)
    return [jax.tree.unflatten(structure, each) for each in zip(*map(pieces, leaves), strict=True)]
