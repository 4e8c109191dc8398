"""`Game`, the base class of MinAtar's games. It does the work of `Environment`, the wrapper in MinAtar 1.0.15.

A game implements its rules in `play(state, action, draws)`, a deterministic function, and draws the random numbers of a
step in `draw_game`. The base class adds action sets and sticky actions, and keeps finished games unchanged.
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
"""Spaces of flags, and of rows and columns."""


def up_to(most: int, least: int = 0) -> spaces.Box:
    """Returns the space of integers from `least` to `most`, int32 ()."""
    return spaces.Box(least, most, (), jnp.int32)


_NAMES = ("stay", "left", "up", "right", "down", "fire")


@struct.dataclass
class MinAtarState(EnvState):
    """Base class of the games' states.

    Attributes:
      terminal: whether the game has ended.
      last_action: the last executed action, from the full action set. Kept over resets.
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
    """Draws of a step.

    Attributes:
      chance: uniform on [0, 1). The last action is repeated if it is below `sticky_action_prob`.
      game: draws of the game.
    """

    chance: Float
    game: DrawsT


@dataclasses.dataclass(frozen=True)
class Game(Environment[StateT, MinAtarParams], Generic[StateT, DrawsT]):
    """Base class of the games.

    Attributes:
      use_minimal_action_set: use only the actions that have an effect in this game, instead of all six.
      difficulty_ramping: make the game harder over time. No effect in Breakout and Freeway.
      original_palette: render pictures like the original, with the observation's cells in its colors.

    Class attributes for games:
      minimal_actions: the minimal action set.
      channels: names of the observation's channels.
      num_words: number of random words that a step of the game needs.
    """

    render_fps = 12

    use_minimal_action_set: bool = True
    difficulty_ramping: bool = True
    original_palette: bool = False

    minimal_actions: ClassVar[tuple[int, ...]]
    channels: ClassVar[tuple[str, ...]]
    num_words: ClassVar[int] = 0

    # Members that games implement.

    def draw_game(self, words: jax.Array) -> DrawsT:
        """Makes the draws of a step from `num_words` random words, uint32 (num_words,). No draws by default."""
        return cast("DrawsT", ())

    def play(self, state: StateT, action: jax.Array, draws: DrawsT) -> tuple[StateT, jax.Array]:
        """Plays one step of a game that has not ended. Returns the new state and the reward.

        Args:
          state: the state before the step.
          action: the executed action, int32 (), from the full action set. It becomes `last_action` of the next state.
          draws: the draws from `draw_game`.
        """
        raise NotImplementedError

    def paint(self, state: StateT, height: int) -> jax.Array:
        """Renders a state: uint8 (height, height, 3)."""
        raise NotImplementedError

    def state_fields(self) -> dict[str, spaces.Space]:
        """Returns the spaces of the game's own state fields."""
        raise NotImplementedError

    # Members that all games share.

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
    """Returns the column after the player's move, int32. Walls stop it."""
    step = (action == RIGHT).astype(jnp.int32) - (action == LEFT).astype(jnp.int32)
    return jnp.clip(column + step, 0, SIDE - 1)


def digits(word: jax.Array, *bounds: int) -> tuple[jax.Array, ...]:
    """Splits one uint32 word into independent numbers, each int32 uniform on {0, ..., bound - 1}.

    The product of the bounds must be at most 2**16. Together, the numbers are as uniform as one number from
    `envcore.random.integers`.
    """
    rest, found = random.integers(word, math.prod(bounds)).astype(jnp.uint32), []
    for bound in bounds:
        found.append(lax.rem(rest, jnp.full_like(rest, bound)).astype(jnp.int32))
        rest = lax.div(rest, jnp.full_like(rest, bound))
    return tuple(found)
