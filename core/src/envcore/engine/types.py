"""What the engine needs of an environment, and what it makes of a step: `Rules`, `Outcome`, `Info`."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple, Protocol

import jax

from envcore import spaces

Info = dict[str, Any]


class Outcome(NamedTuple):
    """What one step of an episode leads to.

    Attributes:
      state: the state after the step, before any reset.
      reward: float32 ().
      terminated: bool (), the episode has come to an end of its own.
      truncated: bool (), the time limit is reached.
      info: the environment's own entries.
    """

    state: Any
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    info: Info


class Rules(Hashable, Protocol):
    """An environment as the engine sees it; `envcore.environment.Environment` documents each member."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]
    expensive_reset: ClassVar[bool]
    time_limit_terminates: ClassVar[bool]

    @property
    def name(self) -> str: ...
    @property
    def default_params(self) -> Any: ...

    def complete_params(self, params: Any) -> Any: ...
    def check_params(self, params: Any) -> None: ...
    def action_space(self, params: Any = None) -> spaces.Space: ...

    def draw_start(self, key: jax.Array, params: Any) -> Any: ...
    def init_state(self, draws: Any, params: Any, /) -> Any: ...
    def draw(self, key: jax.Array, params: Any) -> Any: ...
    def transition(self, state: Any, action: Any, draws: Any, params: Any, /) -> tuple[Any, ...]: ...
    def observe(self, state: Any, params: Any) -> Any: ...
    def mask_actions(self, state: Any, params: Any) -> Any: ...
    def carry_over(self, fresh: Any, final: Any) -> Any: ...

    def start(self, key: jax.Array, params: Any) -> Any: ...
    def advance(self, state: Any, action: Any, draws: Any, params: Any) -> Outcome: ...
    def restart(self, key: jax.Array, done: jax.Array, state: Any, params: Any) -> Any: ...


def own_info(info: Info) -> Info:
    """The environment's own entries of `info`, without those that every environment has: for adapters."""
    return {name: value for name, value in info.items() if name not in _OF_EVERY_ENVIRONMENT}


_OF_EVERY_ENVIRONMENT = ("discount", "final_obs", "terminated", "truncated")
