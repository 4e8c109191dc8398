"""`Stepper`: environments for programs that step them from Python."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, forks
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.random import is_seed
from envcore.typing import PyTree
from envcore.wrappers import Batched

from envcore_native import turns, xla
from envcore_native.compiler import CompilerError
from envcore_native.rowwise import Rows
from envcore_native.turns import Spend

Autoreset = Literal["same_step", "next_step", "disabled"]


class Step(NamedTuple):
    """What a step returns: new numpy arrays, with the batch's axis first.

    Attributes:
      obs: the observations; of a new episode where one has ended, with "same_step".
      reward: float32; a Python float for one environment.
      terminated: bool; as `truncated`, Python's for one environment.
      truncated: bool.
      info: the environment's own entries, which are zero where a reset took place, and its `action_mask` if it has one.
      final_obs: with "same_step" the last observation, where an episode has ended; None if none has.
      final_info: the entries of `info` there.
    """

    obs: PyTree
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, PyTree]
    final_obs: PyTree = None
    final_info: dict[str, PyTree] | None = None


class Stepper:
    """One environment or a batch of it, stepped from Python: numpy arrays in, numpy arrays out.

        stepper = Stepper(env, num_envs=8)
        obs, info = stepper.reset(seed=0)
        obs, reward, terminated, truncated, *_ = stepper.step(actions)

    A C compiler makes machine code of the rules, in less than a second, and it is kept on disk. A step then costs a
    microsecond, where a call of XLA costs tens. What cannot be compiled so is stepped by XLA: callbacks, convolutions,
    and states that a batch shares. The random numbers are those of `Batched`, step by step.

    Args:
      env: an environment, or `Batched` with or without wrappers around it.
      num_envs: number of environments; None for `env` as it is.
      params: their params, or a mapping of those that differ from the defaults.
      autoreset: what happens when an episode ends. "same_step": the same step returns the first observation of the next
        one. "next_step": the next step ignores its action, resets and has reward 0. "disabled": nothing.
      spend: how the keys of steps follow from the first one.
      arrays: "numpy", or "jax" for arrays on JAX's device, which XLA computes.

    Attributes:
      env: the environment, or the batch.
      why_not_native: why XLA steps it; None if machine code does.

    Raises:
      InvalidArgumentError: an argument is invalid.
      InvalidParamsError: the params are.
    """

    def __init__(
        self,
        env: Environment,
        num_envs: int | None = None,
        params: PyTree = None,
        *,
        autoreset: Autoreset = "same_step",
        spend: Spend = turns.count_up,
        arrays: Literal["numpy", "jax"] = "numpy",
    ):
        forks.check()
        if autoreset not in ("same_step", "next_step", "disabled"):
            raise InvalidArgumentError(f"autoreset must be 'same_step', 'next_step' or 'disabled', got {autoreset!r}.")
        if num_envs is not None:
            env = Batched(env, checks.positive_integer("num_envs", num_envs, InvalidArgumentError))
        self.env, self.autoreset = env, autoreset
        self._params = arguments.checked_params(env, arguments.with_updates(env, params))
        self._generator, self._has_begun = np.random.default_rng(), False
        self._copy, self._is_one = np.array if arrays == "numpy" else _same, not env.batch_shape
        self.why_not_native: str | None = "its arrays are JAX's" if arrays == "jax" else None
        self._steps: Rows | Calls = self._made(spend)

    def _made(self, spend: Spend) -> Rows | Calls:
        if self.why_not_native is None:
            try:
                return Rows(self.env, self.autoreset, spend, self._params)
            except (InvalidArgumentError, CompilerError) as error:
                self.why_not_native = str(error)
                if isinstance(error, CompilerError):
                    warnings.warn(f"XLA steps {self.env.name}, which is slower: {error}", stacklevel=4)
        return Calls(xla.Program(self.env, self.autoreset, spend), self._params)

    @property
    def params(self) -> PyTree:
        """The params. They may be set between steps."""
        return self._params

    @params.setter
    def params(self, params: PyTree) -> None:
        self._params = arguments.checked_params(self.env, arguments.with_updates(self.env, params))
        self._steps.set_params(self._params)

    @property
    def state(self) -> PyTree:
        """The state, as `step` of envcore returns it."""
        return jax.tree.map(jnp.array, self._steps.view.state)

    @property
    def done(self) -> np.ndarray:
        """Where the latest episode has ended and was not reset, bool."""
        return np.array(self._steps.done)

    def reset(self, seed: int | None = None) -> tuple[PyTree, dict[str, PyTree]]:
        """Begins episodes in all environments: their observations and info.

        With a seed everything begins from nothing. Without one, what survives an auto-reset is kept.

        Raises:
          InvalidArgumentError: the seed is not a non-negative integer.
        """
        if seed is not None and not is_seed(seed):
            raise InvalidArgumentError(f"seed must be a non-negative integer or None, got {seed!r}.")
        if seed is None and self._has_begun:
            return self.restart()
        if seed is not None:
            self._generator = np.random.default_rng(int(seed))
        return self.start(self._generator.integers(2**32, size=2, dtype=np.uint32))

    def start(
        self, data: np.ndarray | None = None, mask: np.ndarray | None = None, keys: np.ndarray | None = None
    ) -> tuple[PyTree, dict[str, PyTree]]:
        """Begins episodes from nothing: the observations and info of all environments.

        Args:
          data: a key's data, uint32 (2,); None for the next key.
          mask: of which environments, bool (num_envs,); None for all.
          keys: the data of a key for each environment, uint32 (num_envs, 2), where they do not follow from `data`.
        """
        forks.check()
        self._has_begun = True
        self._steps.start(data, mask, keys)
        return self._seen()

    def restart(
        self, data: np.ndarray | None = None, mask: np.ndarray | None = None
    ) -> tuple[PyTree, dict[str, PyTree]]:
        """Begins episodes as an auto-reset does, with the arguments and results of `start`."""
        forks.check()
        self._steps.restart(data, mask)
        return self._seen()

    def step(self, action: PyTree) -> Step:
        """Takes a step in all environments.

        Raises:
          InvalidActionError: the action is not of the space's structure, shape or kind, has a choice outside of it, or
            a number that is not finite.
        """
        steps = self._steps
        if type(steps) is not Rows:
            return self._step_by_xla(action)
        if not steps.take(action):
            steps.take_checked(self._checked(action))
        ended = steps.play()
        if ended < 0:
            self._checked(action)
        obs, info, last = steps.copy_obs(), steps.copy_info(), None
        if ended and steps.copy_last is not None:
            last = steps.copy_last()
        if self._is_one:
            result = steps.reward.item(), steps.terminated.item(), steps.truncated.item()
        else:
            result = steps.reward.copy(), steps.terminated.copy(), steps.truncated.copy()
        return Step(obs, *result, info) if last is None else Step(obs, *result, info, *last)

    def _step_by_xla(self, action: PyTree) -> Step:
        turn, last = self._steps.play(self._checked(action))
        result = jax.tree.map(self._copy, turn[1:])
        if self._is_one and self._copy is np.array:
            result = [x.item() for x in result]
        obs, info, last = jax.tree.map(self._copy, (turn.view.obs, turn.view.info, last))
        return Step(obs, *result, info, *(last or (None, None)))

    def _checked(self, action: PyTree) -> PyTree:
        if self._copy is np.array:
            action = jax.tree.map(np.asarray, action)
        return arguments.checked_action(self.env, action, self._params)

    def _seen(self) -> tuple[PyTree, dict[str, PyTree]]:
        _, obs, info = self._steps.view
        return jax.tree.map(self._copy, obs), jax.tree.map(self._copy, info)


def _same(array: Any) -> Any:
    return array


class Calls:
    """The calls of XLA's programs, with the interface of `Rows`."""

    def __init__(self, program: xla.Program, params: PyTree):
        self._program, self._progress = program, None
        self.set_params(params)

    @property
    def done(self) -> Any:
        return self._progress.done

    def set_params(self, params: PyTree) -> None:
        self._params = jax.tree.map(
            lambda x: x if isinstance(x, jax.Array) else jax.device_put(x, may_alias=False), params
        )

    def play(self, action: PyTree) -> tuple[turns.Turn, PyTree]:
        self._progress, turn, last = self._program.step(self._progress, action, self._params)
        self.view = turn.view
        return turn, last

    def start(self, data: Any, mask: Any, keys: Any) -> None:
        progress, view = self._program.start(*self._key(data), self._params, keys)
        if mask is not None:
            self.restart(data, mask, (mask, view.state))
        else:
            self._progress, self.view = progress, view

    def restart(self, data: Any, mask: Any, starts: Any = None) -> None:
        mask = np.ones(self._program.env.batch_shape, bool) if mask is None else mask
        arguments = (*self._key(data), mask, self._params, starts)
        self._progress, self.view = self._program.restart(self._progress, *arguments)

    def _key(self, data: Any) -> tuple[Any, bool]:
        return (self._progress.key, False) if data is None else (data, True)
