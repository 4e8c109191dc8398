"""Pictures of graphs, for which the library's viewers take many seconds."""

from __future__ import annotations

import colorsys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting

_NODE, _LINE = 0.075, 0.006  # radius and half width, where the nodes' circle has the radius 1
_NUM_HUES = 64


def paint_coloring(obs: dict[str, Any], height: int) -> jax.Array:
    """GraphColoring: nodes in their colors, or white; the next one has a thick edge."""
    colors, node = obs["colors"], obs["current_node_index"]
    fill = jnp.where((colors < 0)[:, None], np.float32(255), jnp.asarray(_hues())[colors % _NUM_HUES])
    return _paint_graph(obs["adj_matrix"], fill, jnp.arange(colors.size) == node, height)


def paint_trees(obs: dict[str, Any], height: int) -> jax.Array:
    """MMST: an agent's nodes in its color, pale until they are connected; agents are at the thick edges."""
    types = obs["node_types"]
    hue = jnp.asarray(_hues())[(types // 2) % _NUM_HUES]
    pale = (hue + 2 * np.float32(255)) / 3
    fill = jnp.where((types < 0)[:, None], np.float32(190), jnp.where((types % 2 == 0)[:, None], hue, pale))
    here = (jnp.arange(types.size)[:, None] == obs["positions"][None]).any(axis=1)
    return _paint_graph(obs["adj_matrix"] != 0, fill, here, height)


def _paint_graph(adjacency: jax.Array, fill: jax.Array, marked: jax.Array, height: int) -> jax.Array:
    """Nodes on a circle, filled with levels, float32 (nodes, 3), and the edges between them."""
    angles = 2 * np.pi * np.arange(len(fill)) / len(fill)
    xs, ys = (places.astype(np.float32)[None, None] for places in (np.sin(angles), np.cos(angles)))
    radius = min(_NODE, 0.8 * np.pi / len(fill))

    def distances(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.hypot(x[..., None] - xs, y[..., None] - ys)

    def disc(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.min(distances(x, y), axis=-1) - np.float32(radius)

    def rim(x: jax.Array, y: jax.Array) -> jax.Array:
        width = jnp.where(marked, np.float32(4 * _LINE), np.float32(_LINE))
        return jnp.min(jnp.abs(distances(x, y) - np.float32(radius)) - width[None, None], axis=-1)

    def levels(x: jax.Array, y: jax.Array) -> painting.Color:
        nearest = jnp.argmin(distances(x, y), axis=-1)
        return fill[:, 0][nearest], fill[:, 1][nearest], fill[:, 2][nearest]

    window = painting.Window.around(x=(-1.15, 1.15), y=(-1.15, 1.15))
    lines = _lines(adjacency, xs, ys)
    return painting.paint(height, window, (lines, painting.STONE), (disc, levels), (rim, painting.INK))


def _lines(adjacency: jax.Array, xs: np.ndarray, ys: np.ndarray) -> painting.Shape:
    starts, ends = np.triu_indices(len(adjacency), 1)
    is_edge = (adjacency[starts, ends] | adjacency[ends, starts])[None, None]
    x0, y0 = xs[..., starts], ys[..., starts]
    dx, dy = xs[..., ends] - x0, ys[..., ends] - y0
    scale = 1 / (dx * dx + dy * dy)

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        x, y = x[..., None] - x0, y[..., None] - y0
        share = jnp.clip((x * dx + y * dy) * scale, 0, 1)
        squared = (x - share * dx) ** 2 + (y - share * dy) ** 2
        return jnp.sqrt(jnp.min(jnp.where(is_edge, squared, np.float32(np.inf)), axis=-1)) - np.float32(_LINE)

    return distance


def _hues() -> np.ndarray:
    """Colors that differ much from those before: float32 (_NUM_HUES, 3)."""
    turns = np.arange(_NUM_HUES) * 0.618034
    return np.array([colorsys.hsv_to_rgb(turn % 1, 0.65, 0.9) for turn in turns], np.float32) * 255
