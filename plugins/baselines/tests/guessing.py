"""An algorithm as a user would write it: it counts its steps, and acts at random."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from flax import struct


@dataclasses.dataclass(frozen=True)
class GuessConfig:
    total_steps: int = 40
    label: str = "none"


class GuessState(NamedTuple):
    agent: jax.Array


class Guess:
    Config = GuessConfig

    steps_per_update = 4

    def __init__(self, env: Any, params: Any, config: GuessConfig):
        self.env, self._params = env, params
        self.num_updates = config.total_steps // self.steps_per_update

    def init(self, key: jax.Array) -> GuessState:
        return GuessState(jnp.int32(0))

    def update(self, state: GuessState) -> tuple[GuessState, dict[str, jax.Array]]:
        return GuessState(state.agent + 4), {"returns": state.agent.astype(jnp.float32), "episodes": jnp.int32(1)}

    def start_memory(self) -> tuple[()]:
        return ()

    def act(self, agent: jax.Array, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[Any, Any]:
        return self.env.action_space(self._params).sample(key), memory


@struct.dataclass
class Counted:
    """Holds an object that differs between learners, like the optimizer in flax's `TrainState`."""

    count: jax.Array
    optimizer: Any = struct.field(pytree_node=False)


class Optimizing(Guess):
    def __init__(self, env: Any, params: Any, config: GuessConfig):
        super().__init__(env, params, config)
        self._optimizer = object()

    def init(self, key: jax.Array) -> Any:
        return GuessState(Counted(jnp.int32(0), self._optimizer))  # pyright: ignore

    def update(self, state: Any) -> Any:
        agent = state.agent.replace(count=state.agent.count + 4)
        return GuessState(agent), {"returns": agent.count.astype(jnp.float32), "episodes": jnp.int32(1)}
