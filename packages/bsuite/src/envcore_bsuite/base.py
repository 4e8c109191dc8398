"""The base class of bsuite's environments, with counters that are kept over resets, and the settings of experiments."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeVar

import jax
import jax.numpy as jnp
from envcore.engine.arguments import checked_params
from envcore.environment import Environment, EnvParams, EnvState
from envcore.typing import IntParam

StateT = TypeVar("StateT", bound=EnvState)
ParamsT = TypeVar("ParamsT", bound=EnvParams)


@dataclasses.dataclass(frozen=True)
class BsuiteEnvironment(Environment[StateT, ParamsT]):
    """Base class of bsuite's environments.

    Class attributes for authors:
      lifetime: fields of the state that are kept over auto-resets.
      settings: options that only set `default_params`. Environments that differ only in them can share a compiled
        program.
    """

    lifetime: ClassVar[tuple[str, ...]] = ()
    settings: ClassVar[tuple[str, ...]] = ()

    def counters(self, state: StateT, params: ParamsT) -> dict[str, jax.Array]:
        """Returns the entries of `bsuite_info`. A `transition` returns them as its info."""
        raise NotImplementedError

    def bsuite_info(self, state: StateT, params: ParamsT | None = None) -> dict[str, jax.Array]:
        """Returns what bsuite logs and scores besides rewards, counted since `reset`.

        `step` returns the same entries in `info`.
        """
        return self.counters(state, checked_params(self, params))

    def restart(self, key: jax.Array, done: jax.Array, state: StateT, params: ParamsT) -> StateT:
        fresh = super().restart(key, done, state, params)
        return fresh.replace(**{name: getattr(state, name) for name in self.lifetime})


def share_left(passed: jax.Array, length: IntParam) -> jax.Array:
    """Returns the remaining fraction of `length` steps: float32 (), exactly 1 at the start and 0 at the end.

    `1 - passed / length` is not exact in compiled programs, because XLA multiplies by the rounded 1 / length, and may
    fuse that with the subtraction.
    """
    left = (length - passed).astype(jnp.float32) / jnp.asarray(length, jnp.float32)
    return jnp.where(passed == 0, 1.0, left)
