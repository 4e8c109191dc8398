"""Steps through XLA, for unsupported operations, for JAX arrays, and without a C compiler."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import forks, random, trees
from envcore.environment import Environment
from envcore.typing import PyTree
from envcore.wrappers import Batched

from envcore_native import turns
from envcore_native.turns import Spend, Turn, View, typed_key


def on_device(params: PyTree) -> PyTree:
    """Puts the params on the default device once, so that calls don't have to copy them.

    Raises:
      EnvcoreError: the process was forked after JAX had started.
    """
    forks.check()
    # A program may donate its arguments, so they must not share memory with the defaults.
    return jax.tree.map(lambda x: x if isinstance(x, jax.Array) else jax.device_put(x, may_alias=False), params)


class Progress(NamedTuple):
    """The inputs of the next step: a key's data, the state, and whether each episode has ended."""

    key: Any
    state: PyTree
    done: Any


class Calls:
    """The interface of `Rows`, implemented with XLA programs."""

    def __init__(self, env: Environment, autoreset: str, spend: Spend, params: PyTree, copy: Callable[[Any], Any]):
        self._env, self._autoreset, self._spend, self._copy = env, autoreset, spend, copy
        self._progress: Any = None
        self.set_params(params)

    @property
    def done(self) -> Any:
        return self._progress.done

    def set_params(self, params: PyTree) -> None:
        self._params = on_device(params)

    def step(self, action: PyTree, checked: Callable[[PyTree], PyTree]) -> tuple[Any, ...]:
        forks.check()
        before, action = self._progress, checked(action)
        self._progress, turn, last = _step(self._env, self._autoreset, self._spend, before, action, self._params)
        self.view = turn.view
        result = jax.tree.map(self._copy, turn[1:])
        if self._copy is np.array and not self._env.batch_shape:
            result = [x.item() for x in result]
        return self.copy_obs(), *result, self.copy_info(), *jax.tree.map(self._copy, last or (None, None))

    def copy_obs(self) -> PyTree:
        return jax.tree.map(self._copy, self.view.obs)

    def copy_info(self) -> PyTree:
        return jax.tree.map(self._copy, self.view.info)

    def reset(self, restarts: bool, data: Any, mask: Any, keys: Any, spends: bool) -> None:
        before = None if mask is None and not restarts else self._progress
        mask = np.ones(self._env.batch_shape, bool) if mask is None else mask
        given = self._progress.key if data is None else data, spends, keys
        self._progress, self.view = _reset(self._env, self._spend, restarts, before, given, mask, self._params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _step(
    env: Environment, autoreset: str, spend: Spend, before: Progress, action: PyTree, params: PyTree
) -> tuple[Progress, Turn, PyTree]:
    """Steps, and with "same_step" also returns the last observation and info of episodes that end."""
    kept, data = spend(before.key)
    key, last = typed_key(data), None
    turn = turns.step(env, key, before.state, action, params)
    over, (state, obs, info) = turn.terminated | turn.truncated, turn.view
    if autoreset == "disabled":
        return Progress(kept, state, over), turn, None
    if autoreset == "same_step":
        state, last = env.restart(random.reset_key(key), over, state, params), (obs, info)
        resets, over = over, jnp.zeros_like(over)
    else:
        resets, runs = before.done, ~before.done
        state = _chosen(env, params, resets, env.restart(key, resets, before.state, params), state)
        reward = jnp.where(runs, turn.reward, np.float32(0))
        turn = Turn(turn.view, reward, turn.terminated & runs, turn.truncated & runs)
        over &= runs
    info = trees.where(resets, jax.tree.map(jnp.zeros_like, info), info) | turns.legal(env, state, params)
    view = View(state, env.observe(state, params), info)
    return Progress(kept, state, over), turn._replace(view=view), last


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _reset(
    env: Environment, spend: Spend, restarts: bool, before: Progress | None, keys: Any, mask: Any, params: PyTree
) -> tuple[Progress, View]:
    """Resets environments where the mask is true, or all if `before` is None. See `Rows.reset`."""
    data, spends, own_keys = keys
    kept, key = (jnp.where(spends, x, data) for x in spend(data))
    if restarts and before is not None:
        state = env.restart(typed_key(key), mask, before.state, params)
    else:
        state = turns.start(env, typed_key(key if own_keys is None else own_keys), params).state
    done = jnp.zeros(env.batch_shape, bool)
    if before is not None:
        state, done = _chosen(env, params, mask, state, before.state), before.done & ~mask
    return Progress(kept, state, done), turns.first(env, state, params)


def _chosen(env: Environment, params: PyTree, mask: Any, state: PyTree, other: PyTree) -> PyTree:
    """Takes `state` where the mask is true and `other` elsewhere. State that the whole batch shares is from `other`."""
    if not env.batch_shape:
        return trees.where(mask, state, other)
    larger = jax.eval_shape(_with_one_more(env).reset, jax.random.key(0), params)[1]
    pick = lambda x, y, more: y if x.shape == more.shape else trees.where(mask, x, y)  # noqa: E731
    return jax.tree.map(pick, state, other, larger)


def _with_one_more(env: Any) -> Any:
    if isinstance(env, Batched):
        return dataclasses.replace(env, num_envs=env.num_envs + 1)
    return dataclasses.replace(env, env=_with_one_more(env.env))
