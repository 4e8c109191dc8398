"""MetaMaze-misc, after github.com/uber-research/backpropamine `simplemaze/maze.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces
from envcore.environment import Environment, EnvParams, EnvState, computed
from envcore.fusion import compute_once
from envcore.typing import ArrayParam, BoolParam, Float, FloatParam, Int, IntParam
from flax import struct

_MOVES = {"gymnax": ((-1, 0), (0, 1), (1, 0), (0, -1)), "original": ((-1, 0), (1, 0), (0, -1), (0, 1))}
_NAMES = {"gymnax": ("up", "right", "down", "left"), "original": ("up", "down", "left", "right")}
_MAX_SIZE = 253


@struct.dataclass
class MetaMazeState(EnvState):
    """State of `MetaMaze`.

    Attributes:
      last_action: the last action, 0 at the start.
      last_reward: the last reward, 0 at the start.
      pos: row and column of the agent, from 1.
      goal: row and column of the goal, from 1.
    """

    last_action: Int
    last_reward: Float
    pos: Annotated[jax.Array, "int32 (2,)"]
    goal: Annotated[jax.Array, "int32 (2,)"]


@struct.dataclass
class MetaMazeParams(EnvParams):
    """Params of `MetaMaze`.

    Attributes:
      reward: reward for reaching the goal.
      punishment: reward for bumping into a wall. `rules` decides whether it is added or subtracted.
      normalize_time: whether to scale the observed time. No effect with the original's rules.
      resample_goal_pos: whether to draw the goal of each episode.
      goal_fixed: row and column of the goal if `resample_goal_pos` is off.
    """

    reward: FloatParam = 10.0
    punishment: FloatParam = 0.0
    normalize_time: BoolParam = False
    resample_goal_pos: BoolParam = True
    goal_fixed: Annotated[ArrayParam, "int32 (2,)"] = struct.field(default_factory=lambda: np.array([1, 1]))
    max_steps_in_episode: IntParam = 200


@dataclasses.dataclass(frozen=True)
class MetaMaze(Environment[MetaMazeState, MetaMazeParams]):
    """MetaMaze-misc: find the hidden reward of a maze, and come back to it as often as the episode lasts.

    Original: github.com/uber-research/backpropamine, `simplemaze/maze.py`, the grid maze of Miconi et al. (2020),
    "Backpropamine: training self-modifying neural networks with differentiable neuromodulated plasticity". This id has
    gymnax's order of actions and observation. `rules="original"` has the original's.

    The maze has `maze_size` rows and columns inside a wall, numbered from 1. There is a pillar wherever both are even,
    except in the center, where an episode starts. The agent moves to the next cell in a direction, or stays in place if
    there is a wall or a pillar. When it reaches the goal, it is moved to a random free cell other than the goal. The
    agent does not see the goal and has to remember where it was.

    The task is the goal, which each episode draws from the free cells other than the center. For a batch of chosen
    tasks, use `jax.vmap` over `goal_fixed` with `resample_goal_pos` off. If `goal_fixed` is the center, the start is
    drawn from the other cells.

    Observation: float32 (n + 6,), where n is `rf_size` ** 2.
      0 to n - 1: the square of side `rf_size` around the agent, row by row: 1 for a wall, also outside the maze, 0 for
        a free cell
      n to n + 3: the last action, one-hot, action 0 at the start
      n + 4: the last reward, 0 at the start
      n + 5: time: steps so far, or with `normalize_time` steps / 50 - 1
      With the original's rules float32 (n + 8,):
      0 to n - 1: the same square
      n: 0
      n + 1: 1
      n + 2: steps so far / `max_steps_in_episode`
      n + 3: the last reward
      n + 4 to n + 7: the last action
    Action: int32 ().
      0: up, 1: right, 2: down, 3: left
      With the original's rules 0 is up, 1 down, 2 left, 3 right.
    Reward: `reward` for reaching the goal, 0 for any other move, and `punishment` for bumping into a wall or a pillar.
      The original subtracts the punishment, gymnax adds it.
    Termination: never.
    Truncation: after 200 steps.

    Deviations: the original counts outer walls (`--msize 11` is `maze_size=9`) and only has `rf_size=3`. Its center
    is free for every size, as here, but gymnax's is a pillar for sizes such as 7 and 11. gymnax differs from both: the
    goal can be the start, the agent can be moved onto the goal, which ends the episode, a receptive field of 5 or more
    moves the start off the center, and rewards lie outside the observation space. The outer wall is row and column 0
    for every `rf_size`, as in gymnax for 3.

    Attributes:
      maze_size: number of rows and columns inside the outer wall, odd.
      rf_size: side of the receptive field, odd.
      goal_fixed: row and column of the goal, from 1, for default params with a single task. None to draw it.
      rules: "gymnax" or "original".

    Raises:
      ValueError: a size is even or out of range, the goal is not a free cell, or `rules` is unknown.
    """

    render_fps = 8

    maze_size: int = 9
    rf_size: int = 3
    goal_fixed: tuple[int, int] | None = None
    rules: Literal["gymnax", "original"] = "gymnax"

    def __post_init__(self) -> None:
        size = checks.positive_integer("maze_size", self.maze_size, at_most=_MAX_SIZE)
        if size % 2 == 0 or size < 3:
            raise ValueError(f"maze_size must be odd and at least 3, got {size}")
        if checks.positive_integer("rf_size", self.rf_size, at_most=1023) % 2 == 0:
            raise ValueError(f"rf_size must be odd, got {self.rf_size}")
        if self.rules not in _MOVES:
            raise ValueError(f"rules must be 'gymnax' or 'original', got {self.rules!r}")
        if self.goal_fixed is not None:
            goal = tuple(self.goal_fixed)
            if len(goal) != 2 or self._is_wall(*goal):
                raise ValueError(f"goal_fixed must be the row and column of a free cell of the maze, got {goal}")
            object.__setattr__(self, "goal_fixed", goal)

    @property
    def walls(self) -> np.ndarray:
        """Returns where walls and pillars are: bool (maze_size + 2, maze_size + 2), including the outer wall."""
        rows, columns = np.indices((self.maze_size + 2, self.maze_size + 2))
        return np.asarray(self._is_wall(rows, columns))

    @property
    def default_params(self) -> MetaMazeParams:
        if self.goal_fixed is None:
            return MetaMazeParams()
        return MetaMazeParams(resample_goal_pos=False, goal_fixed=np.array(self.goal_fixed))

    action_names = computed(lambda self: _NAMES[self.rules])

    def check_params(self, params: MetaMazeParams) -> None:
        free = "the row and column of a free cell"
        require.that(params, ("goal_fixed",), lambda goal: not self._is_wall(*goal), free)

    def action_space(self, params: MetaMazeParams) -> spaces.Discrete:
        return spaces.Discrete(4)

    def observation_space(self, params: MetaMazeParams) -> spaces.Box:
        walls, action, rewards = [(0.0, 1.0)] * self.rf_size**2, [(0.0, 1.0)] * 4, [(-np.inf, np.inf)]
        if self.rules == "original":
            bounds = [*walls, (0.0, 0.0), (1.0, 1.0), (0.0, np.inf), *rewards, *action]
        else:
            bounds = [*walls, *action, *rewards, (-1.0, np.inf)]
        low, high = np.array(bounds).T
        return spaces.Box(low, high)

    def state_space(self, params: MetaMazeParams) -> spaces.Dict:
        place = spaces.Box(1, self.maze_size, (2,), jnp.int32)
        return spaces.Dict(
            {
                "last_action": spaces.Discrete(4),
                "last_reward": spaces.Box(-np.inf, np.inf, ()),
                "pos": place,
                "goal": place,
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: MetaMazeParams) -> Int:
        """Makes the same draws as `draw`."""
        return self.draw(key, params)

    def init_state(self, draws: Int, params: MetaMazeParams) -> MetaMazeState:
        center = np.full(2, self._center, np.int32)
        other = compute_once(self._other_cell, draws, center)
        goal = jnp.where(params.resample_goal_pos, other, params.goal_fixed)
        pos = jnp.where((goal == center).all(), other, center)
        return MetaMazeState(last_action=jnp.int32(0), last_reward=jnp.float32(0), pos=pos, goal=goal)

    def draw(self, key: jax.Array, params: MetaMazeParams) -> Int:
        """Draws the number of a free cell except the last, which replaces the excluded cell."""
        return random.integers(random.bits(key), len(self._free_cells) - 1)

    def transition(
        self, state: MetaMazeState, action: jax.Array, draws: Int, params: MetaMazeParams
    ) -> tuple[MetaMazeState, jax.Array, jax.Array]:
        target, bumps = compute_once(self._try, state.pos, action)
        target = jnp.where(bumps, state.pos, target)
        is_goal = (target == state.goal).all()
        pos = jnp.where(is_goal, compute_once(self._other_cell, draws, state.goal), target)
        punishment = -params.punishment if self.rules == "original" else params.punishment
        reward = jnp.where(is_goal, params.reward, np.float32(0)) + jnp.where(bumps, punishment, np.float32(0))
        return state.replace(last_action=action, last_reward=reward, pos=pos), reward, jnp.zeros((), jnp.bool_)

    def _try(self, pos: jax.Array, action: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Returns the next cell in the action's direction, and whether it is a wall or a pillar."""
        target = pos + jnp.asarray(np.array(_MOVES[self.rules], np.int32))[action]
        return target, self._is_wall(target[0], target[1])

    def observe(self, state: MetaMazeState, params: MetaMazeParams) -> jax.Array:
        reach = self.rf_size // 2
        rows, columns = np.indices((self.rf_size, self.rf_size), np.int32).reshape(2, -1) - np.int32(reach)
        walls = self._is_wall(state.pos[0] + rows, state.pos[1] + columns).astype(jnp.float32)
        action = (state.last_action == np.arange(4, dtype=np.int32)).astype(jnp.float32)
        time = state.time.astype(jnp.float32)
        if self.rules == "original":
            share = time / jnp.asarray(params.max_steps_in_episode, jnp.float32)
            numbers = jnp.stack([jnp.zeros_like(share), jnp.ones_like(share), share, state.last_reward])
            return jnp.concatenate([walls, numbers, action])
        time = jnp.where(params.normalize_time, time / 50 - 1, time)
        return jnp.concatenate([walls, action, jnp.stack([state.last_reward, time])])

    def render(self, state: MetaMazeState, params: MetaMazeParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_meta_maze

        numbers = state.time, state.pos, state.goal, state.last_reward, params.max_steps_in_episode
        return paint_meta_maze(height, *numbers, self.walls, rf_size=self.rf_size)

    @property
    def _center(self) -> int:
        """Returns row and column of the center."""
        return (self.maze_size + 1) // 2

    @property
    def _free_cells(self) -> np.ndarray:
        """Returns row and column of free cells in reading order. A center that would be a pillar comes last."""
        cells, center = np.argwhere(~self.walls).astype(np.int32), self._center
        is_last = (cells == center).all(axis=1) & (center % 2 == 0)
        return np.concatenate([cells[~is_last], cells[is_last]])

    def _is_wall(self, row: Any, column: Any) -> Any:
        """Returns whether a cell is a wall or a pillar. Row and column have the same shape."""
        size, center = self.maze_size, self._center
        outside = (row < 1) | (row > size) | (column < 1) | (column > size)
        pillar = ((row | column) & 1) == 0
        return outside | (pillar & ((row != center) | (column != center)))

    def _other_cell(self, number: jax.Array, excluded: ArrayParam) -> jax.Array:
        """Returns row and column of the free cell with this number. The last free cell replaces `excluded`."""
        cells = self._free_cells
        cell = jnp.asarray(cells)[number]
        return jnp.where((cell == excluded).all(), cells[-1], cell)
