"""Steps through XLA: for what the generator cannot lower, for devices, and where there is no C compiler."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import forks, trees
from envcore.engine.stepping import own_info
from envcore.environment import Environment
from envcore.typing import PyTree
from envcore.wrappers import Batched

from envcore_native import turns
from envcore_native.turns import MASK, Spend, Turn, View, typed_key


def on_device(params: PyTree) -> PyTree:
    """The params on the default device, where no call has to copy them again.

    Raises:
      EnvcoreError: this process was forked after JAX had started.
    """
    forks.check()
    # A program may donate its arguments, so they share no memory with the defaults.
    return jax.tree.map(lambda x: x if isinstance(x, jax.Array) else jax.device_put(x, may_alias=False), params)


class Progress(NamedTuple):
    """What the next step needs: a key's data, the state, and whose episode has ended."""

    key: Any
    state: PyTree
    done: Any


class Calls:
    """The interface of `Rows`, by programs of XLA."""

    def __init__(self, env: Environment, autoreset: str, spend: Spend, params: PyTree, copy: Callable[[Any], Any]):
        self._env, self._copy = env, copy
        self._step = functools.partial(_step, env, autoreset, spend)
        self._reset = functools.partial(_reset, env, spend)
        self._progress: Any = None
        self.set_params(params)

    @property
    def done(self) -> Any:
        return self._progress.done

    def set_params(self, params: PyTree) -> None:
        self._params = on_device(params)

    def snapshot(self) -> Any:
        return jax.device_get((self._progress, self.view))

    def take_snapshot(self, snapshot: Any) -> None:
        self._progress, self.view = jax.device_put(snapshot)

    def step(self, action: PyTree, checked: Callable[[PyTree], PyTree]) -> tuple[Any, ...]:
        forks.check()
        self._progress, turn, last = self._step(self._progress, checked(action), self._params)
        self.view = turn.view
        result = jax.tree.map(self._copy, turn[1:])
        if self._copy is np.array and not self._env.batch_shape:
            result = [x.item() for x in result]
        return self.copy_obs(), *result, self.copy_info(), *jax.tree.map(self._copy, last or (None, None))

    def copy_obs(self) -> PyTree:
        return jax.tree.map(self._copy, self.view.obs)

    def copy_info(self) -> PyTree:
        return jax.tree.map(self._copy, self.view.info)

    def start(self, data: Any, mask: Any, keys: Any, spends: bool) -> None:
        data = self._progress.key if data is None else data
        before = None if mask is None else self._progress
        self._progress, self.view = self._reset(False, before, data, spends, keys, mask, self._params)

    def restart(self, data: Any, mask: Any, spends: bool) -> None:
        data = self._progress.key if data is None else data
        mask = np.ones(self._env.batch_shape, bool) if mask is None else mask
        self._progress, self.view = self._reset(True, self._progress, data, spends, None, mask, self._params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _step(
    env: Environment, autoreset: str, spend: Spend, before: Progress, action: PyTree, params: PyTree
) -> tuple[Progress, Turn, PyTree]:
    """The turn, and with "same_step" the last observation and info of episodes that end."""
    kept, data = spend(before.key)
    key = typed_key(data)
    if autoreset == "same_step":
        obs, state, reward, done, info = env.step(key, before.state, action, params)
        own = {name: x for name, x in own_info(info).items() if name != MASK}
        view = View(state, obs, _where(~done, own) | turns.legal(env, state, params))
        turn = Turn(view, reward, info["terminated"], info["truncated"])
        return Progress(kept, state, jnp.zeros_like(done)), turn, (info["final_obs"], own)
    turn = turns.step(env, key, before.state, action, params)
    if autoreset == "next_step":
        runs, (state, _, info) = ~before.done, turn.view
        fresh = env.restart(key, before.done, before.state, params)
        state = _chosen(env, params, before.done, fresh, state)
        view = View(state, env.observe(state, params), _where(runs, info) | turns.legal(env, state, params))
        reward = jnp.where(runs, turn.reward, np.float32(0))
        turn = Turn(view, reward, turn.terminated & runs, turn.truncated & runs)
    return Progress(kept, turn.view.state, turn.terminated | turn.truncated), turn, None


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _reset(
    env: Environment,
    spend: Spend,
    restarts: bool,
    before: Progress | None,
    data: Any,
    spends: Any,
    keys: Any,
    mask: Any,
    params: PyTree,
) -> tuple[Progress, View]:
    """Resets where the mask is true, as an auto-reset does or from nothing; everything if there is nothing before."""
    kept, key = (jnp.where(spends, x, data) for x in spend(data))
    if restarts and before is not None:
        state = env.restart(typed_key(key), mask, before.state, params)
    else:
        state = turns.start(env, typed_key(key if keys is None else keys), params).state
    done = jnp.zeros(env.batch_shape, bool)
    if before is not None:
        state, done = _chosen(env, params, mask, state, before.state), before.done & ~mask
    return Progress(kept, state, done), turns.first(env, state, params)


def _where(mask: Any, info: dict[str, PyTree]) -> dict[str, PyTree]:
    return trees.where(mask, info, jax.tree.map(jnp.zeros_like, info))


def _chosen(env: Environment, params: PyTree, mask: Any, state: PyTree, other: PyTree) -> PyTree:
    """The state where the mask is true, and the other elsewhere and in what all environments of a batch share."""

    def types(env: Environment) -> PyTree:
        return jax.eval_shape(env.reset, jax.random.key(0), params)[1]

    def leaf(x: Any, y: Any, one: Any, two: Any) -> Any:
        return trees.where(mask, x, y) if not env.batch_shape or one.shape != two.shape else y

    larger = _with_one_more(env) if env.batch_shape else env
    return jax.tree.map(leaf, state, other, types(env), types(larger))


def _with_one_more(env: Any) -> Any:
    if isinstance(env, Batched):
        return dataclasses.replace(env, num_envs=env.num_envs + 1)
    return dataclasses.replace(env, env=_with_one_more(env.env))
