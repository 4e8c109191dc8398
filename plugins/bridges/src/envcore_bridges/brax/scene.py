"""Paints brax's bodies by an orthographic camera: spheres, capsules and boxes, their shadows, and a floor of squares.

Spheres, capsules and boxes have exact outlines in such a picture. Cylinders are painted as capsules of their length,
and meshes are left out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from jax import lax

from envcore_bridges.brax.camera import View, turned, view

_PLANE, _SPHERE, _CAPSULE, _CYLINDER, _BOX = 0, 2, 3, 5, 6  # MuJoCo's types of geometries
_SOLIDS = (_SPHERE, _CAPSULE, _CYLINDER, _BOX)
_ASPECT = 4 / 3
_LIGHT, _DARK, _SHADOW = (236, 234, 228), (222, 219, 211), (170, 167, 160)
_RIM = 0.55  # the brightness of an outline


class Solids(NamedTuple):
    """What is painted: capsules, or boxes where the half sizes are not zero.

    Attributes:
      ends: the ends of a capsule's axis, float32 (n, 2, 3); both are the center of a sphere or box.
      radius: float32 (n,).
      half: half sizes of a box, float32 (n, 3).
      axes: its axes, float32 (n, 3, 3).
      color: float32 (n, 3).
    """

    ends: Any
    radius: Any
    half: Any
    axes: Any
    color: Any


@painting.picture
def paint_bodies(height: int, place: Any, *, env: Any) -> jax.Array:
    """Paints the bodies of an environment of brax in their places, a `Transform` of each link."""
    system = env.library_env.unwrapped.sys
    with jax.ensure_compile_time_eval():
        kinds, visible = np.asarray(system.geom_type), np.asarray(system.geom_rgba)[:, 3] > 0
        shown = np.flatnonzero(np.isin(kinds, _SOLIDS) & visible)
        look = view(system, shown, np.flatnonzero(kinds == _PLANE))
        solids = _solids(system, kinds[shown], shown)
    bodies = np.asarray(system.geom_bodyid)[shown]  # body 0 is the world, body 1 is link 0
    origins = jnp.concatenate([jnp.zeros((1, 3)), place.pos])[bodies]
    turns = jnp.concatenate([jnp.asarray([[1.0, 0.0, 0.0, 0.0]]), place.rot])[bodies]
    turn_all = jax.vmap(jax.vmap(turned, (0, None)), (0, 0))
    solids = solids._replace(ends=origins[:, None] + turn_all(solids.ends, turns), axes=turn_all(solids.axes, turns))
    order = jnp.argsort(jnp.dot(solids.ends.mean(1), look.toward))  # the nearest last
    solids = jax.tree.map(lambda x: jnp.asarray(x)[order], solids)

    (left, right), (low, high) = look.extent
    u, v = (jnp.dot(place.pos[0] * look.follows, axis) for axis in (look.right, look.up))
    window = painting.Window.around(x=(u + left, u + right), y=(v + low, v + high), aspect=_ASPECT)
    return painting.paint(height, window, (_everywhere, _scene(solids, look, window.height / height)))


def _everywhere(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.full(jnp.broadcast_shapes(x.shape, y.shape), np.float32(-np.inf))


def _scene(solids: Solids, look: View, pixel: Any) -> painting.Paint:
    """The floor, the shadows on it, and the solids over each other. One loop paints all, so that it compiles fast."""

    def levels(x: jax.Array, y: jax.Array) -> painting.Color:
        def cover(planes: jax.Array, distance: jax.Array, tint: Any) -> jax.Array:
            share = jnp.clip(np.float32(0.5) - distance / pixel, 0, 1)[None]
            return planes + share * (jnp.reshape(jnp.asarray(tint, jnp.float32), (3, 1, 1)) - planes)

        def add(planes: jax.Array, solid: Solids) -> tuple[jax.Array, None]:
            distance = _outline(solid, look)(x, y)
            inset = jnp.minimum(np.float32(look.size / 200), np.float32(0.3) * (solid.radius + solid.half.max()))
            return cover(cover(planes, distance, _RIM * solid.color), distance + inset, solid.color), None

        paper = np.asarray(painting.PAPER, np.float32)[:, None, None]
        planes = jnp.broadcast_to(jnp.asarray(paper), (3, *jnp.broadcast_shapes(x.shape, y.shape)))
        if look.floor is not None:
            ground = look.on_floor(x, y)
            steepness = np.float32(np.hypot(look.up[0], look.up[1]))
            planes = jnp.stack([jnp.where(_is_dark(ground, look.size), dark, light) for dark, light in _TILES])
            shadow = lax.scan(
                lambda least, solid: (jnp.minimum(least, _shadow(solid)(*ground)), None),
                jnp.full(planes.shape[1:], np.float32(np.inf)),
                solids,
            )[0]
            planes = cover(planes, shadow * steepness, _SHADOW)
        planes, _ = lax.scan(add, planes, solids)
        return planes[0], planes[1], planes[2]

    return levels


_TILES = [(np.float32(dark), np.float32(light)) for dark, light in zip(_DARK, _LIGHT, strict=True)]


def _is_dark(ground: tuple[jax.Array, jax.Array], size: float) -> jax.Array:
    square = np.float32(2.0 ** np.round(np.log2(size / 6)))
    return (jnp.floor(ground[0] / square) + jnp.floor(ground[1] / square)) % 2 < np.float32(0.5)


def _shadow(solid: Solids) -> painting.Shape:
    start, end = solid.ends
    return painting.segment((start[0], start[1]), (end[0], end[1]), solid.radius + solid.half[:2].max())


def _outline(solid: Solids, look: View) -> painting.Shape:
    (u0, v0), (u1, v1) = (look.project(end) for end in solid.ends)
    capsule = painting.segment((u0, v0), (u1, v1), solid.radius)
    # A box projects to a hexagon whose edges are parallel to the projections of the box's axes.
    edges = [look.project(axis * half) for axis, half in zip(solid.axes, solid.half, strict=True)]

    def hexagon(x: jax.Array, y: jax.Array) -> jax.Array:
        distance = jnp.full(jnp.broadcast_shapes(x.shape, y.shape), np.float32(-np.inf))
        for dx, dy in edges:
            scale = lax.rsqrt(jnp.maximum(dx * dx + dy * dy, np.float32(1e-12)))
            nx, ny = -dy * scale, dx * scale
            reach = sum((jnp.abs(nx * ex + ny * ey) for ex, ey in edges), jnp.float32(0))
            distance = jnp.maximum(distance, jnp.abs((x - u0) * nx + (y - v0) * ny) - reach)
        return distance

    return lambda x, y: jnp.where(solid.half.max() > 0, hexagon(x, y), capsule(x, y))


def _solids(system: Any, kinds: np.ndarray, shown: np.ndarray) -> Solids:
    """The solids in the frames of their links."""
    sizes, places, turns = (jnp.asarray(x)[shown] for x in (system.geom_size, system.geom_pos, system.geom_quat))
    is_long, is_box = np.isin(kinds, (_CAPSULE, _CYLINDER)), kinds == _BOX
    rounding = np.where(kinds == _CYLINDER, 1.0, 0.0).astype(np.float32)  # a cylinder's round ends lie within it
    half = jnp.where(is_long, jnp.maximum(sizes[:, 1] - rounding * sizes[:, 0], 0), 0)
    axes = jax.vmap(jax.vmap(turned, (0, None)), (None, 0))(jnp.eye(3), turns)
    offset = half[:, None] * axes[:, 2]
    return Solids(
        ends=jnp.stack([places - offset, places + offset], 1),
        radius=jnp.where(is_box, 0, sizes[:, 0]),
        half=jnp.where(is_box[:, None], sizes, 0),
        axes=axes,
        color=_colors(np.asarray(system.geom_rgba, np.float32)[shown, :3]),
    )


def _colors(colors: np.ndarray) -> np.ndarray:
    """The model's colors, float32 (n, 3) up to 255; blue where it leaves MuJoCo's gray or brax's brown."""
    plain = [np.abs(colors - np.array(each, np.float32)).max(1) < 0.02 for each in ((0.5,) * 3, (0.4, 0.33, 0.26))]
    return np.where((plain[0] | plain[1])[:, None], np.array(painting.BLUE, np.float32), colors * 255).astype(
        np.float32
    )
