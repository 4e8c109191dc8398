"""Implementation of `envcore render`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.engine.arguments import state_struct
from envcore.environment import Environment
from envcore.random import key_of
from envcore.rendering import fitting_height, margins, picture_struct
from envcore_cli.output import say
from envcore_runs import memory
from envcore_runs.choice import Choice
from envcore_runs.policies import Player, find_player, outside_action_space

from envcore_viewer.animation import caption, check_writable, mosaic, save_animation
from envcore_viewer.visualize import Visualizer

_SECONDS = 8
_MOSAIC_FPS = 20


def render(
    choices: Sequence[Choice],
    out: Path,
    policy: str,
    steps: int | None,
    num_envs: int,
    fps: float | None,
    columns: int | None,
    seed: int,
    height: int,
    overlay: bool,
    names: bool,
) -> None:
    """Records environments, renders them and writes an animation.

    Args:
      choices: one environment, or several for a mosaic.
      out: the output file. Its suffix selects the format.
      policy: as for `find_player`.
      steps: number of frames, with one step of every environment per frame. None for eight seconds at each
        environment's rate.
      num_envs: number of copies of each environment.
      fps: frames per second. None for the environment's rate, or 20 for a mosaic of several.
      columns: number of columns of the mosaic. None for a square grid.
      seed: the seed of the random key.
      height: height of each environment's picture in pixels.
      overlay: whether to show step, action, reward and return below each picture.
      names: whether to show the id below each picture.

    Raises:
      EnvcoreError: an argument is invalid, an environment has no picture, or the file cannot be written.
    """
    key, is_mosaic = key_of(seed), len(choices) > 1
    made = [choice.make() for choice in choices]
    players = [find_player(policy, choice.found.spec.id, *each) for choice, each in zip(choices, made, strict=True)]
    rate = fps if fps is not None else _MOSAIC_FPS if is_mosaic else made[0][0].render_fps
    check_writable(out, rate)
    counts = [max(1, round(_SECONDS * env.render_fps)) if steps is None else steps for env, _ in made]
    sizes = [_frame_bytes(player.env, params, height) for player, (_, params) in zip(players, made, strict=True)]
    needed = num_envs * sum(count * size for count, size in zip(counts, sizes, strict=True))
    advice = "choose fewer steps or copies, or a smaller height"
    memory.check_total("steps", max(counts), needed, memory.host_bytes(), advice)
    videos = []
    for choice, player, (_, params), count in zip(choices, players, made, counts, strict=True):
        env = player.env
        key, key_record = random.split(key)
        tile = fitting_height(env, (height, height)) if is_mosaic else height
        frames = _recorded(env, params, player, key_record, count, num_envs, height=tile, overlay=overlay).frames
        if is_mosaic and num_envs == 1 and not overlay:  # extend the edges to a square
            frames = np.pad(frames, [(0, 0), *margins(frames.shape[1:], (height, height))], mode="edge")
        if names:
            frames = caption(frames, [choice.title] * len(frames))
        if is_mosaic and steps is None:
            at = np.arange(max(1, round(count * rate / env.render_fps))) * (env.render_fps / rate)
            frames = frames[np.minimum(at.astype(int), count - 1)]
        videos.append(frames)
    frames = mosaic(videos, columns) if is_mosaic else videos[0]
    save_animation(out, frames, rate)
    count, high, wide, _ = frames.shape
    say(f"{out}: {count} frame{'s' * (count != 1)} of {wide} x {high} pixels.")


def _frame_bytes(env: Environment, params: Any, height: int) -> int:
    """Estimates the peak bytes per frame: two copies of the state, and the picture rendered, copied and encoded."""
    state = state_struct(env)
    return 3 * memory.tree_bytes(picture_struct(env, state, params, height)) + 2 * memory.tree_bytes(state)


def _recorded(
    env: Environment, params: Any, player: Player, key: jax.Array, num_steps: int, num_envs: int, **options: Any
) -> Visualizer:
    """Records an environment and returns a `Visualizer` with its actions, rewards and returns."""
    played = record(env, params, player, key, num_steps, num_envs)
    if not bool(jax.vmap(jax.vmap(env.action_space(params).contains))(played.action).all()):
        raise outside_action_space(player.name, env, params)
    if num_envs == 1:
        played = jax.tree.map(lambda x: x[:, 0], played)
    rewards = np.cumsum(np.asarray(played.reward, np.float64), axis=0)
    return Visualizer(env, params, played.state, rewards, played.action, **options)


class Recording(NamedTuple):
    """Recorded episodes, including their final states. Every leaf has the leading axes (time, num_envs).

    Attributes:
      state: the state to show.
      action: the action taken in this state. The final state of an episode repeats the last action.
      reward: the reward of the action, float32. It is 0 for the final state of an episode.
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
