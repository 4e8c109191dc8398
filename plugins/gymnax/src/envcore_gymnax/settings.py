"""Settings in which gymnax differs from the original environments, which envcore follows.

Observations, time limits and sticky actions follow gymnax, because your code's shapes and step budgets depend on them.
The rules follow the originals.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from envcore import spaces
from envcore.environment import Environment, Outcome
from envcore.wrappers import Wrapper, WrapperState
from flax import struct

TIME_LIMITS = {
    "Asterix-MinAtar": 1000,
    "Breakout-MinAtar": 1000,
    "Freeway-MinAtar": 2500,
    "Seaquest-MinAtar": 1000,
    "SpaceInvaders-MinAtar": 1000,
    "Catch-bsuite": 1000,
    "DeepSea-bsuite": 2000,
    "MemoryChain-bsuite": 1000,
    "UmbrellaChain-bsuite": 100,
    "SimpleBandit-bsuite": 100,
    "MNISTBandit-bsuite": 1,
}
"""gymnax's time limits, if they differ from the originals. Some of these games always end sooner."""

IDS = (
    *("CartPole-v1", "Pendulum-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0"),
    *("Asterix-MinAtar", "Breakout-MinAtar", "Freeway-MinAtar", "Seaquest-MinAtar", "SpaceInvaders-MinAtar"),
    *("Catch-bsuite", "DeepSea-bsuite", "MemoryChain-bsuite", "UmbrellaChain-bsuite", "DiscountingChain-bsuite"),
    *("MNISTBandit-bsuite", "SimpleBandit-bsuite", "FourRooms-misc", "MetaMaze-misc", "PointRobot-misc"),
    *("BernoulliBandit-misc", "GaussianBandit-misc", "Reacher-misc", "Swimmer-misc", "Pong-misc", "FrozenLake-misc"),
)
"""The ids of gymnax 1.0.1, in the same order."""

_six_values = False


def returns_six_values() -> bool:
    """Whether `step` returns six values, as in gymnax 1, instead of five."""
    return _six_values


def set_six_values(six_values: bool) -> None:
    """Sets whether `step` returns six values. Functions that are already compiled do not change."""
    global _six_values
    _six_values = six_values


def options_of(env_id: str, options: dict[str, Any]) -> dict[str, Any]:
    """Converts gymnax's constructor options to envcore's."""
    options = dict(options)
    if env_id == "DeepSea-bsuite" and (key := options.pop("action_mapping_key", None)) is not None:
        options["mapping_seed"] = int(jax.random.bits(key))
    return options


@functools.lru_cache(maxsize=512)
def params_of(env_id: str, env: Environment) -> Any:
    """Returns default params with gymnax's time limit and without sticky actions. Cached for equal environments."""
    params: Any = env.default_params
    if env_id in TIME_LIMITS:
        params = params.replace(max_steps_in_episode=TIME_LIMITS[env_id])
    return params.replace(sticky_action_prob=0.0) if hasattr(params, "sticky_action_prob") else params


@struct.dataclass
class GymnaxState(WrapperState):
    """A state with the fields of the environment's state, and whether the last step terminated.

    Attributes:
      terminated: bool (), False at the start of an episode.
    """

    terminated: Any


def _replace(state: GymnaxState, **updates: Any) -> GymnaxState:
    """Replaces fields of the state or of the environment's state."""
    own = {name: updates.pop(name) for name in ("env_state", "terminated") if name in updates}
    state = dataclasses.replace(state, **own)
    return dataclasses.replace(state, env_state=state.env_state.replace(**updates)) if updates else state


GymnaxState.replace = _replace  # pyright: ignore[reportAttributeAccessIssue]  # flax overwrites a method of this name


@dataclasses.dataclass(frozen=True)
class GymnaxRules(Wrapper):
    """Gives an environment gymnax's observations and states.

    Boolean observations become float32, and bsuite's shape (1, n) becomes (n,). The state stores whether it terminated.
    """

    def observation_space(self, params: Any) -> spaces.Space:
        space = self.env.observation_space(params)
        if not isinstance(space, spaces.Box):
            return space
        dtype = jnp.float32 if space.dtype == bool else space.dtype
        shape = _shape(space.shape)
        return spaces.Box(space.low.reshape(shape), space.high.reshape(shape), shape, dtype)

    def init_state(self, draws: Any, params: Any, /) -> GymnaxState:
        return GymnaxState(super().init_state(draws, params), jnp.zeros((), jnp.bool_))

    def advance(self, state: GymnaxState, action: Any, draws: Any, params: Any) -> Outcome:
        outcome = self.env.advance(state.env_state, action, draws, params)
        return outcome._replace(state=GymnaxState(outcome.state, outcome.terminated))

    def restart(self, key: Any, done: Any, state: GymnaxState, params: Any) -> GymnaxState:
        return GymnaxState(self.env.restart(key, done, state.env_state, params), state.terminated & ~done)

    def observe(self, state: GymnaxState, params: Any) -> Any:
        obs = self.env.observe(state.env_state, params)
        if not hasattr(obs, "dtype"):
            return obs
        return obs.reshape(_shape(obs.shape)).astype(jnp.float32 if obs.dtype == bool else obs.dtype)


@dataclasses.dataclass(frozen=True)
class FourRoomsImage(GymnaxRules):
    """Gives FourRooms gymnax's image observation, float32 (13, 13, 2).

    It does not show the goal, and the agent's row and column are swapped.
    """

    def observation_space(self, params: Any) -> spaces.Space:
        rows, columns, _ = self.env.observation_space(params).shape
        return spaces.Box(0.0, 1.0, (rows, columns, 2))

    def observe(self, state: GymnaxState, params: Any) -> Any:
        walls, agent, _ = jnp.moveaxis(super().observe(state, params), -1, 0)
        return jnp.stack([walls, agent.T], axis=-1)


def with_gymnax_rules(env_id: str, env: Any) -> GymnaxRules:
    """Wraps an environment with gymnax's observations and states."""
    return FourRoomsImage(env) if env_id == "FourRooms-misc" and env.use_visual_obs else GymnaxRules(env)


def as_gymnax_state(state: Any) -> GymnaxState:
    """Converts a state of envcore's type, which users may construct, to a `GymnaxState` that has not terminated."""
    return state if isinstance(state, GymnaxState) else GymnaxState(state, jnp.zeros((), jnp.bool_))


def _shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    return shape[1:] if len(shape) == 2 and shape[0] == 1 and shape[1] > 1 else shape
