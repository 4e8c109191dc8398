"""A rollout that measures itself: what `envcore rollout` runs."""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rollout import RolloutState, Transition, begin, unroll
from envcore.wrappers import Batched

from envcore_cli import memory
from envcore_cli.episode_statistics import EpisodeStatistics, Running, Summary, empty_summary, nothing_running, play
from envcore_cli.policies import batch_policy, outside_action_space

_SECONDS = 0.1  # of a chunk: how often the progress is shown and Ctrl-C is heard


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a rollout has come.

    Attributes:
      steps: of each environment.
      seconds: the time that they took on the device, without compilation.
      statistics: of the episodes that ended.
    """

    steps: int = 0
    seconds: float = 0.0
    statistics: EpisodeStatistics = dataclasses.field(default_factory=EpisodeStatistics)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Place:
    """Where a rollout stands on the device.

    Attributes:
      rollout: what `unroll` goes on from.
      obs: what the policy saw last. It is carried from step to step because XLA would leave out an observation that
        nobody needs, and a policy worth its name looks at it.
      is_valid: whether all actions up to now were in their space, bool ().
      running: the unfinished episodes.
    """

    rollout: RolloutState
    obs: Any
    is_valid: jax.Array
    running: Running


class MeasuredRollout:
    """Steps a batch of environments in chunks of one compiled program, and keeps no more than a few numbers of them.

    Args:
      batch: the environments.
      params: theirs.
      policy: "random", or "module:function" of one observation, whose actions are checked.
      key: a random key.

    Attributes:
      policy: of the whole batch.
      start: where it begins.
      progress: how far it has come.
      compile_seconds: the time to reset, trace, compile and warm up.

    Raises:
      EnvcoreError: there is no such policy, or it or the environment fails where it is traced.
    """

    def __init__(self, batch: Batched, params: Any, policy: str, key: jax.Array):
        self._batch, self._params, self._policy_name = batch, params, policy
        self.policy = batch_policy(policy, batch, params)
        started = time.perf_counter()
        self.start = jax.jit(functools.partial(_begin, batch, params))(key)
        self._program = jax.jit(self.run).lower(self.start, jnp.int32(1)).compile()
        self._place, self.progress = self.start, Progress()
        self._timed(1)
        self._pace = self._timed(1)[-1]  # seconds a step
        self.compile_seconds = time.perf_counter() - started

    def run(self, place: Place, num_steps: jax.Array) -> tuple[Place, Summary]:
        """Takes `num_steps` steps, int32 (). A pure function."""

        def step(place: Place) -> tuple[Place, jax.Array, jax.Array]:
            rollout, taken = unroll(self._batch, self.policy, place.rollout, 1, self._params, collect=self._collect)
            obs, reward, done, is_valid = jax.tree.map(lambda x: x[0], taken)
            return (
                dataclasses.replace(place, rollout=rollout, obs=obs, is_valid=place.is_valid & is_valid),
                reward,
                done,
            )

        place, running, summary = play(step, place, place.running, num_steps)
        return dataclasses.replace(place, running=running), summary

    def advance(self, limit: int) -> int:
        """Takes the steps of about a tenth of a second, at most `limit`; returns how many.

        Raises:
          InvalidArgumentError: the policy acted outside the action space.
        """
        steps = max(1, min(limit, int(_SECONDS / self._pace), 2**30))
        place, summary, seconds = self._timed(steps)
        if not place.is_valid:
            raise outside_action_space(self._policy_name, self._batch.env, self._params)
        self._pace = seconds / steps
        statistics = self.progress.statistics.merge(summary)
        # One assignment, so that what was collected belongs together whenever Ctrl-C comes.
        self._place, self.progress = (
            place,
            Progress(self.progress.steps + steps, self.progress.seconds + seconds, statistics),
        )
        return steps

    def _timed(self, steps: int) -> tuple[Place, Summary, float]:
        count = jnp.int32(steps)
        started = time.perf_counter()
        place, summary = jax.block_until_ready(self._program(self._place, count))
        return place, summary, time.perf_counter() - started

    def _collect(self, step: Transition) -> tuple[Any, ...]:
        is_valid = jnp.array(True)
        if self._policy_name != "random":
            is_valid = self._batch.action_space(self._params).contains(step.action)
        return step.obs, step.reward, step.done, is_valid


def check_memory(env: Environment[Any, Any], params: Any, num_envs: int) -> None:
    """Says before anything is allocated where so many environments do not fit.

    Raises:
      NotEnoughMemoryError: the message says how many fit.
      InvalidArgumentError: there is memory, but 32 bits do not count them.
    """
    key = jax.eval_shape(lambda: jax.random.key(0))
    one = Batched(env, 1)
    place = jax.eval_shape(functools.partial(_begin, one, params), key)
    summary = jax.eval_shape(empty_summary, place.running)
    action = jax.eval_shape(one.action_space(params).sample, key)
    # Measured: the places at the start, before and after a chunk, the loop's own arrays, and the batch's action space.
    bytes_each = 3 * memory.tree_bytes(place) + 5 * memory.tree_bytes(summary) + 4 * memory.tree_bytes(action)
    memory.check_fits("--num-envs", num_envs, bytes_each, memory.device_bytes())
    if num_envs >= 2**31:
        raise InvalidArgumentError(f"--num-envs must be less than 2**31, got {num_envs:,}.")


def _begin(batch: Batched, params: Any, key: jax.Array) -> Place:
    """Resets the environments."""
    rollout = begin(batch, key, params)
    return Place(rollout, batch.get_obs(rollout.state, params), jnp.array(True), nothing_running(batch.batch_shape))
