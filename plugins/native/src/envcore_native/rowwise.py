"""Steps in machine code: C functions over rows of numpy arrays, and a C loop that resets ended episodes."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.typing import PyTree

from envcore_native import c, compiler, function, turns
from envcore_native.lane import lane_key, lane_of, state_struct, unbatched
from envcore_native.turns import Spend, Turn, View, typed_key


@dataclasses.dataclass(frozen=True, eq=False)
class Code:
    """The C source of an environment.

    Attributes:
      text: the functions `envcore_play`, which steps and resets, `envcore_start` and `envcore_restart`. Each runs the
        rows from `first` to `end` - 1.
      shared: types of the inputs that all rows share: a key's data, flags, and the params.
      row: types of the inputs of one row: its state, an action, and a key's data.
      turn: types of the results of a step for one row.
      staged: dtype of the actions that `play` takes. Choices are int64, so that invalid ones don't wrap around.
    """

    text: str
    shared: PyTree
    row: PyTree
    turn: Turn
    staged: np.dtype


@functools.lru_cache(maxsize=256)
def code(env: Environment, autoreset: str, spend: Spend) -> Code:
    """Generates the source, once for equal arguments.

    Raises:
      InvalidArgumentError: the environment uses an operation that is not supported.
    """
    one, plain = lane_of(env), unbatched(env)
    state, params = state_struct(env), arguments.default_params(plain)
    space = plain.action_space(params)
    key, params = jax.ShapeDtypeStruct((2,), np.uint32), jax.eval_shape(lambda: params)
    shared = key, jax.ShapeDtypeStruct((3,), np.bool_), params
    row = state, jax.eval_shape(lambda: space.sample(jax.random.key(0))), key

    def keys_of(shared: PyTree) -> tuple[jax.Array, jax.Array]:
        data, (spends, is_used, _), _ = shared
        kept, spent = spend(data)
        key = typed_key(jnp.where(spends, spent, data))
        return jnp.where(spends, kept, data), jnp.where(is_used, random.reset_key(key), key)

    def step(shared: PyTree, row: PyTree) -> tuple[PyTree, PyTree]:
        kept, data = spend(shared[0])
        return kept, turns.step(one, typed_key(data), row[0], row[1], shared[2])

    def restart(shared: PyTree, row: PyTree) -> tuple[PyTree, PyTree]:
        kept, key = keys_of(shared)
        return kept, turns.restart(one, key, row[0], shared[2])

    def start(shared: PyTree, row: PyTree) -> tuple[PyTree, PyTree]:
        kept, key = keys_of(shared)
        of_row = jax.random.key_data(lane_key(key) if env.batch_shape else key)
        return kept, turns.start(plain, typed_key(jnp.where(shared[1][2], row[2], of_row)), shared[2])

    num_rows = env.batch_shape[0] if env.batch_shape else None
    # `step` alone is the name of a function of glibc.
    functions = [
        function.lower(f"envcore_{fun.__name__}", fun, shared, row, num_rows) for fun in (step, restart, start)
    ]
    choices = space.nvec.ravel().tolist() if isinstance(space, spaces.MultiDiscrete) else []
    choices = [space.n] if isinstance(space, spaces.Discrete) else choices
    action, turn = jax.tree.leaves(row[1])[0], functions[0].rows
    play = _constants(shared, row, turn, autoreset, choices)
    text = [function.prelude(), *(each.source for each in functions), play, c.header("play.h")]
    return Code("\n".join(text), shared, row, turn, np.dtype(np.int64 if choices else action.dtype))


def _constants(shared: PyTree, row: PyTree, turn: Turn, autoreset: str, choices: list[int]) -> str:
    """The constants that `play.h` needs."""
    states, seen, action = (jax.tree.leaves(tree) for tree in (turn.view.state, turn.view[1:], row[1]))
    end = len(jax.tree.leaves((shared, row))) + 1
    numbers = {
        "SHARED": len(jax.tree.leaves(shared)),
        "STATES": len(states),
        "OUT": end,
        "SEEN": len(seen),
        "ENDS": end + len(states) + len(seen),
        "ACTION": c.type_name(action[0].dtype),
        "ACTION_SIZE": math.prod(action[0].shape),
        "ACTION_IS_REAL": int(action[0].dtype.kind == "f" and len(action) == 1),
        "NUM_CHOICES": len(choices),
        "AUTORESET": ("disabled", "same_step", "next_step").index(autoreset),
    }
    tables = {"state_bytes": _bytes(states), "seen_bytes": _bytes(seen), "num_choices": choices}
    lines = [f"#define {name} {number}" for name, number in numbers.items()]
    lines += [f"static const long {name}[] = {{{', '.join(map(str, [*row, 0]))}}};" for name, row in tables.items()]
    return "\n".join(lines)


def _bytes(leaves: list[Any]) -> list[int]:
    return [math.prod(x.shape) * x.dtype.itemsize for x in leaves]


def copier(tree: PyTree) -> Callable[[], PyTree]:
    """A function that copies the arrays of a tree, ten times as fast as `jax.tree.map`."""
    if isinstance(tree, np.ndarray):
        return tree.copy
    leaves, structure = jax.tree.flatten(tree)
    return (lambda: structure.unflatten([leaf.copy() for leaf in leaves])) if leaves else dict


class Rows:
    """The arrays of a batch or of one environment, and the machine code that steps them.

    Attributes:
      view: the state, observation and info after the latest step or reset. The next one overwrites these arrays.
      done: whether each episode has ended and has not been reset yet, bool.
    """

    def __init__(self, env: Environment, autoreset: str, spend: Spend, params: PyTree):
        self._made_of = env, autoreset, spend, params
        made = code(env, autoreset, spend)
        self._library = compiler.load(made.text)
        self._num_rows, turn, one = math.prod(env.batch_shape), made.turn, not env.batch_shape

        def arrays(tree: PyTree) -> PyTree:
            return jax.tree.map(lambda x: np.zeros((*env.batch_shape, *x.shape), x.dtype), tree)

        self._keys, self._flags = [np.zeros(2, np.uint32) for _ in range(2)], np.zeros(3, np.bool_)
        self._params = [np.array(x) for x in jax.tree.leaves(params)]
        self._states = [arrays(turn.view.state) for _ in range(2)]
        self._leaves = [jax.tree.leaves(state) for state in self._states]
        *action, self._own_keys = arrays(jax.tree.leaves(made.row[1:]))
        self._obs, self._info, last = arrays(turn.view.obs), arrays(turn.view.info), None
        result = reward, terminated, truncated = arrays(turn[1:])
        self.done = np.zeros(env.batch_shape, np.bool_)
        is_choice = made.staged == np.int64
        self._staged = [np.zeros(action[0].shape, made.staged)] if is_choice else action
        kinds = ["i8", "i4", "u4", "u1", "i2", "u2", "i1"] if is_choice else [made.staged]
        self._takes = [np.dtype(x) for x in kinds] if jax.tree.structure(made.row[1]).num_nodes == 1 else []
        self._has_one_choice = is_choice and one and not action[0].shape
        self._is_same_step, self._now = autoreset == "same_step", 0
        if self._is_same_step:
            last = arrays((turn.view.obs, turn.view.info))
        self._copy_last = copier(last) if self._is_same_step else None
        self.copy_obs, self.copy_info = copier(self._obs), copier(self._info)
        self._reward, self._terminated, self._truncated = (x.item if one else x.copy for x in result)
        rest = [reward, terminated, truncated, self.done, self._staged[0], *jax.tree.leaves(last)]
        self._tables = []
        for before, after in ((0, 1), (1, 0)):
            leaves = [self._keys[before], self._flags, *self._params, *self._leaves[before], *action, self._own_keys]
            leaves += [self._keys[after], *self._leaves[after], *jax.tree.leaves((self._obs, self._info)), *rest]
            self._tables.append((ctypes.c_void_p * len(leaves))(*(x.ctypes.data for x in leaves)))
        self._play, self._alive = self._library.envcore_play, (action, rest)

    @property
    def view(self) -> View:
        return View(self._states[self._now], self._obs, self._info)

    @property
    def key(self) -> np.ndarray:
        """The key data that the next step's key is derived from, uint32 (2,)."""
        return self._keys[self._now]

    def step(self, action: PyTree, checked: Callable[[PyTree], PyTree]) -> tuple[Any, ...]:
        """Steps, and returns the fields of a `Step`.

        Args:
          action: an action of any type.
          checked: converts an action to the space's dtypes or raises. It is only called for actions that C can't check.
        """
        staged, now = self._staged[0], self._now
        if type(action) is int and self._has_one_choice and -(2**63) <= action < 2**63:
            staged[()] = action
        elif type(action) is np.ndarray and action.shape == staged.shape and action.dtype in self._takes:
            np.copyto(staged, action)
        else:
            for leaf, part in zip(self._staged, jax.tree.leaves(checked(action)), strict=True):
                leaf[...] = part
        ended = self._play(0, self._num_rows, self._tables[now])
        if ended < 0:
            checked(action)
        self._now = 1 - now
        final_obs, final_info = self._copy_last() if ended and self._copy_last else (None, None)
        result = self._reward(), self._terminated(), self._truncated()
        return self.copy_obs(), *result, self.copy_info(), final_obs, final_info

    def set_params(self, params: PyTree) -> None:
        self._made_of = *self._made_of[:3], params
        for array, leaf in zip(self._params, jax.tree.leaves(params), strict=True):
            array[...] = leaf

    def __reduce__(self) -> Any:  # a copy loads or compiles the machine code again
        return Rows, self._made_of, (self.key, self.view, self.done, self._flags)

    def __setstate__(self, state: Any) -> None:
        for array, saved in zip(*map(jax.tree.leaves, (self.__reduce__()[2], state)), strict=True):
            array[...] = saved

    def reset(self, restarts: bool, data: Any, mask: Any, keys: Any, spends: bool) -> None:
        """Resets rows.

        Args:
          restarts: whether to keep state that survives an auto-reset.
          data: a key's data, or None for the current key.
          mask: the rows to reset, or None for all.
          keys: the data of one key per row. By default the keys are derived from `data`.
          spends: whether to draw with the key that follows `data`, as a step does.
        """
        now, other = self._now, 1 - self._now
        for ours, theirs in zip(self._leaves[other], self._leaves[now], strict=True):
            np.copyto(ours, theirs)
        np.copyto(self._keys[other], self._keys[now] if data is None else data)
        self._flags[:] = spends, False, keys is not None
        if keys is not None:
            self._own_keys[...] = keys
        reset = self._library.envcore_restart if restarts else self._library.envcore_start
        if mask is None:
            reset(0, self._num_rows, self._tables[other])
            self.done.fill(False)
        else:
            for row in np.flatnonzero(mask).tolist():
                reset(row, row + 1, self._tables[other])
            self.done[mask] = False
        self._flags[:] = True, self._is_same_step, False
