"""`NoAutoReset`: disables auto-reset."""

from __future__ import annotations

import dataclasses

import jax

from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class NoAutoReset(Wrapper):
    """The same environment without auto-reset: after `done`, `step` returns the final observation and state.

    Stepping on from there does what the original environment does after its end; call `reset` instead.
    """

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return state
