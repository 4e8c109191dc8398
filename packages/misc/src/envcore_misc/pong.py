"""Pong-misc, after github.com/BlackHC/batch_pong_poc `src/vanilla_pong.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces, trees
from envcore.environment import NO_TIME_LIMIT, Environment, EnvParams, EnvState, computed
from envcore.fusion import compute_once, recomputed
from envcore.typing import Bool, BoolParam, FloatParam, Int, IntParam
from flax import struct

_BALL, _LAST, _LEFT, _RIGHT = (np.uint8(2**i) for i in range(4))
_FRAMES = (_LEFT | _RIGHT, _BALL, _LAST)
_BOARD = (_LEFT | _RIGHT | _BALL,)
Sizes = tuple[int, int, int]


@struct.dataclass
class PongState(EnvState):
    """State of `Pong`.

    Attributes:
      paddle_centers: rows of the left and the right paddle.
      ball_position: row and column.
      last_ball_position: row and column before the last step. At the start, the current ones.
      ball_velocity: rows and columns per step.
    """

    paddle_centers: Annotated[jax.Array, "float32 (2,)"]
    ball_position: Annotated[jax.Array, "float32 (2,)"]
    last_ball_position: Annotated[jax.Array, "float32 (2,)"]
    ball_velocity: Annotated[jax.Array, "float32 (2,)"]


@struct.dataclass
class PongParams(EnvParams):
    """Params of `Pong`.

    Attributes:
      ball_max_y_speed: maximum speed in rows per step, below `height`. With gymnax's rules it is rounded down.
      paddle_y_speed: rows per step.
      ball_x_speed: columns per step.
      use_ai_policy: whether the right paddle follows the ball. Only with gymnax's rules.
    """

    ball_max_y_speed: FloatParam = 3.0
    paddle_y_speed: FloatParam = 1.0
    ball_x_speed: FloatParam = 1.0
    use_ai_policy: BoolParam = True
    max_steps_in_episode: IntParam = 1000


class PongStart(NamedTuple):
    """Draws of the start of an episode with gymnax's rules. Steps are not random.

    Attributes:
      to_right: whether the ball moves to the right.
      y_velocity: rows per step.
    """

    to_right: Bool
    y_velocity: Int


@dataclasses.dataclass(frozen=True)
class Pong(Environment[PongState, PongParams]):
    """Pong-misc: keep the ball from your side of the board and get it past the other player.

    Original: `src/vanilla_pong.py` of github.com/BlackHC/batch_pong_poc, Kirsch (2018), "Batched pong environment".

    The board has rows from 0 at the top and columns from 0 at the left, and a paddle of 2 `paddle_half_height` + 1 rows
    in its first and in its last column. In a step, the paddles move by `paddle_y_speed`, and the ball by its velocity.
    The ball is reflected above the first and below the last row. Then a paddle close to the ball may hit it. The two
    paddles have different tests, as in the original. The left one hits in columns up to 1, at most `paddle_half_height`
    rows from its center. The right one hits in columns beyond `width` - 2, less than `paddle_half_height` + 1 rows from
    its center, which is almost a row further. A hit mirrors the ball's column and reverses its velocity in x. It adds
    the distance below the paddle's center, in half paddle heights, to the velocity in y, up to `ball_max_y_speed`
    either way. A ball that leaves the board at one side is a point for the player on the other side.

    `rules` chooses between two games:

    - "gymnax", the default: the agent plays the left paddle, and the right one follows the ball. With `use_ai_policy`
      off, the right one copies the agent's moves. Paddles stay on the board. A hit rounds the velocity in y to an
      integer, halves to even. The ball starts in the middle, to the left or to the right, and its velocity in y is
      uniform over the integers up to `ball_max_y_speed` either way. The original has one fixed start, with a note that
      its direction should be random.
    - "original": the agent plays both paddles. They are twice as fast and can leave the board by twice their half
      height. Velocities are not rounded. The ball always starts to the right, with velocity 0 in y.

    Observation: bool (height, width, 3), rows, columns and channels. Pieces off the board show at its edge.
      0: the paddles, 1: the ball, 2: the ball one step before
      "original": uint8 (1, height, width), 0 for nothing, 1 for a paddle, 2 for the ball.
    Action: int32 ().
      0: stay, 1: up, 2: down
      "original": int32 (2,), one of these for the left and one for the right paddle.
    Reward: 1 for winning a point, -1 for losing one. "original": 1 for each step without a point, because one agent
      plays both sides.
    Termination: a point. A step after that changes nothing and gives reward 0.
    Truncation: after 1,000 steps, gymnax's limit. "original": never.

    Deviations: positions and velocities are float32. The default rules fix bugs of gymnax, which rewards every step
    except the last, always has the original's start, and does not reflect the ball at the top. Its frames are float32.

    Attributes:
      width: number of columns of the board, at least 4.
      height: number of rows of the board, at least those of a paddle.
      paddle_half_height: number of rows of a paddle on either side of its center, at least 1.
      rules: "gymnax" or "original".

    Raises:
      ValueError: an option is out of range.
    """

    render_fps = 20

    width: int = 40
    height: int = 30
    paddle_half_height: int = 2
    rules: Literal["gymnax", "original"] = "gymnax"

    def __post_init__(self) -> None:
        if self.rules not in ("gymnax", "original"):
            raise ValueError(f"rules must be 'gymnax' or 'original', got {self.rules!r}")
        for name in ("width", "height", "paddle_half_height"):
            checks.positive_integer(name, getattr(self, name), at_most=4096)
        if self.width < 4 or self.height < 2 * self.paddle_half_height + 1:
            raise ValueError(
                "Pong needs a width of at least 4 and a height of at least 2 * paddle_half_height + 1, "
                f"got {self.width} and {self.height}"
            )

    @property
    def default_params(self) -> PongParams:
        fastest = min(3.0, self.height - 1.0)
        if self.rules == "original":
            return PongParams(ball_max_y_speed=fastest, paddle_y_speed=2.0, max_steps_in_episode=NO_TIME_LIMIT)
        return PongParams(ball_max_y_speed=fastest)

    action_names = computed(lambda self: ("stay", "up", "down") if self.rules == "gymnax" else ())  # or pairs

    def check_params(self, params: PongParams) -> None:
        require.between(params, 0, self.height - 1, "ball_max_y_speed")  # a wall reflects only once per step
        require.nonnegative(params, "ball_x_speed", "paddle_y_speed")
        require.moderate(params, "ball_x_speed", "paddle_y_speed")

    def action_space(self, params: PongParams) -> spaces.Discrete | spaces.MultiDiscrete:
        return spaces.Discrete(3) if self.rules == "gymnax" else spaces.MultiDiscrete([3, 3])

    def observation_space(self, params: PongParams) -> spaces.Box:
        if self.rules == "gymnax":
            return spaces.Box(False, True, (self.height, self.width, 3), np.bool_)
        return spaces.Box(0, 2, (1, self.height, self.width), np.uint8)

    def state_space(self, params: PongParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "paddle_centers": spaces.Box(*self._paddle_range, (2,)),
                "ball_position": spaces.Box(-np.inf, np.inf, (2,)),
                "last_ball_position": spaces.Box(-np.inf, np.inf, (2,)),
                "ball_velocity": spaces.symmetric_box([params.ball_max_y_speed, params.ball_x_speed]),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: PongParams) -> PongStart | None:
        if self.rules == "original":
            return None
        word, fastest = random.bits(key), jnp.floor(params.ball_max_y_speed).astype(jnp.int32)
        return PongStart((word & 1) == 1, random.integers(word, 2 * fastest + 1) - fastest)

    def init_state(self, draws: PongStart | None, params: PongParams) -> PongState:
        if draws is None:
            return self._start(self.height / 2, np.float32(0), params.ball_x_speed)
        x_velocity = jnp.where(draws.to_right, params.ball_x_speed, -params.ball_x_speed)
        return self._start(self.height // 2, draws.y_velocity.astype(jnp.float32), x_velocity)

    def transition(
        self, state: PongState, action: jax.Array, draws: jax.Array, params: PongParams
    ) -> tuple[PongState, jax.Array, jax.Array]:
        paddles = self._move_paddles(state, action, params)
        ball = self._bounce_off_paddles(self._bounce_off_walls(_move_ball(state)), paddles, params)
        won, lost = self._points(ball.x)
        was_over = jnp.logical_or(*self._points(state.ball_position[1]))
        if self.rules == "gymnax":
            reward = won.astype(jnp.float32) - lost.astype(jnp.float32)
        else:
            reward = 1 - (won | lost).astype(jnp.float32)
        after = state.replace(
            paddle_centers=jnp.stack(paddles),
            ball_position=jnp.stack([ball.y, ball.x]),
            last_ball_position=state.ball_position,
            ball_velocity=jnp.stack([ball.y_velocity, ball.x_velocity]),
        )
        return trees.where(was_over, state, after), jnp.where(was_over, 0.0, reward), was_over | won | lost

    def observe(self, state: PongState, params: PongParams) -> jax.Array:
        show = observed_board if self.rules == "original" else observed_frames
        sizes = self.height, self.width, self.paddle_half_height
        return show(state.ball_position, state.last_ball_position, state.paddle_centers, state.time, sizes)

    def render(self, state: PongState, params: PongParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_pong

        places = state.ball_position, state.last_ball_position, state.paddle_centers
        plays_both = jnp.logical_not(params.use_ai_policy) if self.rules == "gymnax" else True
        size = self.height, self.width
        return paint_pong(height, *places, plays_both, size=size, paddle_half_height=self.paddle_half_height)

    @property
    def _paddle_range(self) -> tuple[int, int]:
        """Returns the lowest and the highest allowed row of a paddle's center."""
        half = self.paddle_half_height
        return (half, self.height - 1 - half) if self.rules == "gymnax" else (-2 * half, self.height + 2 * half)

    def _start(self, paddles: float, y_velocity: FloatParam, x_velocity: FloatParam) -> PongState:
        middle = jnp.array([self.height / 2, self.width / 2], jnp.float32)
        return PongState(
            paddle_centers=jnp.full(2, paddles, jnp.float32),
            ball_position=middle,
            last_ball_position=middle,
            ball_velocity=jnp.stack([y_velocity, x_velocity]),
        )

    def _move_paddles(self, state: PongState, action: jax.Array, params: PongParams) -> tuple[jax.Array, jax.Array]:
        """Returns the new centers of the left and the right paddle."""
        left, right = state.paddle_centers[0], state.paddle_centers[1]

        def move(center: jax.Array, direction: jax.Array | int) -> jax.Array:
            return jnp.clip(center + direction * params.paddle_y_speed, *self._paddle_range)

        if self.rules == "original":
            return move(left, _direction(action[0])), move(right, _direction(action[1]))
        up, down, ball = move(right, -1), move(right, 1), state.ball_position[0]
        follows = jnp.where(jnp.abs(ball - up) < jnp.abs(ball - down), up, down)
        copies = move(right, _direction(action))
        return move(left, _direction(action)), jnp.where(params.use_ai_policy, follows, copies)

    def _bounce_off_walls(self, ball: _Ball) -> _Ball:
        """Reflects a ball above the first or below the last row."""
        above, below = ball.y < 0, ball.y >= self.height
        y = jnp.where(above, -ball.y, jnp.where(below, 2 * (self.height - 1) - ball.y, ball.y))
        return ball._replace(y=y, y_velocity=jnp.where(above | below, -ball.y_velocity, ball.y_velocity))

    def _bounce_off_paddles(self, ball: _Ball, paddles: tuple[jax.Array, jax.Array], params: PongParams) -> _Ball:
        """Reflects a ball that a paddle hits."""
        half, off_left, off_right = self.paddle_half_height, ball.y - paddles[0], ball.y - paddles[1]
        by_left = (ball.x <= 1) & (jnp.abs(off_left) <= half)
        by_right = (ball.x > self.width - 2) & (jnp.abs(off_right) < half + 1)
        hit, off = by_left | by_right, jnp.where(by_left, off_left, off_right)
        return _Ball(
            y=ball.y,
            x=jnp.where(by_left, 2 - ball.x, jnp.where(by_right, 2 * (self.width - 2) - ball.x, ball.x)),
            y_velocity=jnp.where(hit, self._limited(ball.y_velocity + off / half, params), ball.y_velocity),
            x_velocity=jnp.where(hit, -ball.x_velocity, ball.x_velocity),
        )

    def _limited(self, y_velocity: jax.Array, params: PongParams) -> jax.Array:
        """Returns the velocity after a hit, within its limits. Rounded with gymnax's rules."""
        if self.rules == "original":
            return jnp.clip(y_velocity, -params.ball_max_y_speed, params.ball_max_y_speed)
        fastest = jnp.floor(params.ball_max_y_speed)
        return jnp.round(jnp.clip(y_velocity, -fastest, fastest))

    def _points(self, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Returns whether a ball in this column is a point for the left player, and for the right player."""
        return x >= self.width, x < 0


class _Ball(NamedTuple):
    """The ball, with float32 () fields.

    Attributes:
      y: row.
      x: column.
      y_velocity: rows per step.
      x_velocity: columns per step.
    """

    y: jax.Array
    x: jax.Array
    y_velocity: jax.Array
    x_velocity: jax.Array


def _move_ball(state: PongState) -> _Ball:
    (y, x), (y_velocity, x_velocity) = state.ball_position, state.ball_velocity
    return _Ball(y + y_velocity, x + x_velocity, y_velocity, x_velocity)


def _direction(action: jax.Array) -> jax.Array:
    """Returns the number of rows by which an action moves a paddle: -1, 0 or 1."""
    return (action == 2).astype(jnp.float32) - (action == 1).astype(jnp.float32)


# The observation: a cell shows a piece if the masks of both its row and its column have the piece's bit.


def observed_frames(ball: jax.Array, last: jax.Array, centers: jax.Array, time: jax.Array, sizes: Sizes) -> jax.Array:
    """Returns which cells show a paddle, the ball, and the ball one step before: bool (height, width, 3).

    Args:
      ball: row and column of the ball, float32 (2,).
      last: row and column of the ball one step before, float32 (2,).
      centers: rows of the left and the right paddle's center, float32 (2,).
      time: number of steps taken, int32 ().
      sizes: numbers of rows and columns of the board, and of rows of a paddle on either side of its center.
    """
    rows, columns = _pieces(ball, last, centers, sizes, _FRAMES)
    return recomputed(compute_once(_show_frames, rows, columns).reshape(*sizes[:2], 3), time)


def observed_board(ball: jax.Array, last: jax.Array, centers: jax.Array, time: jax.Array, sizes: Sizes) -> jax.Array:
    """Returns 0 for nothing, 1 for a paddle, 2 for the ball: uint8 (1, height, width). Same arguments as above."""
    rows, columns = _pieces(ball, last, centers, sizes, _BOARD)
    return compute_once(_show_board, rows, columns)[None]


def _pieces(
    ball: jax.Array, last: jax.Array, centers: jax.Array, sizes: Sizes, frames: tuple[np.uint8, ...]
) -> tuple[jax.Array, jax.Array]:
    """Returns the pieces that each row and each column shows, uint8. Columns are repeated for each frame."""
    height, width, half = sizes

    def pieces(ball: jax.Array, last: jax.Array, centers: jax.Array) -> tuple[jax.Array, jax.Array]:
        # The smallest dtype makes comparisons fastest.
        row, column = (np.arange(each, dtype=np.min_scalar_type(each - 1)) for each in (height, width))
        rows = _balls(row, ball[0], last[0])
        rows |= _paddle(row, centers[0], half, _LEFT)
        rows |= _paddle(row, centers[1], half, _RIGHT)
        column, shown = np.repeat(column, len(frames)), np.tile(np.array(frames), width)
        paddles = np.where(column == 0, _LEFT, 0) + np.where(column == width - 1, _RIGHT, 0)
        return rows, (_balls(column, ball[1], last[1]) | paddles.astype(np.uint8)) & shown

    return compute_once(pieces, ball, last, centers)


def _show_frames(rows: jax.Array, columns: jax.Array) -> jax.Array:
    return (rows[:, None] & columns[None]) != 0


def _show_board(rows: jax.Array, columns: jax.Array) -> jax.Array:
    pieces = rows[:, None] & columns[None]
    return jnp.where((pieces & (_LEFT | _RIGHT)) != 0, np.uint8(1), pieces * np.uint8(2))


def _balls(cells: np.ndarray, now: jax.Array, before: jax.Array) -> jax.Array:
    """Returns which ball, current or previous, each row or column shows. Balls off the board are at its edge."""

    def show(position: jax.Array, piece: np.uint8) -> jax.Array:
        cell = jnp.clip(jnp.floor(position), 0, int(cells[-1])).astype(cells.dtype)
        return jnp.where(cells == cell, piece, np.uint8(0))

    return show(now, _BALL) | show(before, _LAST)


def _paddle(cells: np.ndarray, center: jax.Array, half: int, piece: np.uint8) -> jax.Array:
    """Returns the rows that show a paddle."""
    ends = [jnp.clip(jnp.floor(center) + side, 0, int(cells[-1])).astype(cells.dtype) for side in (-half, half)]
    return jnp.where((cells >= ends[0]) & (cells <= ends[1]), piece, np.uint8(0))
