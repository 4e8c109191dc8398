"""`ParamsWrapper`: a wrapper with params of its own, to vmap over or differentiate by, and such params."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

import jax

from envcore import spaces
from envcore.engine import arguments
from envcore.environment import Outcome
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class NestedParams:
    """Params that contain others, which can be read and replaced as if they were fields of these.

        params.length, params.replace(length=1.0)

    Subclasses are frozen dataclasses, registered by `jax.tree_util.register_dataclass`.

    Attributes:
      env_params: the params inside.
    """

    env_params: PyTree

    def __getattr__(self, name: str) -> Any:
        if name == "env_params" or name.startswith("__"):  # not set yet: a copy is being made
            raise AttributeError(name)
        return getattr(self.env_params, name)

    def replace(self, **updates: Any) -> Self:
        """The same params but for `updates`."""
        own = {field.name for field in dataclasses.fields(self)}
        inner = {name: updates.pop(name) for name in set(updates) - own}
        if inner:
            updates["env_params"] = updates.get("env_params", self.env_params).replace(**inner)
        return dataclasses.replace(self, **updates)


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
