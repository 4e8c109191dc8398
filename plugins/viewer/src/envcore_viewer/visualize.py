"""`Visualizer`: an episode as an animation, in a file or a notebook."""

from __future__ import annotations

import base64
import functools
import html
import io
import math
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore.engine import arguments
from envcore.environment import Environment

from envcore_viewer.animation import caption, check_writable, compose, files, mosaic, save_animation
from envcore_viewer.animation.timing import format_fps, fps_as_float
from envcore_viewer.errors import VisualizerError
from envcore_viewer.frames import checked_states, picture_shape, render_frames, stacked

_INLINE_FRAMES = 500
_INLINE_BYTES = 2**28  # of frames before they are compressed


class Visualizer:
    """Shows a sequence of states, as gymnax's class of this name does.

        vis = Visualizer(env, env_params, state_seq, cum_rewards)
        vis.animate("episode.gif")

    In a notebook, a `Visualizer` at the end of a cell shows its animation, of a long sequence the first 500 frames.

    Args:
      env: the environment, with the wrappers that the states come from. A `Batched` one is shown as a mosaic.
      env_params: its params, or None for its defaults.
      state_seq: a list of states, or states with a leading time axis, as `run_rollout` collects them. States with
        two leading axes, (time, num_envs), are shown as a mosaic.
      cum_rewards: the cumulative rewards, float (time,) or (time, num_envs); entry i includes the reward of the step
        from state i. The sum continues across episodes.
      action_seq: a list of actions, or actions with the states' leading axes; entry i was taken in state i.
      height: the height of one environment's picture, in pixels.
      fps: frames per second; by default `env.render_fps`, or the nearest number that the format supports.
      overlay: whether to write step, action, reward and return under the pictures, as far as they are known. Step and
        return are those of the episode.

    Raises:
      VisualizerError: `env` is not an environment; there are no states; cum_rewards or action_seq are not numbers or do
        not have one entry for each state; or `fps` is not a positive number.
      EnvironmentDefinitionError: the environment's `render` does not return a picture.
      AnimationError: the pictures are too narrow for an overlay.
      InvalidArgumentError: the states belong to another environment, or have different shapes; the height is not a
        positive integer.
      InvalidParamsError: the params belong to another environment.
      NoPictureError: the environment does not implement `render`.
    """

    def __init__(
        self,
        env: Environment,
        env_params: Any,
        state_seq: Any,
        cum_rewards: Any = None,
        action_seq: Any = None,
        *,
        height: int = 256,
        fps: float | None = None,
        overlay: bool = False,
    ):
        if not isinstance(env, Environment):
            hint = "; make returns a pair: env, params = envcore.make(...)" if isinstance(env, tuple) else ""
            raise VisualizerError(f"a Visualizer needs an Environment, got {env!r}{hint}.")
        self.env, self.height, self.overlay = env, height, overlay
        self.env_params = arguments.checked_params(env, env_params)
        self.fps = _checked_fps(env.render_fps if fps is None else fps)
        self._fps_is_given = fps is not None
        self._states, self._lead = checked_states(env, state_seq)
        self._picture_shape = picture_shape(env, self._states, self.env_params, height)
        if overlay:
            compose.check_width(self._picture_shape[1])
        self._rewards = None if cum_rewards is None else self._checked_rewards(cum_rewards)
        self._actions = None if action_seq is None else self._checked_actions(action_seq)

    @functools.cached_property
    def frames(self) -> np.ndarray:
        """The pictures, uint8 (time, height, width, 3), rendered on first access."""
        return self._rendered(self._lead[0])

    def animate(self, path: str | os.PathLike[str], fps: float | None = None) -> Path:
        """Writes the frames to a GIF, WebP, animated PNG or MP4, depending on the path's suffix.

        Args:
          path: the file.
          fps: frames per second; by default those of the `Visualizer`.

        Returns:
          The path.

        Raises:
          AnimationError: the path cannot be written to, its format does not support this frame rate or picture size, or
            there is not enough memory for the frames.
          MissingExtraError: the format needs an extra that is not installed.
        """
        path = files.checked_path(path)
        if fps is None:
            fps = self.fps if self._fps_is_given else files.nearest_fps(path.suffix, self.fps)
        check_writable(path, fps, self._frame_shape())
        save_animation(path, self.frames, fps)
        return path

    def __repr__(self) -> str:
        height, width = self._picture_shape
        total, *batch = self._lead
        many = f"{math.prod(batch)} environments, each " if batch else ""
        return f"<Visualizer of {self.env.name}: {total} frames, {many}{width} by {height} pixels>"

    def _repr_html_(self) -> str:
        """An animation that plays in the notebook, with its data inline."""
        per_frame = 3 * math.prod(self._picture_shape) * math.prod(self._lead[1:])
        total = self._lead[0]
        stop = min(total, max(1, min(_INLINE_FRAMES, _INLINE_BYTES // per_frame)))
        frames = self.frames[:stop] if stop == total or "frames" in self.__dict__ else self._rendered(stop)
        file = io.BytesIO()
        files.write(file, ".webp", frames, files.nearest_fps(".webp", self.fps))
        data = base64.b64encode(file.getbuffer()).decode()
        image = f'<img src="data:image/webp;base64,{data}" alt="{html.escape(repr(self))}" style="max-width: 100%">'
        note = f"<p>The first {stop} of {total} frames; <code>animate(path)</code> writes them all.</p>"
        return image + note if stop < total else image

    def _frame_shape(self) -> tuple[int, int]:
        """The height and width of a frame, without rendering one."""
        height, width = self._picture_shape
        total, *batch = self._lead
        if self.overlay:
            height += compose.strip_height(self._texts(total), height, width)
        return compose.mosaic_size(math.prod(batch), height, width) if batch else (height, width)

    def _rendered(self, stop: int) -> np.ndarray:
        """The frames before `stop`."""
        states = jax.tree.map(lambda x: x[:stop], self._states)
        pictures = render_frames(self.env, states, self.env_params, height=self.height)
        count, size = math.prod(self._lead[1:]), pictures.shape[-3:]
        pictures = pictures.reshape(-1, *size)
        if self.overlay:
            pictures = caption(pictures, self._texts(stop))
        pictures = pictures.reshape(stop, count, *pictures.shape[1:])
        return mosaic(pictures.swapaxes(0, 1)) if len(self._lead) > 1 else pictures[:, 0]

    def _texts(self, stop: int) -> list[str]:
        """One caption for each state before `stop`, grouped by instant."""
        parts = [[f"step {step}" for step in np.asarray(self._states.time)[:stop].ravel()]]
        if self._actions is not None:
            flat = [x[:stop].reshape(-1, *x.shape[len(self._lead) :]) for x in self._actions]
            parts.append(_action_texts(flat, self.env.action_names))
        if self._rewards is not None:
            with np.errstate(invalid="ignore"):  # rewards that are not finite are shown unchanged
                rewards = np.diff(self._rewards, axis=0, prepend=0)
                returns = self._rewards - _before_episode(np.asarray(self._states.time), self._rewards - rewards)
            digits = _digits(rewards)
            parts.append([f"reward {_decimal(x, digits)}" for x in rewards[:stop].ravel()])
            parts.append([f"return {_decimal(x, digits)}" for x in returns[:stop].ravel()])
        return ["  ".join(each) for each in zip(*parts, strict=True)]

    def _checked_rewards(self, cum_rewards: Any) -> np.ndarray:
        rewards = stacked(cum_rewards, "cum_rewards", VisualizerError)
        if _is_numeric(rewards) and rewards.shape == self._lead:
            return rewards.astype(np.float64)
        self._check_length(rewards, "cum_rewards")
        raise VisualizerError(
            f"cum_rewards must be numbers of shape {self._lead}, one for each state, "
            f"got {_described(rewards, cum_rewards)}."
        )

    def _checked_actions(self, action_seq: Any) -> list[np.ndarray]:
        actions = stacked(action_seq, "action_seq", VisualizerError)
        leaves = jax.tree.leaves(actions)
        if not leaves or not all(map(_is_numeric, leaves)):
            wrong = next((leaf for leaf in leaves if not _is_numeric(leaf)), actions)
            raise VisualizerError(
                f"action_seq must hold numbers, or trees of them, got {_described(wrong, action_seq)}."
            )
        for leaf in leaves:
            self._check_length(leaf, "action_seq")
            if leaf.shape[: len(self._lead)] != self._lead or not leaf.size:
                raise VisualizerError(
                    f"action_seq must have the leading axes {self._lead}, one action of at least one number for each "
                    f"state, got shape {leaf.shape}."
                )
        return leaves

    def _check_length(self, values: Any, what: str) -> None:
        if np.ndim(values) and len(values) != self._lead[0]:
            raise VisualizerError(
                f"{what} must have one entry for each state: state_seq has {self._lead[0]}, {what} {len(values)}."
            )


def _checked_fps(fps: Any) -> float:
    if not 0 < fps_as_float(fps) < math.inf:
        raise VisualizerError(f"fps must be a positive number of frames per second, got {format_fps(fps)}.")
    return fps_as_float(fps)


def _action_texts(leaves: list[np.ndarray], names: tuple[str, ...]) -> list[str]:
    """The captions of actions: their names if they have any, else numbers."""
    if len(leaves) == 1 and leaves[0].ndim == 1 and leaves[0].dtype.kind in "iu":
        return [names[x] if 0 <= x < len(names) else f"action {x}" for x in leaves[0]]
    flat = np.concatenate([x.reshape(len(x), -1).astype(np.float64) for x in leaves], 1)
    is_whole = all(x.dtype.kind in "biu" for x in leaves)
    digits = 0 if is_whole else _digits(flat)
    return ["action " + " ".join(_decimal(x, digits) for x in row) for row in flat]


def _before_episode(time: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The cumulative rewards before each state's episode, from the cumulative rewards before each state."""
    index = np.arange(len(time)).reshape(-1, *[1] * (time.ndim - 1))
    start = np.maximum.accumulate(np.where(time == 0, index, 0), axis=0)
    return np.take_along_axis(before, start, axis=0)


def _digits(values: np.ndarray) -> int:
    """The number of decimals that show two digits of the largest value, at least two."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0)
    return 2 if not largest else max(2, 1 - math.floor(math.log10(largest)))


def _decimal(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # never -0


def _is_numeric(values: Any) -> bool:
    """Whether these are real numbers on the host; numpy does not recognize JAX's small floats as numbers."""
    if not isinstance(values, np.ndarray):
        return False
    kind = values.dtype.kind
    return kind in "biuf" or (kind == "V" and bool(jnp.issubdtype(values.dtype, np.number)))


def _described(values: Any, given: Any) -> str:
    """Describes a sequence for an error message: the dtype and shape of `values`, or the type that was given."""
    if hasattr(values, "dtype") and (values.ndim or values.dtype.kind in "biufc"):
        return f"{values.dtype}{list(values.shape)}"
    if isinstance(given, list | tuple) and given:
        return f"a {type(given).__name__} of values of type {type(given[0]).__name__}"
    return f"a value of type {type(given).__name__}"
