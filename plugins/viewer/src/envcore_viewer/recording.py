"""Recordings of episodes, which `envcore render` shows."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.rendering import picture_struct
from envcore_runs import memory
from envcore_runs.policies import Player, outside_action_space

from envcore_viewer.visualize import Visualizer


class Recording(NamedTuple):
    """Consecutive episodes, each with its final state; every leaf has the leading axes (time, num_envs).

    Attributes:
      state: the state that is shown.
      action: the action taken in it; for the final state of an episode, the last action again.
      reward: the reward of that action, float32; 0 for the final state of an episode.
    """

    state: Any
    action: Any
    reward: jax.Array


@functools.partial(jax.jit, static_argnums=(0, 2, 4, 5))
def record(env: Environment, params: Any, player: Player, key: jax.Array, num_steps: int, num_envs: int) -> Recording:
    """Records `num_envs` copies of the environment for `num_steps` frames each."""

    def one(key: jax.Array) -> Recording:
        key, key_reset = random.split(key)
        obs, state = env.reset(key_reset, params)
        memory = player.start_memory()
        idle = jax.tree.map(jnp.zeros_like, player.act(memory, obs, key)[0])
        carry = key, state, memory, idle, jnp.bool_(False)
        return jax.lax.scan(body, carry, None, num_steps)[1]

    def body(carry: Any, _: None) -> Any:
        key, state, memory, last, is_over = carry
        key, key_act, key_step, key_reset = random.split(key, 4)
        action, memory = player.act(memory, env.observe(state, params), key_act)
        _, after, reward, terminated, info = env.step_env(key_step, state, action, params)
        fresh = env.reset(key_reset, params)[1]
        start = last, fresh, player.start_memory()
        action, following, memory = trees.where(is_over, start, (action, after, memory))
        shown = Recording(state, action, jnp.where(is_over, 0, reward))
        return (key, following, memory, action, ~is_over & (terminated | info["truncated"])), shown

    return jax.tree.map(lambda x: jnp.moveaxis(x, 0, 1), jax.vmap(one)(random.split(key, num_envs)))


def visualizer(
    env: Environment,
    params: Any,
    player: Player,
    key: jax.Array,
    *,
    num_steps: int,
    num_envs: int = 1,
    **options: Any,
) -> Visualizer:
    """Records an environment and returns a `Visualizer` of it, with actions, rewards and returns.

    Args:
      env: the environment.
      params: its params.
      player: what chooses the actions.
      key: a random key.
      num_steps: number of frames.
      num_envs: number of copies to show together.
      **options: as for `Visualizer`.
    """
    played = record(env, params, player, key, num_steps, num_envs)
    _check_actions(player, env, params, played.action)
    if num_envs == 1:
        played = jax.tree.map(lambda x: x[:, 0], played)
    rewards = np.cumsum(np.asarray(played.reward, np.float64), axis=0)
    return Visualizer(env, params, played.state, rewards, played.action, **options)


def _check_actions(player: Player, env: Environment, params: Any, actions: Any) -> None:
    space = env.action_space(params)
    if not bool(jax.vmap(jax.vmap(space.contains))(actions).all()):
        raise outside_action_space(player.name, env, params)


def recorded_bytes(env: Environment, params: Any, height: int) -> int:
    """The most bytes that a frame of one environment takes: its state, and its picture rendered, copied and encoded."""
    state = arguments.state_struct(env)
    return 3 * memory.tree_bytes(picture_struct(env, state, params, height)) + 2 * memory.tree_bytes(state)


def steps_in(seconds: float, env: Environment) -> int:
    """The number of steps that take so many seconds at the environment's frame rate, at least one."""
    return max(1, round(seconds * env.render_fps))


def resampled(frames: np.ndarray, frames_fps: float, fps: float) -> np.ndarray:
    """Converts frames from one frame rate to another, by repeating or dropping some."""
    count = max(1, round(len(frames) * fps / frames_fps))
    return frames[np.minimum((np.arange(count) * (frames_fps / fps)).astype(int), len(frames) - 1)]
