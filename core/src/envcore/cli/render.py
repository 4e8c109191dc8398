"""`envcore render`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console

from envcore import random, registry
from envcore.animation import check_writable, mosaic, save_animation
from envcore.cli.options import key_of
from envcore.cli.recording import SECONDS, at_pace, visualizer
from envcore.errors import RolloutError
from envcore.wrappers.pixel_observation import fitting_height

_TOGETHER = 20  # frames per second of several environments, each at its own pace


def render(
    env_ids: Sequence[str],
    out: Path,
    policy: str,
    steps: int | None,
    num_envs: int,
    fps: float | None,
    columns: int | None,
    seed: int,
    **options: Any,
) -> None:
    """Plays environments, draws them and writes one animation.

    Args:
      env_ids: one environment, or several for a mosaic.
      out: the file; its suffix decides the format.
      policy: "random", or "module:function".
      steps: frames of each environment; by default eight seconds' at its own pace.
      num_envs: copies of each environment.
      fps: frames per second; by default the environment's pace, or 20 for a mosaic of several.
      columns: of the mosaic.
      seed: of the random key.
      **options: for `Visualizer`, `height` and `overlay`.

    Raises:
      EnvcoreError: an argument makes no sense, an environment has no picture, or the file cannot be written.
    """
    for name, value in (("--steps", steps), ("--num-envs", num_envs), ("--columns", columns)):
        if value is not None and value < 1:
            raise RolloutError(f"{name} must be at least 1, got {value}.")
    key = key_of(seed)
    made = [registry.make(env_id) for env_id in env_ids]
    if fps is None:
        fps = made[0][0].render_fps if len(made) == 1 else _TOGETHER
    check_writable(out, fps)
    videos = []
    for env, params in made:
        key, key_play = random.split(key)
        num_steps = max(1, round(SECONDS * env.render_fps)) if steps is None else steps
        frames = _play(env, params, policy, key_play, num_steps, num_envs, is_tile=len(made) > 1, **options)
        videos.append(frames if len(made) == 1 else at_pace(frames, env.render_fps, fps))
    frames = videos[0] if len(videos) == 1 else mosaic(videos, columns)
    save_animation(out, frames, fps)
    height, width = frames.shape[1:3]
    Console().print(f"{out}: {len(frames)} frames of {width} x {height} pixels.", markup=False, highlight=False)


def _play(
    env: Any,
    params: Any,
    policy: str,
    key: jax.Array,
    num_steps: int,
    num_envs: int,
    is_tile: bool,
    height: int,
    overlay: bool,
) -> np.ndarray:
    """Plays and draws one environment; a tile is a square of the height, which the picture's edges fill."""
    drawn = fitting_height(env, (height, height)) if is_tile and height > 0 else height
    options = {"height": drawn, "overlay": overlay}
    frames = visualizer(env, params, policy, key, num_steps=num_steps, num_envs=num_envs, **options).frames
    if not is_tile or num_envs > 1 or overlay:
        return frames
    margins = [(height - side) // 2 for side in frames.shape[1:3]]
    ends = [height - side - margin for side, margin in zip(frames.shape[1:3], margins, strict=True)]
    return np.pad(frames, [(0, 0), *zip(margins, ends, strict=True), (0, 0)], mode="edge")
