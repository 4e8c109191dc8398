"""A library that is written the way libraries are, weak types, implicit promotion and all, and a bridge to it."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from envcore import spaces
from envcore_bridges.base import ForeignEnvironment, ForeignParams
from flax import struct

LOADED: list[str] = []


@struct.dataclass
class TheirState:
    place: Any
    fuel: Any
    key: Any
    label: str = struct.field(pytree_node=False, default="walk")

    replace: ClassVar[Any]  # flax adds it


@struct.dataclass
class TheirParams:
    gain: Any = 1.0


class TheirWalk:
    """Walks on a line of `length` places; a step to the right sometimes fails."""

    def __init__(self, length: int = 5):
        LOADED.append("walk")
        self.length, self.table = length, jnp.arange(length) * 2

    def reset(self, key: jax.Array) -> TheirState:
        key, _ = jax.random.split(key)  # a legacy key: theirs is the shape (2,)
        return TheirState(place=0, fuel=1, key=jnp.reshape(key, (2,)))

    def step(self, state: TheirState, action: jax.Array, params: TheirParams) -> tuple[TheirState, Any, Any]:
        key, key_slip = jax.random.split(state.key)
        slips = jax.random.uniform(key_slip) < 0.3
        place = jnp.clip(state.place + jnp.where(slips, 0, 2 * action - 1), 0, len(self.table) - 1)
        reward = params.gain * action + self.table[place]  # float times integer
        after = state.replace(place=place, fuel=state.fuel * 0.9, key=key)
        return after, reward, place == len(self.table) - 1

    def observe(self, state: TheirState) -> jax.Array:
        return jnp.stack([state.place / 4, state.fuel])


@dataclasses.dataclass(frozen=True)
class FromTheirs(ForeignEnvironment):
    """The walk."""

    def load(self) -> TheirWalk:
        assert not isinstance(self.source, str)
        return self.source(**dict(self.options))

    @property
    def time_limit(self) -> int:
        return 20

    @property
    def default_params(self) -> ForeignParams:
        return ForeignParams(env_params=TheirParams(), max_steps_in_episode=self.time_limit)

    def action_space(self, params: Any) -> spaces.Space:
        return spaces.Discrete(2)

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.Box(0.0, 1.0, (2,))

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        state = self.library_env.reset(key)
        return state, self.library_env.observe(state)

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state, reward, done = self.library_env.step(state, action, params.env_params)
        return state, self.library_env.observe(state), reward, done, {"fuel": state.fuel}

    def library_action_mask(self, state: Any, obs: Any, params: Any) -> Any:
        return jnp.stack([state.place > 0, True])


def play(gain: float = 1.0, length: int = 5) -> dict[str, Any]:
    walk = TheirWalk(length)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = walk.reset(key)
        return state, walk.observe(state)

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        state, reward, done = walk.step(state, action, TheirParams(gain))
        return state, walk.observe(state), reward, done

    return {"reset": reset, "step": step}


@dataclasses.dataclass
class Wrapped(TheirWalk):
    env: Any = None
    length: int = 5

    def __post_init__(self) -> None:
        super().__init__(self.length)
