"""`ParamsWrapper`: a wrapper with params of its own, to vmap over or differentiate by."""

from __future__ import annotations

import dataclasses

import jax

from envcore import spaces
from envcore.engine import arguments
from envcore.environment import Outcome
from envcore.nested_params import NestedParams
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class WrapperParams(NestedParams):
    """Params of a wrapper that adds some to those of the wrapped environment, which are its `env_params`."""


@dataclasses.dataclass(frozen=True)
class ParamsWrapper(Wrapper):
    """Base of wrappers whose params are `WrapperParams`: hands the wrapped environment its own.

    Where a user gives the params of the wrapped environment alone, such as those that `make` returned, the wrapper's
    own are their defaults.
    """

    @property
    def default_params(self) -> WrapperParams:
        raise NotImplementedError

    def check_params(self, params: PyTree) -> None:
        super().check_params(params.env_params)

    def may_truncate(self, params: PyTree) -> bool:
        return super().may_truncate(_inner(params))

    def action_space(self, params: PyTree) -> spaces.Space:
        return super().action_space(_inner(params))

    def observation_space(self, params: PyTree) -> spaces.Space:
        return super().observation_space(_inner(params))

    def state_space(self, params: PyTree) -> spaces.Dict:
        return super().state_space(_inner(params))

    def _completed(self, params: PyTree) -> PyTree:
        default = arguments.default_params(self)
        if jax.tree.structure(params) == jax.tree.structure(default):
            return params
        inner = super()._completed(params)
        if jax.tree.structure(inner) != jax.tree.structure(default.env_params):
            return params
        return default.replace(env_params=inner)

    def draw_start(self, key: jax.Array, params: PyTree) -> PyTree:
        return super().draw_start(key, params.env_params)

    def init_state(self, draws: PyTree, params: PyTree, /) -> PyTree:
        return super().init_state(draws, params.env_params)

    def draw(self, key: jax.Array, params: PyTree) -> PyTree:
        return super().draw(key, params.env_params)

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        return super().advance(state, action, draws, params.env_params)

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return super().restart(key, done, state, params.env_params)

    def observe(self, state: PyTree, params: PyTree) -> PyTree:
        return super().observe(state, _inner(params))

    def action_mask(self, state: PyTree, params: PyTree) -> PyTree:
        return super().action_mask(state, _inner(params))

    def render(self, state: PyTree, params: PyTree, height: int = 256) -> jax.Array:
        return super().render(state, _inner(params), height)


def _inner(params: PyTree) -> PyTree:
    return params.env_params if isinstance(params, WrapperParams) else params
