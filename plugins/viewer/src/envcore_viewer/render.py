"""`envcore render`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import random
from envcore.engine.arguments import state_struct
from envcore.errors import InvalidArgumentError
from envcore.random import key_of
from envcore.rendering import fitting_height, margins, picture_struct
from envcore_cli.output import say
from envcore_runs import memory
from envcore_runs.choice import Choice
from envcore_runs.policies import Player, find_player

from envcore_viewer.animation import caption, check_writable, files, mosaic, save_animation
from envcore_viewer.animation.compose import check_width
from envcore_viewer.recording import recorded_bytes, resampled, steps_in, visualizer

_SECONDS = 8
_MOSAIC_FPS = 20  # frames per second of a mosaic of several environments


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
    """Records environments, renders them and writes one animation.

    Args:
      choices: one environment, or several for a mosaic.
      out: the file; its suffix decides the format.
      policy: as for `find_player`.
      steps: number of frames, each of them a step of every environment; None for eight seconds at each one's own rate.
      num_envs: number of copies of each environment.
      fps: frames per second; None for those of the environment, or 20 for a mosaic of several.
      columns: number of columns of the mosaic; None for about as many as rows.
      seed: the seed of the random key.
      height: the height of one environment's picture, in pixels.
      overlay: whether to write step, action, reward and return below.
      names: whether to write the id of each environment below its picture.

    Raises:
      EnvcoreError: an argument is invalid, an environment has no picture, or the file cannot be written.
    """
    for name, value, most in (
        ("--steps", steps, 10**6),
        ("--num-envs", num_envs, 10**4),
        ("--columns", columns, 10**4),
    ):
        if value is not None and not 1 <= value <= most:
            raise InvalidArgumentError(f"{name} must be from 1 to {most:,}, got {value}.")
    key = key_of(seed)
    made = [choice.make() for choice in choices]
    players = [find_player(policy, choice.found.spec.id, *each) for choice, each in zip(choices, made, strict=True)]
    made = [(player.env, params) for player, (_, params) in zip(players, made, strict=True)]
    out = files.checked_path(out)
    own_fps = made[0][0].render_fps if len(made) == 1 else _MOSAIC_FPS
    rate = files.nearest_fps(out.suffix, own_fps) if fps is None else fps
    pictures = [picture_struct(env, state_struct(env), params, height) for env, params in made]
    if names:
        check_width(pictures[0].shape[1] if len(made) == 1 else height)
    check_writable(out, rate, pictures[0].shape[:2] if len(made) == 1 else None)
    lengths = [steps_in(_SECONDS, env) if steps is None else steps for env, _ in made]
    each = [num_envs * recorded_bytes(env, params, height) for env, params in made]
    if steps is not None:
        memory.check_fits("--steps", steps, sum(each), memory.host_bytes())
    needed = sum(length * size for length, size in zip(lengths, each, strict=True))
    memory.check_total("--height", height, needed // num_envs, memory.host_bytes())
    memory.check_fits("--num-envs", num_envs, needed // num_envs, memory.host_bytes())
    with memory.explained("--height", height):
        titles = [choice.title for choice in choices] if names else None
        is_exact = steps is not None or (fps is not None and len(made) == 1)
        frames = _frames(made, players, key, lengths, num_envs, is_exact, rate, columns, height, overlay, titles)
    save_animation(out, frames, rate)
    count, high, wide, _ = frames.shape
    say(f"{out}: {count} frame{'s' * (count != 1)} of {wide} x {high} pixels.")


def _frames(
    made: Sequence[tuple[Any, Any]],
    players: Sequence[Player],
    key: jax.Array,
    lengths: Sequence[int],
    num_envs: int,
    is_exact: bool,
    rate: float,
    columns: int | None,
    height: int,
    overlay: bool,
    titles: Sequence[str] | None,
) -> np.ndarray:
    """Records and renders all environments, each at its own frame rate unless `is_exact`, and writes titles below."""
    videos = []
    for index, ((env, params), player, num_steps) in enumerate(zip(made, players, lengths, strict=True)):
        key, key_record = random.split(key)
        frames = _recorded_frames(env, params, player, key_record, num_steps, num_envs, len(made) > 1, height, overlay)
        if titles:
            frames = caption(frames, [titles[index]] * len(frames))
        videos.append(frames if is_exact else resampled(frames, env.render_fps, rate))
    return videos[0] if len(videos) == 1 else mosaic(videos, columns)


def _recorded_frames(
    env: Any,
    params: Any,
    player: Player,
    key: jax.Array,
    num_steps: int,
    num_envs: int,
    is_tile: bool,
    height: int,
    overlay: bool,
) -> np.ndarray:
    """Records and renders one environment; a tile is a square, which the edges of the picture are extended to fill."""
    rendered_height = fitting_height(env, (height, height)) if is_tile else height
    options = {"height": rendered_height, "overlay": overlay}
    frames = visualizer(env, params, player, key, num_steps=num_steps, num_envs=num_envs, **options).frames
    if not is_tile or num_envs > 1 or overlay:
        return frames
    return np.pad(frames, [(0, 0), *margins(frames.shape[1:], (height, height))], mode="edge")
