"""Pictures of the chains, from left to right: uint8 (height, width, 3), with a width of 3/2 of the height."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import figures
from envcore.typing import ArrayParam, IntParam

from envcore_bsuite.bits import unpack
from envcore_bsuite.render.parts import beads

_WINDOW = painting.Window((3.0, 2.0), 4.0, 1.5)
_LEFT, _RIGHT = 0.85, 5.15  # the ends of the path
_GROUND = 1.0
_WEATHER = (_RIGHT - 0.05, 3.35)
_DELAYS = {1: "1", 10: "10", 100: "100"}  # marks below the chains
_RAIN: painting.Color = (109, 146, 199)


@painting.picture
def paint_discounting_chain(
    height: int,
    time: jax.Array,
    context: jax.Array,
    rewards: ArrayParam,
    reward_timestep: ArrayParam,
    max_steps_in_episode: IntParam,
) -> jax.Array:
    """Paints chains that fork on the left. Their lengths show when each one pays, on a logarithmic scale.

    The marks below are numbers of steps. The coin at the end of a chain is green for the largest reward, and gray after
    it has been paid. The chosen chain is dark, and the walker on it continues to the end of the episode.

    Args:
      height: height of the picture.
      time, max_steps_in_episode: int32 ().
      context: the chosen chain, int32 (), -1 before the choice.
      rewards: reward of each chain, float32 (chains,).
      reward_timestep: step at which each chain pays, int32 (chains,).
    """
    chains = len(rewards)
    top = chains - 1  # chain k is at y = top - k
    fork, first, end = (0.7, top / 2), 1.9, 6.75
    last = jnp.maximum(max_steps_in_episode, 2).astype(jnp.float32)

    def along(step: ArrayParam | int) -> jax.Array:
        return first + (end - first) * jnp.log(jnp.maximum(step, 1).astype(jnp.float32)) / jnp.log(last)

    ends = along(reward_timestep)
    is_best = rewards == rewards.max()
    is_paid = (np.arange(chains, dtype=np.int32) == context) & (reward_timestep <= time)

    def nearest(y: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Returns the index of the nearest chain, and the height of a point above it."""
        level = jnp.clip(jnp.round(y), 0, top)
        return top - level.astype(jnp.int32), y - level

    def bars(starts: jax.Array, radius: float) -> painting.Shape:
        """A rounded bar on each chain, from its start to its end."""

        def distance(x: jax.Array, y: jax.Array) -> jax.Array:
            chain, above = nearest(y)
            beside = x - jnp.clip(x, starts[chain], ends[chain])
            return jnp.sqrt(beside * beside + above * above) - np.float32(radius)

        return distance

    def color(x: jax.Array, y: jax.Array) -> painting.Color:
        del x
        chain, _ = nearest(y)
        return figures.either(
            is_paid[chain], painting.STONE, figures.either(is_best[chain], painting.GREEN, painting.YELLOW)
        )

    # The forks of the upper half. Points of the lower half are mirrored to it.
    ways = bars(jnp.full(chains, first, jnp.float32), 0.065)
    forks = painting.union(*[painting.segment(fork, (first, top / 2 + k), 0.065) for k in range(top // 2 + 1)])
    level, is_chosen = (top - context).astype(jnp.float32), context >= 0
    chosen = painting.union(
        painting.segment(fork, (first, level), 0.065), painting.segment((first, level), (end, level), 0.065)
    )
    passed = along(jnp.minimum(time, max_steps_in_episode))
    walker = jnp.where(is_chosen, passed, fork[0]), jnp.where(is_chosen, level, fork[1])
    return painting.paint(
        height,
        painting.Window((3.75, top / 2 - 0.4), top + 1.9, 1.5),
        (painting.text("STEPS", (-0.4, -1.1), 0.3), painting.INK),
        *[(painting.text(words, (along(step) - 0.1, -1.1), 0.3), painting.INK) for step, words in _DELAYS.items()],
        (painting.union(ways, lambda x, y: forks(x, top / 2 + jnp.abs(y - top / 2))), painting.STONE),
        (painting.shown(chosen, is_chosen), painting.INK),
        (bars(ends, 0.34), color),
        (painting.circle(walker, 0.26), painting.ORANGE),
    )


@painting.picture
def paint_memory_chain(
    height: int, time: jax.Array, context: jax.Array, query: jax.Array, memory_length: IntParam
) -> jax.Array:
    """Paints the context as lamps, bright for bits of 1, and below it the chain with the walker.

    While the agent sees the lamps, they are large and the picture says "cue". When it is asked, the picture says
    "question" and the bit that is asked for gets a ring. `context` is int32 (bits,), the others are int32 ().
    """
    steps = jnp.maximum(memory_length, 1) + 1
    seen = jnp.clip(time - 1, 0, memory_length)  # an observation has the time of the step before
    is_asked = seen >= memory_length - 1
    radius = jnp.where(seen == 0, np.float32(0.4), np.float32(0.17))
    grid = _Grid.of(len(context), (3.0, 2.45), (5.2, 2.5), most=1.6)
    panel = painting.box(grid.center, (grid.columns * grid.side + 0.3, grid.rows * grid.side + 0.3), corner=0.2)
    lamps = grid.copies(painting.circle((0.0, 0.0), radius), context, painting.INK, painting.YELLOW)
    asked = figures.cell(query // grid.columns, query % grid.columns, grid.rows)
    ring = painting.scaled(painting.outline(painting.circle(asked, 0.43), 0.14), grid.corner, grid.side)
    return painting.paint(
        height,
        _WINDOW,
        (panel, painting.SHADE),
        lamps,
        (painting.shown(ring, is_asked), painting.BLUE),
        (painting.shown(painting.text("CUE", (0.75, 0.8), 0.2), seen == 0), painting.INK),
        (painting.shown(painting.text("QUESTION", (0.75, 0.8), 0.2), is_asked), painting.INK),
        *_way(0.5, time, steps),
        (painting.circle((_place(time, steps), 0.5), 0.24), painting.ORANGE),
    )


@painting.picture
def paint_umbrella_chain(
    height: int,
    time: jax.Array,
    need_umbrella: jax.Array,
    has_umbrella: jax.Array,
    distractors: jax.Array,
    chain_length: IntParam,
    *,
    n_distractor: int,
) -> jax.Array:
    """Paints a person walking to rain or sunshine, with or without an umbrella, and the distractors below.

    Before the choice, the umbrella is random and painted gray. `distractors` are bits of words, uint32 (words,), the
    other numbers are int32 ().
    """
    length = jnp.maximum(chain_length, 1)
    x = _place(time, length)
    rains, is_held = need_umbrella == 1, has_umbrella == 1
    body = painting.union(
        painting.segment((x, _GROUND + 0.32), (x, _GROUND + 0.68), 0.2), painting.circle((x, _GROUND + 1.14), 0.21)
    )
    umbrella = painting.union(_dome((x, _GROUND + 1.3), 0.7), painting.box((x + 0.3, _GROUND + 0.98), (0.06, 1.1)))
    weather = painting.union(painting.shown(_cloud(), rains), painting.shown(_sun(), ~rains))
    drop = painting.segment((-0.1, -0.3), (0.1, 0.3), 0.08)
    rain = painting.scaled(painting.repeated(drop, np.ones((5, 4), np.bool_)), (_RIGHT - 0.8, _GROUND + 0.05), 0.4)
    return painting.paint(
        height,
        _WINDOW,
        (painting.shown(rain, rains), _RAIN),
        (weather, figures.either(rains, painting.STONE, painting.YELLOW)),
        (body, painting.ORANGE),
        (painting.shown(umbrella, is_held), figures.either(time == 0, painting.STONE, painting.BLUE)),
        *_way(_GROUND - 0.2, time, length),
        *_distractors(unpack(distractors, n_distractor)),
    )


def _cloud() -> painting.Shape:
    x, y = _WEATHER
    return painting.union(
        painting.circle((x - 0.38, y), 0.27),
        painting.circle((x + 0.06, y + 0.13), 0.38),
        painting.segment((x - 0.38, y - 0.1), (x + 0.46, y - 0.1), 0.2),
    )


def _sun() -> painting.Shape:
    """A star with eight points: a square, and the same square rotated by 45 degrees."""
    x0, y0 = _WEATHER

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = jnp.abs(x - np.float32(x0)), jnp.abs(y - np.float32(y0))
        return jnp.minimum(jnp.maximum(x, y), (x + y) * np.float32(np.sqrt(0.5))) - np.float32(0.36)

    return distance


def _dome(center: painting.Point, radius: float) -> painting.Shape:
    """The upper half of a disc."""
    disc, floor = painting.circle(center, radius), center[1]
    return lambda x, y: jnp.maximum(disc(x, y), floor - y)


def _distractors(bits: jax.Array) -> list[figures.Layer]:
    """Gray squares in the ground, pale for bits of 0."""
    if not len(bits):
        return []
    grid = _Grid.of(len(bits), (3.0, 0.33), (4.6, 0.5), most=0.22)
    return [grid.copies(painting.box((0.0, 0.0), (0.8, 0.8)), bits, painting.SHADE, painting.STONE)]


def _way(y: float, time: jax.Array, steps: jax.Array) -> list[figures.Layer]:
    """A row of beads, one for each time from 0 to `steps`, dark up to `time`."""
    spacing = (_RIGHT - _LEFT) / steps.astype(jnp.float32)
    radius = jnp.clip(0.36 * spacing, 0.04, 0.12)
    return [
        (beads((_LEFT, y), spacing, count, radius), color)
        for count, color in ((steps, painting.STONE), (jnp.minimum(time, steps), painting.INK))
    ]


def _place(time: jax.Array, steps: jax.Array) -> jax.Array:
    """Returns the position on the path at a time."""
    return _LEFT + (_RIGHT - _LEFT) * jnp.minimum(time.astype(jnp.float32) / steps.astype(jnp.float32), 1)


class _Grid(NamedTuple):
    """A grid of squares.

    Attributes:
      rows, columns: number of rows and columns.
      side: side of a square.
      center: center of the grid.
    """

    rows: int
    columns: int
    side: float
    center: painting.Point

    @classmethod
    def of(cls, count: int, center: painting.Point, room: tuple[float, float], most: float) -> _Grid:
        """Returns a grid for `count` squares in an area (width, height). Squares are large, at most `most`."""

        def grid(columns: int) -> _Grid:
            rows = math.ceil(count / columns)
            return cls(rows, columns, min(room[0] / columns, room[1] / rows, most), center)

        return max(map(grid, range(1, count + 1)), key=lambda grid: grid.side / math.sqrt(grid.rows * grid.columns))

    @property
    def corner(self) -> painting.Point:
        """The lower left corner."""
        return self.center[0] - self.columns * self.side / 2, self.center[1] - self.rows * self.side / 2

    def copies(
        self, shape: painting.Shape, bits: jax.Array, low: painting.Color, high: painting.Color
    ) -> figures.Layer:
        """Copies a shape for each bit, 0 or 1 (n,), line by line from the upper left, in the bit's color."""
        (left, bottom), places = self.corner, self.rows * self.columns
        is_there = (np.arange(places) < len(bits)).reshape(self.rows, self.columns)
        color = painting.shades(jnp.pad(bits, (0, places - len(bits))).reshape(is_there.shape), low, high)
        copies = painting.scaled(painting.repeated(shape, is_there), (left, bottom), self.side)
        return copies, lambda x, y: color((x - left) / self.side, (y - bottom) / self.side)
