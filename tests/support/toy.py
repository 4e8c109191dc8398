"""Toy environments and a toy wrapper for core's tests: each shows an aspect of the contract and is easy to remember."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting, random, spaces
from envcore.environment import Environment, EnvParams, EnvState, Outcome
from envcore.wrappers import ParamsWrapper, WrapperParams
from flax import struct


@struct.dataclass
class CounterState(EnvState):
    count: Any  # int32 (), 0 to goal


@struct.dataclass
class CounterParams(EnvParams):
    bonus: Any = 0.5  # float32 (), reward of counting
    max_steps_in_episode: Any = 10


@dataclasses.dataclass(frozen=True)
class Counter(Environment[CounterState, CounterParams]):
    """Action 1 counts, action 0 waits; the episode ends at `goal`. Draws nothing."""

    action_names: ClassVar[tuple[str, ...]] = ("wait", "count")

    goal: int = 3

    @property
    def default_params(self) -> CounterParams:
        return CounterParams()

    def action_space(self, params: CounterParams) -> spaces.Discrete:
        return spaces.Discrete(2)

    def observation_space(self, params: CounterParams) -> spaces.Box:
        return spaces.Box(0.0, 1.0, (self.goal + 1,))

    def state_space(self, params: CounterParams) -> spaces.Dict:
        return spaces.Dict({"count": spaces.Discrete(self.goal + 1), "time": spaces.NATURAL_NUMBERS})

    def init_state(self, draws: jax.Array, params: CounterParams) -> CounterState:
        return CounterState(count=0)

    def transition(
        self, state: CounterState, action: jax.Array, draws: jax.Array, params: CounterParams
    ) -> tuple[Any, ...]:
        count = jnp.minimum(state.count + action, self.goal)
        reward = jnp.where(action == 1, params.bonus, 0.0)
        return state.replace(count=count), reward, count == self.goal, {"waited": action == 0}

    def observe(self, state: CounterState, params: CounterParams) -> jax.Array:
        return (np.arange(self.goal + 1, dtype=np.int32) == state.count).astype(jnp.float32)

    def render(self, state: CounterState, params: CounterParams, height: int = 256) -> jax.Array:
        """A bar as long as the count, in a square."""
        height = painting.checked_height(height)
        column = np.arange(height, dtype=np.int32) * self.goal // height
        bar = (column < state.count).astype(jnp.uint8) * np.uint8(255)
        return jnp.broadcast_to(bar[None, :, None], (height, height, 3))


@dataclasses.dataclass(frozen=True)
class Painted(Counter):
    """A counter with a different picture."""

    paint_at: Any = None

    def render(self, state: Any, params: Any, height: int = 256) -> Any:
        return self.paint_at(height)


class Fuse(Counter):
    """A counter whose time limit is a termination."""

    time_limit_terminates: ClassVar[bool] = True


@struct.dataclass
class TallyState(CounterState):
    episodes: Any  # int32 (), episodes finished, carried over from one to the next


class Tally(Counter):
    """A counter that remembers through resets how many episodes it has finished."""

    def state_space(self, params: CounterParams) -> spaces.Dict:
        return spaces.Dict({**super().state_space(params).spaces, "episodes": spaces.NATURAL_NUMBERS})

    def init_state(self, draws: jax.Array, params: CounterParams) -> TallyState:
        return TallyState(count=0, episodes=0)

    def restart(self, key: jax.Array, done: jax.Array, state: Any, params: CounterParams) -> Any:
        return super().restart(key, done, state, params).replace(episodes=state.episodes + done.astype(jnp.int32))


@struct.dataclass
class SpringState(EnvState):
    position: Any  # float32 ()
    velocity: Any  # float32 ()


@struct.dataclass
class SpringParams(EnvParams):
    stiffness: Any = 1.0
    damping: Any = 0.1
    noise: Any = 0.2  # each step adds a force uniform on [-noise, noise)
    start: Any = 1.0  # the position starts uniform on [-start, start)
    bound: Any = 1.5  # further out the episode terminates
    max_steps_in_episode: Any = 20


class SpringStart(NamedTuple):
    """What the start of an episode draws."""

    position: Any


class SpringDraws(NamedTuple):
    """What a step draws: the push of the wind."""

    push: Any


@dataclasses.dataclass(frozen=True)
class Spring(Environment[SpringState, SpringParams]):
    """Hold a mass on a spring at 0 against random forces. Draws on every step and reset."""

    differentiable: ClassVar[bool] = True

    @property
    def default_params(self) -> SpringParams:
        return SpringParams()

    def action_space(self, params: SpringParams) -> spaces.Box:
        return spaces.Box(-1.0, 1.0, (1,))

    def observation_space(self, params: SpringParams) -> spaces.Box:
        return spaces.Box(-np.inf, np.inf, (2,))

    def state_space(self, params: SpringParams) -> spaces.Dict:
        free = spaces.Box(-np.inf, np.inf, ())
        return spaces.Dict({"position": free, "velocity": free, "time": spaces.NATURAL_NUMBERS})

    def draw_start(self, key: jax.Array, params: SpringParams) -> SpringStart:
        return SpringStart(position=random.uniform(key, (), -params.start, params.start))

    def init_state(self, draws: SpringStart, params: SpringParams) -> SpringState:
        return SpringState(position=draws.position, velocity=0.0)

    def draw(self, key: jax.Array, params: SpringParams) -> SpringDraws:
        return SpringDraws(push=random.uniform(key, (), -params.noise, params.noise))

    def transition(
        self, state: SpringState, action: jax.Array, draws: SpringDraws, params: SpringParams
    ) -> tuple[Any, ...]:
        push = action[0] + draws.push
        velocity = state.velocity + 0.1 * (push - params.stiffness * state.position - params.damping * state.velocity)
        position = state.position + 0.1 * velocity
        return state.replace(position=position, velocity=velocity), -(position**2), jnp.abs(position) > params.bound

    def observe(self, state: SpringState, params: SpringParams) -> jax.Array:
        return jnp.stack([state.position, state.velocity])

    def render(self, state: SpringState, params: SpringParams, height: int = 256) -> jax.Array:
        """The mass, and a floor below it, in a picture twice as wide as high."""
        window = painting.Window((0.0, 0.0), 2.0, 2.0)
        mass = painting.circle((state.position, 0.0), 0.5)
        return painting.paint(height, window, (mass, painting.BLUE), (painting.half_plane(-0.5), painting.STONE))


@struct.dataclass
class DeckState(EnvState):
    cards: Any  # int32 (size,), a permutation; the top card is cards[0]
    left: Any  # int32 (), cards not yet guessed


class DeckStart(NamedTuple):
    """What the start of an episode draws."""

    cards: Any


@dataclasses.dataclass(frozen=True)
class Deck(Environment[DeckState, EnvParams]):
    """Guess the cards of a shuffled deck one by one; a wrong guess ends the episode."""

    size: int = 6

    @property
    def default_params(self) -> EnvParams:
        return EnvParams()

    def action_space(self, params: EnvParams) -> spaces.Discrete:
        return spaces.Discrete(self.size)

    def observation_space(self, params: EnvParams) -> spaces.Dict:
        return spaces.Dict({"top": spaces.Discrete(self.size), "left": spaces.Box(0, self.size, (1,))})

    def state_space(self, params: EnvParams) -> spaces.Dict:
        cards = spaces.MultiDiscrete([self.size] * self.size)
        # In steps after the end it goes on below 0.
        left = spaces.Box(-(2**31), self.size, (), jnp.int32)
        return spaces.Dict({"cards": cards, "left": left, "time": spaces.NATURAL_NUMBERS})

    def draw_start(self, key: jax.Array, params: EnvParams) -> DeckStart:
        return DeckStart(jax.random.permutation(key, self.size))

    def init_state(self, draws: DeckStart, params: EnvParams) -> DeckState:
        return DeckState(cards=draws.cards, left=self.size)

    def transition(self, state: DeckState, action: jax.Array, draws: jax.Array, params: EnvParams) -> tuple[Any, ...]:
        right = action == state.cards[0]
        left = state.left - 1
        return (
            state.replace(cards=jnp.roll(state.cards, -1), left=left),
            right.astype(jnp.float32),
            ~right | (left == 0),
        )

    def observe(self, state: DeckState, params: EnvParams) -> dict[str, jax.Array]:
        return {"top": state.cards[0], "left": state.left[None].astype(jnp.float32)}


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class GainParams(WrapperParams):
    gain: Any  # float32 (), factor of rewards


@dataclasses.dataclass(frozen=True)
class Gain(ParamsWrapper):
    """Multiplies rewards by a param of its own."""

    env: Environment
    gain: float = 3.0

    @property
    def default_params(self) -> GainParams:
        return GainParams(self.env.default_params, self.gain)

    def advance(self, state: Any, action: Any, draws: Any, params: Any) -> Outcome:
        outcome = super().advance(state, action, draws, params)
        return outcome._replace(reward=outcome.reward * params.gain)


def make_gain() -> Gain:
    """An entry point without arguments."""
    return Gain(Counter())
