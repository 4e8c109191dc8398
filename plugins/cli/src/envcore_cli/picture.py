"""The picture of `envcore rollout --gif`: the only module of the command line that uses envcore-viewer."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

from envcore.suggestions import how_to_install

from envcore_cli.errors import CommandError


def check_writable(path: Path) -> None:
    """Checks, before the work starts, that a picture can be written.

    Raises:
      CommandError: envcore-viewer is not installed.
      EnvcoreError: an animation cannot be written to the path.
    """
    with _viewer():
        from envcore_viewer.animation import check_writable as check
    check(path)


def write(path: Path, env: Any, states: Any, params: Any, height: int) -> None:
    """Renders states, whose leaves have a leading time axis, and writes them at the environment's frame rate."""
    with _viewer():
        from envcore_viewer.animation import files, save_animation
        from envcore_viewer.frames import render_frames
    frames = render_frames(env, states, params, height=height)
    save_animation(path, frames, files.nearest_fps(path.suffix, env.render_fps))


@contextlib.contextmanager
def _viewer() -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "envcore_viewer":
            raise
        raise CommandError(
            f"--gif needs envcore-viewer, which is not installed: {how_to_install('envcore-viewer')}."
        ) from error
