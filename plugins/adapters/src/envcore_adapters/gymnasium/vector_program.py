"""Compiled functions of a batch of environments, for each of Gymnasium's autoreset modes."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment, trees
from envcore.engine import arguments
from envcore.engine.stepping import own_info
from envcore.wrappers import Batched
from gymnasium.vector import AutoresetMode

from envcore_adapters.gymnasium.actions import check
from envcore_adapters.gymnasium.kernels import one_kernel
from envcore_adapters.gymnasium.packing import Layout, Packed, pack_all, viewer
from envcore_adapters.gymnasium.program import ACTION_MASK, legal_actions, next_key
from envcore_adapters.gymnasium.spaces import widener
from envcore_adapters.inputs import typed_key


class Result(NamedTuple):
    """What a step returns.

    Attributes:
      infos: the entries of environments that have them, else zero, each with its mask. All have that of legal actions.
      final_obs: with SAME_STEP the observation before the reset, else None.
      final_infos: with SAME_STEP the entries where an episode ended, each with its mask, else None.
    """

    obs: Any
    reward: Any
    terminated: Any
    truncated: Any
    infos: dict[str, Any]
    final_obs: Any = None
    final_infos: dict[str, Any] | None = None


class _Progress(NamedTuple):
    """What the next step needs: the random key's data, uint32 (2,), the states, and whose episode has ended."""

    key: Any
    state: Any
    done: Any


class VectorProgram:
    """The functions of one batch and mode, compiled once for equal environments.

    Args:
      env: a batch of environments.
      mode: an `AutoresetMode`.
      packs: whether results are packed, for numpy; else they are arrays of their own.
    """

    @staticmethod
    @functools.lru_cache(maxsize=512)
    def of(env: Environment, mode: AutoresetMode, packs: bool) -> VectorProgram:
        """The program, made once for equal arguments."""
        return VectorProgram(env, mode, packs)

    def __init__(self, env: Environment, mode: AutoresetMode, packs: bool):
        self._env, self._mode, self._packs = env, mode, packs
        default = arguments.default_params(env)
        self.params = Layout(default)
        self._widen = widener(env.observation_space(default).unbatch())
        self._is_per_env = _is_per_env(env, default)
        progress, first = jax.eval_shape(self._begun, jax.ShapeDtypeStruct((2,), np.uint32), default)
        action = jax.eval_shape(lambda: env.action_space(default).sample(jax.random.key(0)))
        self._progress, self._first = Layout(progress), Layout(first)
        result = jax.eval_shape(self._stepped, progress, default, action)[1]
        self._result = Layout((jax.ShapeDtypeStruct((), np.bool_), result))
        is_inside, parts = self._result.parts
        self._is_inside: int = is_inside.start
        self._view_first, self._view_result = viewer(self._first.parts), viewer(tuple(parts))
        self.start, self.restart = jax.jit(self._start), jax.jit(self._restart)
        self.renew, self.step = jax.jit(self._renew), jax.jit(self._step)
        self.renew_some = jax.jit(self._renew_some)
        self.states = jax.jit(lambda latest: self._progress.unpack(latest).state)

    def first(self, returned: Any) -> tuple[Any, dict[str, Any]]:
        """The observations and infos that a reset returned; numpy arrays if they are packed."""
        if not self._packs:
            return returned
        obs, infos = self._view_first(self._first.copies(returned), returned)
        return obs if self._widen is None else self._widen(obs), infos

    def result(self, returned: Any) -> tuple[Any, ...] | None:
        """The fields of `Result`; numpy arrays if they are packed, or None if an action was outside of its space."""
        if not self._packs:
            return returned
        copies = self._result.copies(returned)
        if not copies[0][self._is_inside]:
            return None
        fields = self._view_result(copies, returned)
        if self._widen is None:
            return fields
        result = Result(*fields)
        final_obs = None if result.final_obs is None else self._widen(result.final_obs)
        return result._replace(obs=self._widen(result.obs), final_obs=final_obs)

    def _start(self, data: Any, params: Packed, starts: Any = None) -> tuple[Packed, Any]:
        return self._packed(*self._begun(data, self.params.unpack(params), starts))

    def _restart(self, data: Any, mask: Any, latest: Packed, params: Packed) -> tuple[Packed, Any]:
        unpacked, before = self.params.unpack(params), self._progress.unpack(latest)
        state = self._env.restart(typed_key(data), mask, before.state, unpacked)
        return self._packed(*self._where(mask, data, state, before, unpacked))

    def _renew(self, data: Any, mask: Any, latest: Packed, params: Packed) -> tuple[Packed, Any]:
        unpacked, before = self.params.unpack(params), self._progress.unpack(latest)
        return self._packed(*self._where(mask, data, self._begun(data, unpacked)[0].state, before, unpacked))

    def _renew_some(self, data: Any, starts: Any, seeded: Any, mask: Any, latest: Packed, params: Packed) -> Any:
        """Resets the environments of `mask`: those of `seeded` from nothing, the others as an auto-reset does."""
        unpacked, before = self.params.unpack(params), self._progress.unpack(latest)
        state = self._env.restart(typed_key(data), mask & ~seeded, before.state, unpacked)
        state = self._choose(seeded, self._begun(data, unpacked, starts)[0].state, state)
        return self._packed(*self._where(mask, data, state, before, unpacked))

    def _step(self, latest: Packed, params: Packed, action: Any) -> tuple[Packed, Any]:
        # Few kernels: see `one_kernel`. Without any, XLA computes the step again for each element that it packs.
        before, unpacked, action, is_inside = one_kernel(self._read, latest, params, action)
        progress, result = one_kernel(self._stepped, before, unpacked, action)
        if not self._packs:
            return self._progress.pack(progress), result
        after, returned = pack_all((self._progress, progress), (self._result, (is_inside, result)))
        return after, returned

    def _read(self, latest: Packed, params: Packed, action: Any) -> tuple[Any, ...]:
        unpacked = self.params.unpack(params)
        return self._progress.unpack(latest), unpacked, *check(self._env.action_space(unpacked), action)

    def _packed(self, progress: _Progress, first: Any) -> tuple[Packed, Any]:
        return self._progress.pack(progress), self._first.pack(first) if self._packs else first

    def _begun(self, data: Any, params: Any, starts: Any = None) -> tuple[_Progress, Any]:
        """A start by the key of `data`; or by a key for each environment, of the data uint32 (num_envs, 2)."""
        state = self._env.init_state(
            self._env.draw_start(typed_key(data if starts is None else starts), params), params
        )
        obs = self._env.observe(state, params)
        done = jnp.zeros(self._env.batch_shape, jnp.bool_)
        return _Progress(data, state, done), (obs, self._legal(state, params, ~done))

    def _where(self, mask: Any, data: Any, fresh: Any, before: _Progress, params: Any) -> tuple[_Progress, Any]:
        state = self._choose(mask, fresh, before.state)
        first = self._env.observe(state, params), self._legal(state, params, mask)
        return _Progress(data, state, before.done & ~mask), first

    def _stepped(self, before: _Progress, params: Any, action: Any) -> tuple[_Progress, Result]:
        env, data = self._env, next_key(before.key)
        key = typed_key(data)
        if self._mode is AutoresetMode.SAME_STEP:
            obs, state, reward, done, info = env.step(key, before.state, action, params)
            own = {name: value for name, value in own_info(info).items() if name != ACTION_MASK}
            infos = _masked(own, ~done) | self._legal(state, params, jnp.ones_like(done))
            result = Result(obs, reward, info["terminated"], info["truncated"], infos)
            result = result._replace(final_obs=info["final_obs"], final_infos=_masked(own, done))
            return _Progress(data, state, jnp.zeros_like(done)), result
        obs, state, reward, terminated, info = env.step_env(key, before.state, action, params)
        truncated, runs = info["truncated"], jnp.ones_like(terminated)
        if self._mode is AutoresetMode.NEXT_STEP:
            runs = ~before.done
            state = self._choose(before.done, env.restart(key, before.done, before.state, params), state)
            obs, reward = env.observe(state, params), jnp.where(runs, reward, np.float32(0))
            terminated, truncated = terminated & runs, truncated & runs
        infos = _masked(own_info(info), runs) | self._legal(state, params, jnp.ones_like(runs))
        result = Result(obs, reward, terminated, truncated, infos)
        return _Progress(data, state, terminated | truncated), result

    def _legal(self, state: Any, params: Any, mask: jax.Array) -> dict[str, Any]:
        """What infos say of the legal actions, of the environments where `mask` is true."""
        return _masked(legal_actions(self._env, state, params), mask)

    def _choose(self, mask: Any, chosen: Any, others: Any) -> Any:
        """The states of `chosen` where the mask is true, else those of `others`, as is all that a batch shares."""

        def leaf(is_per_env: bool, x: Any, y: Any) -> Any:
            return trees.where(mask, x, y) if is_per_env else y

        return jax.tree.map(leaf, self._is_per_env, chosen, others)


def _is_per_env(env: Environment, params: Any) -> Any:
    """For each leaf of the batch's state, whether its shape depends on the number of environments."""

    def shapes(env: Environment) -> Any:
        return jax.eval_shape(env.reset, jax.random.key(0), params)[1]

    return jax.tree.map(lambda x, y: x.shape != y.shape, shapes(env), shapes(_with_one_more(env)))


def _with_one_more(env: Any) -> Any:
    if isinstance(env, Batched):
        return dataclasses.replace(env, num_envs=env.num_envs + 1)
    return dataclasses.replace(env, env=_with_one_more(env.env))


def _masked(info: dict[str, Any], mask: jax.Array) -> dict[str, Any]:
    """Each entry `x` where the mask is true, else zero, and the mask as `_x`."""
    kept = trees.where(mask, info, jax.tree.map(jnp.zeros_like, info))
    return kept | {f"_{name}": mask for name in info}
