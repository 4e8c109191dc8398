"""`ParamsWrapper`: a wrapper with params of its own, to vmap over or differentiate by."""

from __future__ import annotations

import dataclasses

import jax

from envcore.engine import arguments
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

    def _completed(self, params: PyTree) -> PyTree:
        default = arguments.default_params(self)
        if jax.tree.structure(params) == jax.tree.structure(default):
            return params
        inner = super()._completed(params)
        if jax.tree.structure(inner) != jax.tree.structure(default.env_params):
            return params
        return default.replace(env_params=inner)

    def inner_params(self, params: PyTree) -> PyTree:
        return params.env_params if isinstance(params, WrapperParams) else params
