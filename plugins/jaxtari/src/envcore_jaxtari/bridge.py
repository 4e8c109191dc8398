"""`FromJaxtari`: Jaxtari's environments in envcore."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

import jax
from envcore import spaces
from envcore.foreign import ForeignEnvironment


def from_jaxtari(source: str | Callable[..., Any], **options: Hashable) -> FromJaxtari:
    """Makes an environment of Jaxtari.

    Args:
      source: one of the library's names, or a class or function that makes an environment.
      **options: what the library makes it with.

    Raises:
      InvalidArgumentError: an option is not hashable.
    """
    return FromJaxtari.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromJaxtari(ForeignEnvironment):
    """An environment of Jaxtari.

    TODO: observation, action, reward, termination and truncation, params, what is not supported.
    """

    def load(self) -> Any:
        import jaxtari  # late: envcore lists environments without it

        raise NotImplementedError(jaxtari, "TODO: make the environment from self.source and dict(self.options)")

    @property
    def time_limit(self) -> int:
        raise NotImplementedError("TODO: the library's own limit in steps, or envcore.NO_TIME_LIMIT")

    def make_action_space(self, params: Any) -> spaces.Space:
        raise NotImplementedError("TODO: such as spaces.Discrete(self.library_env.num_actions)")

    def make_observation_space(self, params: Any) -> spaces.Space:
        raise NotImplementedError("TODO: such as spaces.Box(0.0, 1.0, (4,))")

    def begin(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        raise NotImplementedError("TODO: (state, obs) of the library's reset")

    def proceed(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        raise NotImplementedError("TODO: (state, obs, reward, terminated) of its step, without its auto-reset")
