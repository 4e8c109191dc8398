"""`PixelObservation`: pictures as observations."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import checks, spaces
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rendering import fitting_height, margins
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper

# Red, green and blue of ITU-R BT.601's luma, in 256ths: integers are exact, and vectorize in 16 bits.
_LUMA = (77, 150, 29)


@dataclasses.dataclass(frozen=True)
class PixelObservation(Wrapper):
    """Observes the environment's picture: uint8 (height, width, 3), or (height, width) in gray levels.

    The picture is scaled to fit `size`, keeps its aspect ratio and is centered; its edge pixels are repeated up to the
    border. It shows what `render` shows, which may be more than the environment's own observation does,
    such as a hidden goal, or less, such as velocities: for those, stack the last pictures,
    `FrameStack(PixelObservation(env, grayscale=True), 4)`, uint8 (4, height, width).

    Attributes:
      size: height and width in pixels.
      grayscale: gray levels instead of colors.

    Raises:
      NoPictureError: the environment has no picture.
      EnvironmentDefinitionError: what its `render` returns is not a picture.
      InvalidArgumentError: size is not a pair of positive integers, or the picture cannot be made to fit into it.
      ValueError: grayscale is not a bool.
    """

    env: Environment
    size: tuple[int, int] = (84, 84)
    grayscale: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _checked_size(self.size))
        object.__setattr__(self, "grayscale", checks.flag("grayscale", self.grayscale))
        fitting_height(self.env, self.size)

    def observation_space(self, params: PyTree) -> spaces.Space:
        return self.batch_space(spaces.Box(0, 255, self.size if self.grayscale else (*self.size, 3), np.uint8))

    def observe(self, state: PyTree, params: PyTree) -> jax.Array:
        picture = self.env.render(state, params, height=fitting_height(self.env, self.size))
        return self.over_batch(self._framed)(picture)

    def _framed(self, picture: jax.Array) -> jax.Array:
        if self.grayscale:
            levels = picture.astype(jnp.uint16)
            red, green, blue = (levels[..., i] * np.uint16(weight) for i, weight in enumerate(_LUMA))
            picture = ((red + green + blue + np.uint16(128)) >> np.uint16(8)).astype(jnp.uint8)
        return jnp.pad(picture, margins(picture.shape, self.size), mode="edge")


def _checked_size(size: Any) -> tuple[int, int]:
    try:
        height, width = (checks.positive_integer("a side", side) for side in size)
    except (TypeError, ValueError):
        message = f"size must be a height and a width in pixels, for example (84, 84), got {size!r}."
        raise InvalidArgumentError(message) from None
    return height, width
