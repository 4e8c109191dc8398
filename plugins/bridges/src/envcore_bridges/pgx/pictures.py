"""Pictures of Pgx's games: uint8 (height, height, 3)."""

from __future__ import annotations

import colorsys

import jax
import jax.numpy as jnp
import numpy as np

from envcore_bridges.base import resized

_TILE, _GAP = 36, 4  # pixels
_BOARD_COLOR, _EMPTY_COLOR, _DARK, _LIGHT = (187, 173, 160), (205, 193, 180), (90, 80, 70), (250, 248, 244)
_MAX_EXPONENT = 17  # 2 ** 17 is the highest tile that can be reached

# Each digit in three columns and five rows, a row an octal digit.
_DIGITS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71111", "75757", "75717")


def paint_2048(board: jax.Array, height: int) -> jax.Array:
    """The board, exponents of two in int32 (16,), as tiles with their numbers."""
    tiles = jnp.asarray(_tiles())[jnp.clip(board, 0, _MAX_EXPONENT).reshape(4, 4)]
    side = 4 * (_TILE + _GAP)
    picture = tiles.transpose(0, 2, 1, 3, 4).reshape(side, side, 3)
    edge = jnp.broadcast_to(jnp.asarray(_BOARD_COLOR, jnp.uint8), (side + _GAP, side + _GAP, 3))
    return resized(edge.at[_GAP:, _GAP:].set(picture), height)


def paint_cells(obs: jax.Array, height: int) -> jax.Array:
    """The observation, bool (rows, columns, channels), as colored cells on black; the last of several shows."""
    channels = obs.shape[-1]
    shown = jnp.max(jnp.where(obs, np.arange(1, channels + 1, dtype=np.int32)[None, None], 0), axis=-1)
    return resized(jnp.asarray(_colors(channels))[shown], height)


def _colors(channels: int) -> np.ndarray:
    """Black, and a hue for each channel: uint8 (channels + 1, 3)."""
    hues = [colorsys.hsv_to_rgb(0.13 + channel / channels, 0.6, 0.95) for channel in range(channels)]
    return np.rint(255 * np.array([(0, 0, 0), *hues])).astype(np.uint8)


def _tiles() -> np.ndarray:
    """A picture of each exponent's tile, with a gap below and to the right of it."""
    pictures = np.full((_MAX_EXPONENT + 1, _TILE + _GAP, _TILE + _GAP, 3), _BOARD_COLOR, np.uint8)
    for exponent, picture in enumerate(pictures):
        tile = picture[:_TILE, :_TILE]
        if exponent == 0:
            tile[:] = _EMPTY_COLOR
            continue
        strength = min(exponent / 11, 1.0)
        tile[:] = np.rint(255 * np.array(colorsys.hsv_to_rgb(0.12 - 0.1 * strength, 0.15 + 0.65 * strength, 0.93)))
        ink = _ink(str(2**exponent))
        top, left = (np.array([_TILE, _TILE]) - ink.shape) // 2
        inside = tile[top : top + ink.shape[0], left : left + ink.shape[1]]
        inside[ink] = _DARK if exponent < 5 else _LIGHT
    return pictures


def _ink(number: str) -> np.ndarray:
    """Where a number's digits are: bool (rows, columns)."""
    bits = [[[int(row) >> shift & 1 for shift in (2, 1, 0)] for row in _DIGITS[int(digit)]] for digit in number]
    spaced = [np.pad(np.array(digit, bool), ((0, 0), (0, 1))) for digit in bits]
    scale = 2 if len(number) <= 4 else 1
    return np.concatenate(spaced, axis=1)[:, :-1].repeat(scale, 0).repeat(scale, 1)
