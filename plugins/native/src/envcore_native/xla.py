"""Steps through XLA: for what the generator cannot lower, for devices, and where there is no C compiler."""

from __future__ import annotations

import dataclasses
import functools
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


@dataclasses.dataclass(frozen=True)
class Program:
    """Compiled functions of an environment.

    Attributes:
      env: one environment, or a batch with one axis.
      autoreset: "same_step", "next_step" or "disabled".
      spend: what makes a key for each step.
    """

    env: Environment
    autoreset: str
    spend: Spend

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, before: Progress, action: PyTree, params: PyTree) -> tuple[Progress, Turn, PyTree]:
        """The turn, and with "same_step" the last observation and info of episodes that end."""
        env, (kept, data) = self.env, self.spend(before.key)
        key = typed_key(data)
        if self.autoreset == "same_step":
            obs, state, reward, done, info = env.step(key, before.state, action, params)
            own = {name: x for name, x in own_info(info).items() if name != MASK}
            view = View(state, obs, _where(~done, own) | turns.legal(env, state, params))
            turn = Turn(view, reward, info["terminated"], info["truncated"])
            return Progress(kept, state, jnp.zeros_like(done)), turn, (info["final_obs"], own)
        turn = turns.step(env, key, before.state, action, params)
        if self.autoreset == "next_step":
            runs, (state, _, info) = ~before.done, turn.view
            fresh = env.restart(key, before.done, before.state, params)
            state = self._choose(params, before.done, fresh, state)
            view = View(state, env.observe(state, params), _where(runs, info) | turns.legal(env, state, params))
            reward = jnp.where(runs, turn.reward, np.float32(0))
            turn = Turn(view, reward, turn.terminated & runs, turn.truncated & runs)
        return Progress(kept, turn.view.state, turn.terminated | turn.truncated), turn, None

    @functools.partial(jax.jit, static_argnums=0)
    def start(self, data: Any, spends: Any, params: PyTree, keys: Any = None) -> Progress:
        """From nothing, by the key of `data`, or by a key for each environment, of the data uint32 (num_envs, 2)."""
        kept, data = self._spent(data, spends)
        state = turns.start(self.env, typed_key(data if keys is None else keys), params).state
        return Progress(kept, state, jnp.zeros(self.env.batch_shape, bool))

    @functools.partial(jax.jit, static_argnums=0)
    def restart(self, before: Progress, data: Any, spends: Any, mask: Any, params: PyTree) -> Progress:
        """As an auto-reset does where the mask is true."""
        kept, data = self._spent(data, spends)
        return Progress(kept, self.env.restart(typed_key(data), mask, before.state, params), before.done & ~mask)

    @functools.partial(jax.jit, static_argnums=0)
    def merge(self, before: Progress, after: Progress, mask: Any, params: PyTree) -> tuple[Progress, View]:
        """`after` where the mask is true, else `before`."""
        state = self._choose(params, mask, after.state, before.state)
        return Progress(after.key, state, before.done & ~mask), turns.first(self.env, state, params)

    def _spent(self, data: Any, spends: Any) -> tuple[Any, Any]:
        kept, spent = self.spend(data)
        return jnp.where(spends, kept, data), jnp.where(spends, spent, data)

    def _choose(self, params: PyTree, mask: Any, chosen: PyTree, others: PyTree) -> PyTree:
        """The states of `chosen` where the mask is true, else those of `others`, as is all that a batch shares."""

        def leaf(is_own: bool, x: Any, y: Any) -> Any:
            return trees.where(mask, x, y) if is_own else y

        return jax.tree.map(leaf, _is_own(self.env, params), chosen, others)


def _where(mask: Any, info: dict[str, PyTree]) -> dict[str, PyTree]:
    return trees.where(mask, info, jax.tree.map(jnp.zeros_like, info))


def _is_own(env: Environment, params: PyTree) -> PyTree:
    """For each leaf of a state, whether every environment of the batch has its own."""

    def shapes(env: Environment) -> PyTree:
        return jax.eval_shape(env.reset, jax.random.key(0), params)[1]

    if not env.batch_shape:
        return jax.tree.map(lambda _: True, shapes(env))
    return jax.tree.map(lambda x, y: x.shape != y.shape, shapes(env), shapes(_with_one_more(env)))


def _with_one_more(env: Any) -> Any:
    if isinstance(env, Batched):
        return dataclasses.replace(env, num_envs=env.num_envs + 1)
    return dataclasses.replace(env, env=_with_one_more(env.env))
