"""CartPoleSwingup-bsuite, after bsuite 0.3.6 `experiments/cartpole_swingup/cartpole_swingup.py`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import require, spaces, trig
from envcore.environment import limit
from envcore.typing import Float, FloatParam, Int
from flax import struct

from envcore_bsuite.cartpole import POLE_FIELDS, CartAndPole, CartPoleParams, PoleState


@struct.dataclass
class CartPoleSwingupState(PoleState):
    """State of `CartPoleSwingup`.

    Attributes:
      episode_upright: number of steps in the running episode with a reward of 1, before the cost of a push.
      episode_moves: number of pushes in the running episode.
      total_upright: the same as `episode_upright`, over all episodes.
      total_moves: number of pushes in all episodes.
      best_episode: largest return of a finished episode.
    """

    episode_upright: Int
    episode_moves: Int
    total_upright: Int
    total_moves: Int
    best_episode: Float


@struct.dataclass
class CartPoleSwingupParams(CartPoleParams):
    """Params of `CartPoleSwingup`.

    Attributes:
      height_threshold: lowest height of the tip with a reward, as a fraction of the pole's length.
      theta_dot_threshold: largest angular velocity with a reward, rad/s. Infinity for no limit.
      x_reward_threshold: largest distance from the center with a reward, m. Infinity for no limit.
      move_cost: cost of a push.
    """

    height_threshold: FloatParam = 0.5
    theta_dot_threshold: FloatParam = limit(1.0)
    x_reward_threshold: FloatParam = limit(1.0)
    move_cost: FloatParam = 0.1


@dataclasses.dataclass(frozen=True)
class CartPoleSwingup(CartAndPole[CartPoleSwingupState, CartPoleSwingupParams]):
    """CartPoleSwingup-bsuite: swing a hanging pole up and hold it, at a cost for every push.

    Original: bsuite 0.3.6 `experiments/cartpole_swingup/cartpole_swingup.py`, Osband et al. (2020), "Behaviour suite
    for reinforcement learning".

    Cart and pole are the same as in CartPole-bsuite, but the pole starts hanging down.

    Observation: float32 (1, 8).
      0: position of the cart, divided by `x_threshold`
      1: velocity of the cart, divided by `x_threshold`
      2: sine of the pole's angle, which is 0 when upright
      3: cosine of the pole's angle
      4: angular velocity of the pole, rad/s
      5: time, divided by `max_time`
      6: 1 if the cart is nearer to the center than `x_reward_threshold`, else -1
      7: 1 if the pole turns more slowly than `theta_dot_threshold`, else -1
    Action: int32 ().
      0: push the cart left with `force_mag`
      1: do not push
      2: push the cart right with `force_mag`
    Reward: -`move_cost` for a push, plus 1 while the pole's tip is higher than `height_threshold` times its length and
      both flags in the observation are 1.
    Termination: the cart is further than `x_threshold` from the center, or more than `max_time` seconds have passed
      (1,001 steps of 0.01 s).

    bsuite's `raw_return` is the sum of rewards since `reset`, `total_upright` counts the steps with a reward of 1, and
    `best_episode` is the largest return of an episode, at least 0. They are entries of `info`. The state has the counts
    from which they are computed, which are kept over auto-resets.

    Deviations: float32 where the original integrates in float64. Time is counted in steps, but the original adds up
    seconds. For other values of `timescale` or `max_time`, its rounding can end an episode a step earlier. Returns are
    computed from counts of rewards and pushes, which are exact.

    Attributes:
      height_threshold: height that the tip must reach, as a fraction of the pole's length, from -1 to 1. It sets the
        default params.
      x_reward_threshold: largest distance from the center with a reward, m. It sets the default params.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("total_upright", "total_moves", "best_episode")
    settings: ClassVar[tuple[str, ...]] = ("height_threshold", "x_reward_threshold")

    height_threshold: float = 0.5
    x_reward_threshold: float = 1.0

    @property
    def default_params(self) -> CartPoleSwingupParams:
        return CartPoleSwingupParams(
            height_threshold=float(self.height_threshold), x_reward_threshold=float(self.x_reward_threshold)
        )

    def check_params(self, params: CartPoleSwingupParams) -> None:
        super().check_params(params)
        require.nonnegative(params, "theta_dot_threshold", "x_reward_threshold")
        require.moderate(params, "move_cost")

    def observation_space(self, params: CartPoleSwingupParams) -> spaces.Box:
        high = np.array([[np.inf, np.inf, 1.0, 1.0, np.inf, np.inf, 1.0, 1.0]])
        return spaces.Box(-high, high)

    def state_space(self, params: CartPoleSwingupParams) -> spaces.Dict:
        counts = ("episode_upright", "episode_moves", "total_upright", "total_moves", "time")
        best = {"best_episode": spaces.Box(0.0, np.inf)}
        return spaces.Dict({**POLE_FIELDS, **dict.fromkeys(counts, spaces.NATURAL_NUMBERS), **best})

    def init_state(self, draws: jax.Array, params: CartPoleSwingupParams) -> CartPoleSwingupState:
        pole = draws[0], draws[1], np.float32(np.pi) + draws[2], draws[3]
        return CartPoleSwingupState(*pole, *[jnp.int32(0)] * 4, best_episode=jnp.float32(0))

    def transition(
        self, state: CartPoleSwingupState, action: jax.Array, draws: jax.Array, params: CartPoleSwingupParams
    ) -> tuple[CartPoleSwingupState, jax.Array, jax.Array, dict[str, jax.Array]]:
        state = self.swing(state, action, params)
        is_near, is_slow = _flags(state, params)
        is_upright = ((trig.cos(state.theta) > params.height_threshold) & is_near & is_slow).astype(jnp.int32)
        moves = (action != 1).astype(jnp.int32)
        terminated = (jnp.abs(state.x) > params.x_threshold) | self.is_late(state, params)
        episode_upright, episode_moves = state.episode_upright + is_upright, state.episode_moves + moves
        episode_return = _return(episode_upright, episode_moves, params)
        state = state.replace(
            episode_upright=episode_upright,
            episode_moves=episode_moves,
            total_upright=state.total_upright + is_upright,
            total_moves=state.total_moves + moves,
            best_episode=jnp.where(terminated, jnp.maximum(state.best_episode, episode_return), state.best_episode),
        )
        return state, _return(is_upright, moves, params), terminated, self.counters(state, params)

    def observe(self, state: CartPoleSwingupState, params: CartPoleSwingupParams) -> jax.Array:
        flags = [jnp.where(flag, 1.0, -1.0) for flag in _flags(state, params)]
        return jnp.stack([*self.shown(state, params), *flags])[None]

    def counters(self, state: CartPoleSwingupState, params: CartPoleSwingupParams) -> dict[str, jax.Array]:
        return {
            "raw_return": _return(state.total_upright, state.total_moves, params),
            "total_upright": state.total_upright.astype(jnp.float32),
            "best_episode": state.best_episode,
        }

    def render(self, state: CartPoleSwingupState, params: CartPoleSwingupParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.control import paint_cartpole_swingup

        pole = state.x, state.theta, state.theta_dot
        limits = params.x_threshold, params.x_reward_threshold, params.height_threshold, params.theta_dot_threshold
        return paint_cartpole_swingup(height, *pole, params.length, *limits)


def _flags(state: CartPoleSwingupState, params: CartPoleSwingupParams) -> tuple[jax.Array, jax.Array]:
    """Returns whether the cart is near the center, and whether the pole turns slowly."""
    return jnp.abs(state.x) < params.x_reward_threshold, jnp.abs(state.theta_dot) < params.theta_dot_threshold


def _return(upright: jax.Array, moves: jax.Array, params: CartPoleSwingupParams) -> jax.Array:
    return upright.astype(jnp.float32) - params.move_cost * moves.astype(jnp.float32)
