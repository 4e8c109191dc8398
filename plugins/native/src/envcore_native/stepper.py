"""`Stepper`: environments for programs that step them from Python."""

from __future__ import annotations

import functools
import warnings
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, forks, spaces
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.random import is_seed
from envcore.typing import PyTree
from envcore.wrappers import Batched

from envcore_native import turns
from envcore_native.compiler import CompilerError
from envcore_native.rowwise import Rows
from envcore_native.turns import Spend
from envcore_native.xla import Calls

Autoreset = Literal["same_step", "next_step", "disabled"]


class Step(NamedTuple):
    """What a step returns: new numpy arrays, with the batch's axis first.

    Attributes:
      obs: the observations; of a new episode where one has ended, with "same_step".
      reward: float32; a Python float for one environment.
      terminated: bool; as `truncated`, Python's for one environment.
      truncated: bool.
      info: the environment's own entries, which are zero where a reset took place, and its `action_mask` if it has one.
      final_obs: with "same_step" the last observation, where an episode has ended; None if none has. The rows of other
        environments mean nothing.
      final_info: the entries of `info` there.
    """

    obs: PyTree
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, PyTree]
    final_obs: PyTree = None
    final_info: dict[str, PyTree] | None = None


_step = functools.partial(tuple.__new__, Step)  # in a third of the time of `Step(...)`


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
        self._copy = np.array if arrays == "numpy" else jnp.asarray
        self.why_not_native: str | None = "its arrays are JAX's" if arrays == "jax" else None
        self._steps: Any = None
        if self.why_not_native is None:
            try:
                self._steps = Rows(env, autoreset, spend, self._params)
            except (InvalidArgumentError, CompilerError) as error:
                self.why_not_native = str(error)
                if isinstance(error, CompilerError):
                    warnings.warn(f"XLA steps {env.name}, which is slower: {error}", stacklevel=2)
        if self._steps is None:
            self._steps = Calls(env, autoreset, spend, self._params, self._copy)

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
        self,
        data: np.ndarray | None = None,
        mask: np.ndarray | None = None,
        keys: np.ndarray | None = None,
        *,
        spends: bool = False,
    ) -> tuple[PyTree, dict[str, PyTree]]:
        """Begins episodes from nothing: the observations and info of all environments.

        Args:
          data: a key's data, uint32 (2,); None for the next key.
          mask: of which environments, bool (num_envs,); None for all. The info of others has no meaning.
          keys: the data of a key for each environment, uint32 (num_envs, 2), where they do not follow from `data`.
          spends: whether it draws with the key after `data`, as a step does.
        """
        forks.check()
        self._has_begun = True
        self._steps.reset(False, data, mask, keys, spends or data is None)
        return self._seen()

    def restart(
        self, data: np.ndarray | None = None, mask: np.ndarray | None = None
    ) -> tuple[PyTree, dict[str, PyTree]]:
        """Begins episodes as an auto-reset does, with the arguments and results of `start`."""
        forks.check()
        self._steps.reset(True, data, mask, None, data is None)
        return self._seen()

    def step(self, action: PyTree) -> Step:
        """Takes a step in all environments.

        Raises:
          InvalidActionError: the action is not of the space's structure, shape or kind, has a choice outside of it, or
            a number that is not finite.
        """
        return _step(self._steps.step(action, self._checked))

    def _checked(self, action: PyTree) -> PyTree:
        """The action with the types of the space; lists and numbers become arrays, and numpy mode reads JAX's."""
        is_nested = isinstance(self.env.action_space(self._params), spaces.Tuple | spaces.Dict)
        if is_nested and isinstance(action, list):
            action = tuple(action)
        # XLA reads a numpy array after the call, when you may have changed it.
        kept, array = ((), np.asarray) if self._copy is np.array else (jax.Array, np.array)
        try:
            read = lambda x: x if isinstance(x, kept) else array(x)  # noqa: E731
            action = jax.tree.map(read, action) if is_nested else read(action)
        except ValueError as error:  # lists of different lengths
            raise InvalidActionError(f"an action of {self.env.name} must be an array: {error}") from error
        return arguments.checked_action(self.env, action, self._params)

    def _seen(self) -> tuple[PyTree, dict[str, PyTree]]:
        return self._steps.copy_obs(), self._steps.copy_info()
