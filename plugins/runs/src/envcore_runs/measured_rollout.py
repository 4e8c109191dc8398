"""A rollout that measures its speed and its episodes."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore.devices import spread
from envcore.rollout import RolloutState, Transition, run_rollout
from jax.sharding import NamedSharding, PartitionSpec

from envcore_runs import distributed
from envcore_runs.episode_statistics import (
    EpisodeStatistics,
    Summary,
    summarize_episodes,
)
from envcore_runs.pace import Pace
from envcore_runs.policies import Player, batch_policy, outside_action_space
from envcore_runs.rollout_start import SPLIT, Carry, batched, started
from envcore_runs.trajectories import Trajectories


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a rollout.

    Attributes:
      steps: steps taken by each environment.
      earlier: those of them that were taken before the rollout was resumed.
      seconds: the time that the others took, without compilation.
      unfinished: environments that have not finished as many episodes as are to be counted.
      statistics: of the episodes counted so far.
    """

    unfinished: int
    steps: int = 0
    earlier: int = 0
    seconds: float = 0.0
    statistics: EpisodeStatistics = dataclasses.field(default_factory=EpisodeStatistics)

    @property
    def unbiased(self) -> EpisodeStatistics:
        """The statistics; where environments are unfinished, only the number of episodes."""
        return EpisodeStatistics(self.statistics.episodes) if self.unfinished else self.statistics


_MOST = 2**30  # steps of a chunk: int32 counts them


class MeasuredRollout:
    """Steps a batch of environments in chunks of one compiled program, and keeps only a few numbers of them.

    Args:
      player: what chooses the actions, and its environment.
      num_envs: number of copies, on all devices together.
      params: their params.
      key: a random key.
      episodes: how many episodes of each environment its statistics count.
      sharding: the devices, as `distributed.sharding` chooses them.
      chunk: steps of a chunk; by default as many as `Pace` chooses.
      trajectories: what writes parts of each step to disk; needs `chunk`.

    Attributes:
      num_envs: number of copies.
      num_devices: over how many devices they are spread.
      struct: the shapes and dtypes of the rollout's state.
      progress: the progress so far, of all processes.
      pace: what steps cost, the same in all processes.
      compile_seconds: the time to reset, trace, compile and warm up.

    Raises:
      EnvcoreError: the player has a memory, or the policy or the environment fails during tracing.
    """

    def __init__(
        self,
        player: Player,
        num_envs: int,
        params: Any,
        key: jax.Array,
        episodes: int,
        sharding: NamedSharding,
        chunk: int | None = None,
        trajectories: Trajectories | None = None,
    ):
        self._params, self._policy_name = params, player.name
        self._chunk, self._trajectories = chunk, trajectories
        self.num_envs, self.num_devices = num_envs, sharding.mesh.size
        self._sharding, self._batch = batched(player, num_envs, sharding)
        self._policy = batch_policy(player, self._batch, params)
        began = time.perf_counter()
        self._carry = started(self._batch, params, key, episodes, self._sharding)
        self.progress = Progress(unfinished=num_envs)
        self.struct = jax.eval_shape(lambda carry: carry, self._carry)
        program = spread(self._run, self._sharding, (SPLIT, False), (SPLIT, True, True))
        self._program = jax.jit(program).lower(self._carry, np.int32(1)).compile()
        self._timed(1)
        self.pace = Pace()
        for _ in range(2):  # calls of different lengths, unless a step takes a second
            steps = min(self.pace.chunk(), self._chunk or _MOST)
            self.pace.add(steps, float(distributed.gathered(np.array([self._timed(steps)[-1]])).max()))
            if self.pace.per_step > 1:
                break
        self.compile_seconds = time.perf_counter() - began

    def advance(self, limit: int) -> int:
        """Takes the steps of a chunk, at most `limit`, and records them; returns how many.

        Raises:
          InvalidArgumentError: the policy returned an action outside the action space.
          FileError: what is recorded cannot be written.
          ProcessError: another process has ended.
        """
        steps = min(limit, self._chunk or self.pace.chunk(), _MOST)
        carry, summary, recorded, seconds = self._timed(steps)
        rows = [
            (is_valid.all(), seconds, (left > 0).sum(), *dataclasses.astuple(EpisodeStatistics.of(each)))
            for (is_valid, left), each in zip(
                _shares((carry.is_valid, carry.running.left)), _shares(summary), strict=True
            )
        ]
        rows = distributed.gathered(np.array(rows, np.float64))
        if not rows[:, 0].all():
            raise outside_action_space(self._policy_name, self._batch.env, self._params)
        seconds = float(rows[:, 1].max())
        self.pace.add(steps, seconds)
        parts = [EpisodeStatistics(int(episodes), *numbers) for _, _, _, episodes, *numbers in rows.tolist()]
        before = self.progress
        if self._trajectories is not None:
            self._trajectories.write(before.steps, [_first_steps(each, steps) for each in _shares(recorded)])
        statistics = EpisodeStatistics.joined([before.statistics, EpisodeStatistics.joined(parts)])
        after = Progress(
            int(rows[:, 2].sum()), before.steps + steps, before.earlier, before.seconds + seconds, statistics
        )
        self._carry, self.progress = carry, after  # in one statement: they fit together whenever Ctrl-C comes
        return steps

    def snapshot(self) -> tuple[Progress, Any]:
        """The progress and the state of all processes, for `resume`.

        Raises:
          ProcessError: another process has ended.
        """
        progress, carry = self.progress, self._carry
        return progress, distributed.whole(carry)

    def resume(self, carry: Any, progress: Progress) -> None:
        """Continues from a state after this progress, instead of from the start."""
        self.progress = progress
        if self._sharding is None:
            self._carry = carry
            return
        key, rollout = carry.rollout.key, carry.rollout.replace(key=())
        split = distributed.placed(dataclasses.replace(carry, rollout=rollout), self._sharding)
        key = distributed.placed(key, NamedSharding(self._sharding.mesh, PartitionSpec()))
        self._carry = dataclasses.replace(split, rollout=split.rollout.replace(key=key))

    def _run(self, carry: Carry, num_steps: jax.Array) -> tuple[Carry, Summary, Any]:
        """Takes `num_steps` steps, int32 (), on one device; the last result is what is recorded of them."""

        def taken(rollout: RolloutState) -> tuple[RolloutState, tuple[Any, ...]]:
            rollout, taken = run_rollout(self._batch, self._policy, rollout, 1, self._params, collect=self._collect)
            return rollout, jax.tree.map(lambda x: x[0], taken)

        def step(state: tuple[Carry, Any, jax.Array]) -> tuple[tuple[Carry, Any, jax.Array], jax.Array, jax.Array]:
            carry, rows, number = state
            rollout, (obs, reward, done, is_valid, recorded) = taken(carry.rollout)
            carry = dataclasses.replace(carry, rollout=rollout, obs=obs, is_valid=carry.is_valid & is_valid)
            rows = jax.tree.map(lambda rows, new: rows.at[number].set(new), rows, recorded)
            return (carry, rows, number + np.int32(1)), reward, done

        *_, struct = jax.eval_shape(taken, carry.rollout)[1]
        rows = jax.tree.map(lambda x: jnp.zeros((self._chunk or 0, *x.shape), x.dtype), struct)
        state = carry, rows, jnp.int32(0)
        (carry, rows, _), running, summary = summarize_episodes(step, state, carry.running, num_steps)
        # The new axis is the one over which devices are joined; the axis of environments is the third.
        return dataclasses.replace(carry, running=running), summary, jax.tree.map(lambda x: x[None], rows)

    def _timed(self, steps: int) -> tuple[Carry, Summary, Any, float]:
        started = time.perf_counter()
        found = jax.block_until_ready(self._program(self._carry, np.int32(steps)))
        return *found, time.perf_counter() - started

    def _collect(self, step: Transition) -> tuple[Any, ...]:
        is_valid = jnp.array(True)
        if self._policy_name != "random":
            is_valid = self._batch.action_space(self._params).contains(step.action)
        recorded = {} if self._trajectories is None else self._trajectories.chosen(step)
        return step.obs, step.reward, step.done, is_valid, recorded


def _shares(tree: Any) -> list[Any]:
    """What each device of this process holds of the arrays, in the order of the batch."""

    def pieces(array: jax.Array) -> list[Any]:
        found = sorted(array.addressable_shards, key=lambda shard: shard.index[0].start or 0)
        return [np.asarray(shard.data) for shard in found]

    leaves, structure = jax.tree.flatten(tree)
    return [jax.tree.unflatten(structure, each) for each in zip(*map(pieces, leaves), strict=True)]


def _first_steps(recorded: Any, steps: int) -> Any:
    """Of a device's rows (1, chunk, environments, ...) those of the steps that it has taken."""
    return jax.tree.map(lambda x: x[0, :steps], recorded)


def first_states(
    player: Player, num_envs: int, params: Any, key: jax.Array, sharding: NamedSharding, num_steps: int
) -> Any:
    """The states of the first environment of a `MeasuredRollout` before each of its first steps, taken for this."""
    split, batch = batched(player, num_envs, sharding)
    policy = batch_policy(player, batch, params)

    def states(start: RolloutState) -> Any:
        def first(step: Transition) -> Any:
            return jax.tree.map(lambda x: x[0], step.state)

        _, found = run_rollout(batch, policy, start, num_steps, params, collect=first)
        return jax.tree.map(lambda x: x[None], found)

    start = started(batch, params, key, 0, split)
    found = jax.jit(spread(states, split, (SPLIT.rollout,)))(start.rollout)
    return jax.tree.map(lambda x: x[0], _shares(found)[0])
