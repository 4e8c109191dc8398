"""`Stepper`: steps environments from Python with compiled code."""

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
_Array = np.ndarray | None


class Step(NamedTuple):
    """The result of `Stepper.step`: new numpy arrays with the batch axis first.

    For one environment, `reward`, `terminated` and `truncated` are a Python float and Python bools.

    Attributes:
      obs: the observations. With "same_step", an environment whose episode has ended has the first observation of its
        next episode.
      reward: float32.
      terminated: bool.
      truncated: bool.
      info: the environment's entries, which are zero after a reset, and `action_mask` if the environment has one.
      final_obs: with "same_step", the last observations of episodes that have ended. Ignore the rows of the other
        environments. Machine code returns None if no episode has ended.
      final_info: the entries of `info` for `final_obs`.
    """

    obs: PyTree
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, PyTree]
    final_obs: PyTree = None
    final_info: dict[str, PyTree] | None = None


_NOT_BEGUN = "there is no episode yet: call reset first."
_step = functools.partial(tuple.__new__, Step)  # three times as fast as `Step(...)`


class Stepper:
    """Steps one environment or a batch from Python, with numpy arrays in and out.

        stepper = Stepper(env, num_envs=8)
        obs, info = stepper.reset(seed=0)
        obs, reward, terminated, truncated, *_ = stepper.step(actions)

    Your C compiler compiles the rules to machine code, usually in less than a second, and the result is cached on disk.
    A step then takes about a microsecond, compared with tens of microseconds for a call to XLA. Environments with
    operations that envcore-native doesn't support, such as callbacks, convolutions, `while_loop` and long sorts, or
    with state shared by the whole batch, fall back to XLA. `why_not_native` has the reason. Random numbers match
    `Batched`, step by step.

    Args:
      env: an environment, or `Batched` with or without wrappers around it.
      num_envs: the number of environments. With None, `env` is used as it is.
      params: the params, or a mapping of the fields that differ from the defaults.
      autoreset: what happens when an episode ends. With "same_step", the same step returns the first observation of the
        next episode. With "next_step", the next step ignores its action, resets and returns reward 0. With "disabled",
        nothing happens until you call `reset`, `restart` or `start`.
      spend: a function of a key's data, uint32 (2,), that returns the data to keep and the data for this step's random
        draws.
      arrays: "numpy", or "jax" for arrays on JAX's default device, which always uses XLA.

    Attributes:
      env: the environment or the batch.
      why_not_native: the reason for using XLA, or None if machine code is used.

    Raises:
      InvalidArgumentError: an argument is invalid.
      InvalidParamsError: the params are invalid.
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
        if not isinstance(env, Environment) or arrays not in ("numpy", "jax"):  # pyright: ignore
            needed = "an Environment and arrays of 'numpy' or 'jax'"
            raise InvalidArgumentError(f"a Stepper needs {needed}, got {env!r} and {arrays!r}.")
        if autoreset not in ("same_step", "next_step", "disabled"):
            raise InvalidArgumentError(f"autoreset must be 'same_step', 'next_step' or 'disabled', got {autoreset!r}.")
        if num_envs is not None:
            env = Batched(env, checks.positive_integer("num_envs", num_envs, InvalidArgumentError))
        self.env, self.autoreset = env, autoreset
        self._params = arguments.checked_params(env, arguments.with_updates(env, params))
        self._generator, self._has_begun = np.random.default_rng(), False
        self._copy = np.array if arrays == "numpy" else jnp.asarray
        self.why_not_native: str | None = "arrays='jax' uses XLA" if arrays == "jax" else None
        self._steps: Any = None
        if self.why_not_native is None:
            try:
                self._steps = Rows(env, autoreset, spend, self._params)
            except (InvalidArgumentError, CompilerError) as error:
                self.why_not_native = str(error)
                if isinstance(error, CompilerError):
                    warnings.warn(f"{env.name} steps through XLA, which is slower: {error}", stacklevel=2)
        if self._steps is None:
            self._steps = Calls(env, autoreset, spend, self._params, self._copy)

    @property
    def params(self) -> PyTree:
        """The params. You can set them between steps."""
        return self._params

    @params.setter
    def params(self, params: PyTree) -> None:
        self._params = arguments.checked_params(self.env, arguments.with_updates(self.env, params))
        self._steps.set_params(self._params)

    @property
    def state(self) -> PyTree:
        """The state, as `Environment.step` returns it."""
        return jax.tree.map(jnp.array, self._steps.view.state)

    @property
    def done(self) -> np.ndarray:
        """Whether each episode has ended and has not been reset yet, bool."""
        return np.array(self._steps.done)

    def reset(self, seed: int | None = None) -> tuple[PyTree, dict[str, PyTree]]:
        """Starts new episodes in all environments, and returns the observations and info.

        With a seed, the whole state is new. Without one, state that survives an auto-reset is kept.

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
        self, data: _Array = None, mask: _Array = None, keys: _Array = None, *, spends: bool = False
    ) -> tuple[PyTree, dict[str, PyTree]]:
        """Starts episodes with an entirely new state, and returns the observations and info of all environments.

        Args:
          data: a key's data, uint32 (2,), or None for the next key.
          mask: the environments to start, bool (num_envs,), or None for all. Ignore the info of the others.
          keys: the data of one key per environment, uint32 (num_envs, 2). By default the keys are derived from `data`.
          spends: whether to draw with the key that follows `data`, as a step does.
        """
        forks.check()
        self._has_begun = True
        self._steps.reset(False, data, mask, keys, spends or data is None)
        return self._seen()

    def restart(self, data: _Array = None, mask: _Array = None) -> tuple[PyTree, dict[str, PyTree]]:
        """Starts episodes as an auto-reset does. The arguments and results are the same as for `start`.

        Raises:
          InvalidArgumentError: `reset` or `start` has not been called.
        """
        forks.check()
        if not self._has_begun:
            raise InvalidArgumentError(_NOT_BEGUN)
        self._steps.reset(True, data, mask, None, data is None)
        return self._seen()

    def step(self, action: PyTree) -> Step:
        """Steps all environments.

        Raises:
          InvalidActionError: the action doesn't have the action space's structure, shape or kind of dtype, has a choice
            outside of the space, or has a number that isn't finite.
          InvalidArgumentError: `reset` or `start` has not been called.
        """
        if not self._has_begun:
            raise InvalidArgumentError(_NOT_BEGUN)
        return _step(self._steps.step(action, self._checked))

    def _checked(self, action: PyTree) -> PyTree:
        """Converts the action to the space's dtypes. Reads lists and numbers too, and JAX arrays in numpy mode."""
        is_nested = isinstance(self.env.action_space(self._params), spaces.Tuple | spaces.Dict)
        if is_nested and isinstance(action, list):
            action = tuple(action)
        # XLA reads a numpy array after the call returns, when the caller may have changed it already.
        kept, array = ((), np.asarray) if self._copy is np.array else (jax.Array, np.array)
        try:
            read = lambda x: x if isinstance(x, kept) else array(x)  # noqa: E731
            action = jax.tree.map(read, action) if is_nested else read(action)
        except ValueError as error:  # lists of different lengths
            raise InvalidActionError(f"an action of {self.env.name} must be an array: {error}") from error
        return arguments.checked_action(self.env, action, self._params)

    def _seen(self) -> tuple[PyTree, dict[str, PyTree]]:
        return self._steps.copy_obs(), self._steps.copy_info()
