"""`Visualizer`: animate episodes in a file or a notebook."""

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
from envcore import trees
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError, one_line
from envcore.rendering import picture_struct, render_instant

from envcore_viewer import animation

_INLINE_FRAMES = 500
_INLINE_BYTES = 2**28  # of uncompressed frames
_CHUNK = 64  # frames per call, so that one compiled program renders sequences of any length
_CHUNK_BYTES = 2**25


class Visualizer:
    """Animates a sequence of states. Works like gymnax's `Visualizer`.

        vis = Visualizer(env, env_params, state_seq, cum_rewards)
        vis.animate("episode.gif")

    In a notebook, put the `Visualizer` at the end of a cell to see the animation. Of long sequences it shows the first
    500 frames.

    Args:
      env: the environment that the states come from, including its wrappers. A `Batched` one is shown as a mosaic.
      env_params: the environment's params, or None for the defaults.
      state_seq: a list of states, or states with a leading time axis, as `run_rollout` collects them. States with
        two leading axes, (time, num_envs), are shown as a mosaic.
      cum_rewards: the cumulative rewards, float (time,) or (time, num_envs). Entry i includes the reward of the step
        from state i. The sum continues across episodes.
      action_seq: a list of actions, or actions with the states' leading axes. Entry i was taken in state i.
      height: height of each environment's picture in pixels.
      fps: frames per second. The default is `env.render_fps`, or the nearest rate that the format supports.
      overlay: whether to show step, action, reward and return below the pictures. Action, reward and return need
        `action_seq` and `cum_rewards`. Step and return start anew in each episode.

    Raises:
      InvalidArgumentError: `env` is not an environment, there are no states, the states belong to another environment,
        `cum_rewards` or `action_seq` are not numbers or do not have one entry per state, or the height is not a
        positive integer.
      AnimationError: `fps` is not a number of at least 0.01.
      EnvironmentDefinitionError: the environment's `render` does not return a picture.
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
            hint = " (make returns a pair: env, params = envcore.make(...))" if isinstance(env, tuple) else ""
            raise InvalidArgumentError(f"a Visualizer needs an Environment, got {env!r}{hint}.")
        self.env, self.height, self.overlay = env, height, overlay
        self.env_params = arguments.checked_params(env, env_params)
        self.fps = animation.checked_fps(env.render_fps if fps is None else fps)
        self._states, self._lead = _checked_states(env, state_seq)
        first = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), self._states)
        self._picture_shape = picture_struct(env, first, self.env_params, height).shape[-3:]
        self._rewards = None if cum_rewards is None else self._numbers(cum_rewards, "cum_rewards")[0]
        self._actions = None if action_seq is None else self._numbers(action_seq, "action_seq")

    @functools.cached_property
    def frames(self) -> np.ndarray:
        """The rendered frames, uint8 (time, height, width, 3). They are rendered on first access."""
        return self._rendered(self._lead[0])

    def animate(self, path: str | os.PathLike[str], fps: float | None = None) -> Path:
        """Writes the frames to a GIF, WebP, animated PNG or MP4 file, depending on the suffix.

        Args:
          path: the output file.
          fps: frames per second. The default is the `fps` of the `Visualizer`.

        Returns:
          The path.

        Raises:
          AnimationError, FileError: as for `envcore_viewer.animation.save_animation`. The path is checked before
            rendering.
          AnimationError: the pictures are too narrow for an overlay.
        """
        fps = self.fps if fps is None else fps
        path = animation.check_writable(path, fps)
        animation.save_animation(path, self.frames, fps)
        return path

    def __repr__(self) -> str:
        height, width, _ = self._picture_shape
        total, *batch = self._lead
        many = f"{math.prod(batch)} environments, each " if batch else ""
        return f"<Visualizer of {self.env.name}: {total} frames, {many}{width} by {height} pixels>"

    def _repr_html_(self) -> str:
        """Returns HTML with an inline animation, for notebooks."""
        total, *batch = self._lead
        per_frame = math.prod(self._picture_shape) * math.prod(batch)
        stop = min(total, max(1, min(_INLINE_FRAMES, _INLINE_BYTES // per_frame)))
        file = io.BytesIO()
        animation.write(file, ".webp", self.frames if stop == total else self._rendered(stop), self.fps)
        data = base64.b64encode(file.getbuffer()).decode()
        image = f'<img src="data:image/webp;base64,{data}" alt="{html.escape(repr(self))}" style="max-width: 100%">'
        note = f"<p>The first {stop} of {total} frames. <code>animate(path)</code> writes them all.</p>"
        return image + note if stop < total else image

    def _rendered(self, stop: int) -> np.ndarray:
        """Renders the frames before `stop` in chunks, which needs little more memory than the result."""
        pictures = np.empty((stop, *self._lead[1:], *self._picture_shape), np.uint8)
        chunk = int(np.clip(_CHUNK_BYTES // pictures[0].nbytes, 1, _CHUNK))
        for start in range(0, stop, chunk):
            part = pictures[start : start + chunk]
            at = np.minimum(np.arange(start, start + chunk), self._lead[0] - 1)  # all chunks have one size
            states = jax.tree.map(lambda x, at=at: x[at], self._states)
            part[...] = np.asarray(_render(self.env, states, self.env_params, self.height))[: len(part)]
        pictures = pictures.reshape(-1, *self._picture_shape)
        if self.overlay:
            pictures = animation.caption(pictures, self._texts(stop))
        pictures = pictures.reshape(stop, -1, *pictures.shape[1:])
        return animation.mosaic(pictures.swapaxes(0, 1)) if len(self._lead) > 1 else pictures[:, 0]

    def _texts(self, stop: int) -> list[str]:
        """Returns a caption for each state before `stop`, ordered by time."""
        parts = [[f"step {step}" for step in np.asarray(self._states.time)[:stop].ravel()]]
        if self._actions is not None:
            flat = [x[:stop].reshape(-1, *x.shape[len(self._lead) :]) for x in self._actions]
            parts.append(_action_texts(flat, self.env.action_names))
        if self._rewards is not None:
            with np.errstate(invalid="ignore"):  # rewards that are not finite are shown unchanged
                total = self._rewards.astype(np.float64)
                rewards = np.diff(total, axis=0, prepend=0)
                returns = total - _before_episode(np.asarray(self._states.time), total - rewards)
            digits = _digits(rewards)
            parts.append([f"reward {_decimal(x, digits)}" for x in rewards[:stop].ravel()])
            parts.append([f"return {_decimal(x, digits)}" for x in returns[:stop].ravel()])
        return ["  ".join(each) for each in zip(*parts, strict=True)]

    def _numbers(self, sequence: Any, what: str) -> list[np.ndarray]:
        """Returns the leaves of rewards or actions, and checks that they have the states' leading axes."""
        leaves = jax.tree.leaves(_stacked(sequence, what))
        axes = len(self._lead)
        for leaf in leaves or [np.empty(0)]:
            is_number = trees.kind(leaf.dtype) in ("bool", "integer", "float")
            if not is_number or leaf.shape[:axes] != self._lead or (what == "cum_rewards" and leaf.ndim != axes):
                raise InvalidArgumentError(
                    f"{what} must be numbers, one entry per state, with the leading axes {self._lead}, "
                    f"got {leaf.dtype} {leaf.shape}."
                )
        return leaves


@functools.partial(jax.jit, static_argnums=(0, 3))
def _render(env: Environment, states: Any, params: Any, height: int) -> jax.Array:
    return jax.lax.map(lambda state: render_instant(env, state, params, height), states)


def _checked_states(env: Environment, state_seq: Any) -> tuple[Any, tuple[int, ...]]:
    """Returns the states as one tree with the dtypes of `reset`, and their leading axes (time,) or (time, n)."""
    struct, what = arguments.state_struct(env), f"{env.name}'s states"
    states = _stacked(state_seq, "state_seq")
    if jax.tree.structure(states) != jax.tree.structure(struct):
        trees.conform(states, struct, what, InvalidArgumentError)  # raises an error that explains the difference
    time = np.shape(states.time)
    lead = time[: len(time) - len(env.batch_shape)]
    if len(lead) not in (1, 2) or not all(time):
        batch = f", before the batch's {env.batch_shape}" if env.batch_shape else ""
        advice = " Put a single state in a list." if time == env.batch_shape else ""
        raise InvalidArgumentError(
            f"{what} must have a leading time axis, and at most one more axis for several environments{batch}: "
            f"got time of shape {time}.{advice}"
        )
    expected = jax.tree.map(lambda x: jax.ShapeDtypeStruct((*lead, *x.shape), x.dtype), struct)
    return trees.conform(states, expected, what, InvalidArgumentError), time


def _stacked(sequence: Any, what: str) -> Any:
    """Returns a list of equal trees, or a tree that already has a time axis, as one tree on the host."""
    if not isinstance(sequence, list):
        return jax.tree.map(lambda x: x if trees.is_key(x) else np.asarray(x), sequence)
    if not sequence:
        raise InvalidArgumentError(f"{what} is empty: there is nothing to show.")
    try:
        return jax.tree.map(lambda *x: jnp.stack(x) if trees.is_key(x[0]) else np.stack(x), *sequence)
    except (TypeError, ValueError) as error:
        message = f"{what} must hold values of the same structure and shape: {one_line(error)}"
        raise InvalidArgumentError(message) from error


def _action_texts(leaves: list[np.ndarray], names: tuple[str, ...]) -> list[str]:
    """Returns captions with the names of actions, or numbers if they have no names."""
    if len(leaves) == 1 and leaves[0].ndim == 1 and leaves[0].dtype.kind in "iu":
        return [names[x] if 0 <= x < len(names) else f"action {x}" for x in leaves[0]]
    flat = np.concatenate([x.reshape(len(x), -1).astype(np.float64) for x in leaves], 1)
    is_whole = all(x.dtype.kind in "biu" for x in leaves)
    digits = 0 if is_whole else _digits(flat)
    return ["action " + " ".join(_decimal(x, digits) for x in row) for row in flat]


def _before_episode(time: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Returns the cumulative rewards before each state's episode, given those before each state."""
    index = np.arange(len(time)).reshape(-1, *[1] * (time.ndim - 1))
    start = np.maximum.accumulate(np.where(time == 0, index, 0), axis=0)
    return np.take_along_axis(before, start, axis=0)


def _digits(values: np.ndarray) -> int:
    """Returns the number of decimals that shows two digits of the largest value, at least two."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0)
    return 2 if not largest else max(2, 1 - math.floor(math.log10(largest)))


def _decimal(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}"  # never -0
