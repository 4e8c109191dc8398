"""What MinAtar's games share: the original's wrapper around them, `Environment` of MinAtar 1.0.15.

A game states its rules as `play(state, action, draws)`, a deterministic function, and draws all random numbers of a
step in `draw_game`. The rest is here: action sets, sticky actions, and that a finished game does not change.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, Generic, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
from envcore import random, require, spaces, trees
from envcore.environment import Environment, EnvParams, EnvState, computed
from envcore.fusion import compute_once
from envcore.typing import Bool, Float, FloatParam, Int
from flax import struct
from jax import lax

from envcore_minatar.packing import SIDE, lookup

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
"""The full action set."""

FLAG = spaces.Box(False, True, (), jnp.bool_)
PLACE = spaces.Discrete(SIDE)
"""The spaces of flags, and of rows and columns."""


def up_to(most: int, least: int = 0) -> spaces.Box:
    """The space of numbers from `least` to `most`, int32 ()."""
    return spaces.Box(least, most, (), jnp.int32)


_NAMES = ("stay", "left", "up", "right", "down", "fire")


@struct.dataclass
class MinAtarState(EnvState):
    """Base of the games' states.

    Attributes:
      terminal: the game has ended.
      last_action: the last executed action, of the full action set; survives resets.
    """

    terminal: Bool = struct.field(default=False, kw_only=True)
    last_action: Int = struct.field(default=NOTHING, kw_only=True)


@struct.dataclass
class MinAtarParams(EnvParams):
    """Params of the games.

    Attributes:
      sticky_action_prob: probability that a step repeats the last executed action.
    """

    sticky_action_prob: FloatParam = 0.1


StateT = TypeVar("StateT", bound=MinAtarState)
DrawsT = TypeVar("DrawsT")


class MinAtarDraws(NamedTuple, Generic[DrawsT]):
    """The random draws of a step.

    Attributes:
      chance: uniform on [0, 1): the last action is repeated where it is below `sticky_action_prob`.
      game: the random draws of the game.
    """

    chance: Float
    game: DrawsT


@dataclasses.dataclass(frozen=True)
class Game(Environment[StateT, MinAtarParams], Generic[StateT, DrawsT]):
    """Base of the games.

    Attributes:
      use_minimal_action_set: only the actions that have an effect in this game, instead of all six.
      difficulty_ramping: the game gets harder over time; no effect in Breakout and Freeway.
      original_palette: pictures are the original's, the observation's cells in its colors.

    Class attributes for games:
      minimal_actions: the minimal action set.
      channels: what the observation's channels show, in their order.
      num_words: random words that a step of the game needs.
    """

    render_fps = 12

    use_minimal_action_set: bool = True
    difficulty_ramping: bool = True
    original_palette: bool = False

    minimal_actions: ClassVar[tuple[int, ...]]
    channels: ClassVar[tuple[str, ...]]
    num_words: ClassVar[int] = 0

    # What a game writes.

    def draw_game(self, words: jax.Array) -> DrawsT:
        """The random draws of a step, from `num_words` random words, uint32 (num_words,); nothing by default."""
        return cast("DrawsT", ())

    def play(self, state: StateT, action: jax.Array, draws: DrawsT) -> tuple[StateT, jax.Array]:
        """One step of a game that has not ended: the state after it, and the reward.

        Args:
          state: before the step.
          action: the executed action, int32 () in the full action set; the next state holds it as `last_action`.
          draws: as `draw_game` returns them.
        """
        raise NotImplementedError

    def paint(self, state: StateT, height: int) -> jax.Array:
        """The picture of a state, uint8 (height, height, 3)."""
        raise NotImplementedError

    def state_fields(self) -> dict[str, spaces.Space]:
        """The spaces of the fields of the game's own state."""
        raise NotImplementedError

    # What all games share.

    @property
    def default_params(self) -> MinAtarParams:
        return MinAtarParams()

    action_names = computed(
        lambda self: tuple(_NAMES[action] for action in self.minimal_actions) if self.use_minimal_action_set else _NAMES
    )

    def check_params(self, params: MinAtarParams) -> None:
        require.between(params, 0, 1, "sticky_action_prob")

    def action_space(self, params: MinAtarParams) -> spaces.Discrete:
        return spaces.Discrete(len(self.minimal_actions) if self.use_minimal_action_set else 6)

    def observation_space(self, params: MinAtarParams) -> spaces.Box:
        return spaces.Box(False, True, (SIDE, SIDE, len(self.channels)), jnp.bool_)

    def state_space(self, params: MinAtarParams) -> spaces.Dict:
        shared = {"time": spaces.NATURAL_NUMBERS, "terminal": FLAG, "last_action": spaces.Discrete(6)}
        return spaces.Dict({**shared, **self.state_fields()})

    def draw(self, key: jax.Array, params: MinAtarParams) -> MinAtarDraws[DrawsT]:
        words = compute_once(lambda key: random.bits(key, (1 + self.num_words,)), key)
        return MinAtarDraws(random.unit(words[0]), self.draw_game(words[1:]))

    def transition(
        self, state: StateT, action: jax.Array, draws: MinAtarDraws[DrawsT], params: MinAtarParams
    ) -> tuple[StateT, jax.Array, jax.Array]:
        if self.use_minimal_action_set:
            action = lookup(self.minimal_actions, action)
        action = jnp.where(draws.chance < params.sticky_action_prob, state.last_action, action)
        after, reward = self.play(state, action, draws.game)
        still = state.replace(last_action=action)
        after = jax.tree.map(lambda x, y: jnp.where(state.terminal, x, y), still, after)
        return after, jnp.where(state.terminal, 0.0, reward), after.terminal

    def restart(self, key: jax.Array, done: jax.Array, state: StateT, params: MinAtarParams) -> StateT:
        return super().restart(key, done, state, params).replace(last_action=state.last_action)

    def render(self, state: StateT, params: MinAtarParams, height: int = 256) -> jax.Array:
        state = trees.narrow(state)
        if not self.original_palette:
            return self.paint(state, height)
        from envcore_minatar.render import paint_channels

        return paint_channels(height, self.observe(state, params))


def move_sideways(column: jax.Array, action: jax.Array) -> jax.Array:
    """The column that the player moves to, or stays in, int32; the walls stop it."""
    step = (action == RIGHT).astype(jnp.int32) - (action == LEFT).astype(jnp.int32)
    return jnp.clip(column + step, 0, SIDE - 1)


def digits(word: jax.Array, *bounds: int) -> tuple[jax.Array, ...]:
    """Turns one uint32 word into several independent numbers, int32 uniform on {0, ..., bound - 1} each.

    The product of the bounds must be at most 2**16. Jointly, the numbers are as uniform as one number of
    `envcore.random.integers`.
    """
    rest, found = random.integers(word, math.prod(bounds)).astype(jnp.uint32), []
    for bound in bounds:
        found.append(lax.rem(rest, jnp.full_like(rest, bound)).astype(jnp.int32))
        rest = lax.div(rest, jnp.full_like(rest, bound))
    return tuple(found)
