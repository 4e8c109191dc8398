"""A rollout that measures its speed and its episodes, for `envcore rollout`."""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rollout import RolloutState, Transition, run_rollout, start_rollout
from envcore.wrappers import Batched

from envcore_cli import memory
from envcore_cli.episode_statistics import (
    EpisodeStatistics,
    Running,
    Summary,
    empty_summary,
    nothing_running,
    summarize_episodes,
)
from envcore_cli.policies import batch_policy, outside_action_space

_SECONDS = 0.1  # per chunk: the interval at which progress is shown and Ctrl-C is noticed


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a rollout.

    Attributes:
      steps: steps taken by each environment.
      seconds: the time that these steps took, without compilation.
      statistics: of the finished episodes.
    """

    steps: int = 0
    seconds: float = 0.0
    statistics: EpisodeStatistics = dataclasses.field(default_factory=EpisodeStatistics)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Carry:
    """The state of a measured rollout on the device.

    Attributes:
      rollout: the state that `run_rollout` continues from.
      obs: the last observation. It is carried from step to step because XLA would not compute an observation that
        nothing reads, but a real policy reads it.
      is_valid: whether all actions so far were in the action space, bool ().
      running: the unfinished episodes.
    """

    rollout: RolloutState
    obs: Any
    is_valid: jax.Array
    running: Running


class MeasuredRollout:
    """Steps a batch of environments in chunks of one compiled program, and keeps only a few numbers of them.

    Args:
      batch: the environments.
      params: their params.
      policy: as for `find_player`.
      env_id: the environment's id.
      key: a random key.

    Attributes:
      policy: the policy of the whole batch.
      start: the carry after the resets.
      progress: the progress so far.
      compile_seconds: the time to reset, trace, compile and warm up.

    Raises:
      EnvcoreError: there is no such policy, or the policy or the environment fails during tracing.
    """

    def __init__(self, batch: Batched, params: Any, policy: str, env_id: str, key: jax.Array):
        self._batch, self._params, self._policy_name = batch, params, policy
        self.policy = batch_policy(policy, env_id, batch, params)
        started = time.perf_counter()
        self.start = jax.jit(functools.partial(_begin, batch, params))(key)
        self._program = jax.jit(self.run).lower(self.start, jnp.int32(1)).compile()
        self._carry, self.progress = self.start, Progress()
        self._timed(1)
        self._pace = self._timed(1)[-1]  # seconds per step
        self.compile_seconds = time.perf_counter() - started

    def run(self, carry: Carry, num_steps: jax.Array) -> tuple[Carry, Summary]:
        """Takes `num_steps` steps, int32 (). A pure function."""

        def step(carry: Carry) -> tuple[Carry, jax.Array, jax.Array]:
            rollout, taken = run_rollout(
                self._batch, self.policy, carry.rollout, 1, self._params, collect=self._collect
            )
            obs, reward, done, is_valid = jax.tree.map(lambda x: x[0], taken)
            return (
                dataclasses.replace(carry, rollout=rollout, obs=obs, is_valid=carry.is_valid & is_valid),
                reward,
                done,
            )

        carry, running, summary = summarize_episodes(step, carry, carry.running, num_steps)
        return dataclasses.replace(carry, running=running), summary

    def advance(self, limit: int) -> int:
        """Takes steps for about a tenth of a second, at most `limit`; returns how many.

        Raises:
          InvalidArgumentError: the policy returned an action outside the action space.
        """
        steps = max(1, min(limit, int(_SECONDS / self._pace), 2**30))
        carry, summary, seconds = self._timed(steps)
        if not carry.is_valid:
            raise outside_action_space(self._policy_name, self._batch.env, self._params)
        self._pace = seconds / steps
        statistics = self.progress.statistics.merge(summary)
        # One assignment, so that the results are consistent whenever Ctrl-C comes.
        self._carry, self.progress = (
            carry,
            Progress(self.progress.steps + steps, self.progress.seconds + seconds, statistics),
        )
        return steps

    def _timed(self, steps: int) -> tuple[Carry, Summary, float]:
        count = jnp.int32(steps)
        started = time.perf_counter()
        carry, summary = jax.block_until_ready(self._program(self._carry, count))
        return carry, summary, time.perf_counter() - started

    def _collect(self, step: Transition) -> tuple[Any, ...]:
        is_valid = jnp.array(True)
        if self._policy_name != "random":
            is_valid = self._batch.action_space(self._params).contains(step.action)
        return step.obs, step.reward, step.done, is_valid


def check_memory(env: Environment[Any, Any], params: Any, num_envs: int) -> None:
    """Checks, before anything is allocated, that so many environments fit into memory.

    Raises:
      NotEnoughMemoryError: they do not; the message says how many fit.
      InvalidArgumentError: they fit, but int32 cannot count them.
    """
    key = jax.eval_shape(lambda: jax.random.key(0))
    one = Batched(env, 1)
    carry = jax.eval_shape(functools.partial(_begin, one, params), key)
    summary = jax.eval_shape(empty_summary, carry.running)
    action = jax.eval_shape(one.action_space(params).sample, key)
    # Measured: the carries at the start, before and after a chunk, the loop's arrays, and the batch's action space.
    bytes_each = 3 * memory.tree_bytes(carry) + 5 * memory.tree_bytes(summary) + 4 * memory.tree_bytes(action)
    memory.check_fits("--num-envs", num_envs, bytes_each, memory.device_bytes())
    if num_envs >= 2**31:
        raise InvalidArgumentError(f"--num-envs must be less than 2**31, got {num_envs:,}.")


def _begin(batch: Batched, params: Any, key: jax.Array) -> Carry:
    """Resets the environments."""
    rollout = start_rollout(batch, key, params)
    return Carry(rollout, batch.get_obs(rollout.state, params), jnp.array(True), nothing_running(batch.batch_shape))
