"""The pictures of the original's `display_state`: the observation in its colors."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting


@painting.picture
def paint_channels(height: int, obs: jax.Array) -> jax.Array:
    """The observation, bool (10, 10, channels), as colored cells on black; where channels overlap, the last shows."""
    num_channels = obs.shape[-1]
    shown = jnp.max(jnp.where(obs, np.arange(1, num_channels + 1, dtype=np.int32)[None, None], 0), axis=-1)
    pixel = np.arange(height) * obs.shape[0] // height
    return jnp.asarray(colors(num_channels))[shown[pixel][:, pixel]]


def colors(num_channels: int) -> np.ndarray:
    """Black, and a color for each channel: uint8 (num_channels + 1, 3).

    The original takes seaborn's palette "cubehelix", which is matplotlib's table of 256 colors at evenly spaced
    places (Green 2011, "A colour scheme for the display of astronomical intensity images").
    """
    place = (np.linspace(0, 1, num_channels + 2)[1:-1] * 256).astype(int) / 255
    angle = 2 * np.pi * (0.5 / 3 - 1.5 * place)
    towards = np.array([[-0.14861, 1.78277], [-0.29227, -0.90649], [1.97294, 0.0]])
    turned = place + place * (1 - place) / 2 * (towards @ np.stack([np.cos(angle), np.sin(angle)]))
    return np.concatenate([np.zeros((1, 3)), np.rint(255 * np.clip(turned.T, 0, 1))]).astype(np.uint8)
