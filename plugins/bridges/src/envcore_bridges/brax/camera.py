"""Where the camera of a picture of brax's bodies stands: found from the system, before anything is compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

_MARGIN = 0.08  # around the bodies, as a share of their size


class View(NamedTuple):
    """An orthographic camera.

    Attributes:
      right, up, toward: unit vectors to the right and up in the picture, and toward the camera.
      extent: what the picture shows to the right and up, ((left, right), (low, high)), about what the camera follows.
      follows: 1 for an axis along which the camera follows the first link, else 0.
      floor: height of the ground; None if there is none.
      size: of the bodies.
    """

    right: np.ndarray
    up: np.ndarray
    toward: np.ndarray
    extent: tuple[tuple[float, float], tuple[float, float]]
    follows: np.ndarray
    floor: float | None
    size: float

    def project(self, point: Any) -> tuple[Any, Any]:
        """Where a point is in the picture."""
        return jnp.dot(point, self.right), jnp.dot(point, self.up)

    def on_floor(self, u: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The point (x, y) of the ground that is seen at a place of the picture."""
        assert self.floor is not None
        depth = (v - self.floor * self.up[2]) / (self.up[0] ** 2 + self.up[1] ** 2)
        return u * self.right[0] + depth * self.up[0], u * self.right[1] + depth * self.up[1]


def view(system: Any, shown: np.ndarray, planes: np.ndarray) -> View:
    """The camera: beside what moves in a vertical plane, above what moves in a level one, else above and beside."""
    turns, slides = (np.abs(np.asarray(part)) for part in (system.dof.motion.ang, system.dof.motion.vel))
    if turns[:, :2].max() < 0.1 and slides[:, 2].max() < 0.1:
        right, up = _camera(0.0, np.pi / 2)
    elif turns[:, [0, 2]].max() < 0.1 and slides[:, 1].max() < 0.1:
        right, up = _camera(0.0, 0.2)
    else:
        right, up = _camera(0.5, 0.5)
    limits = system.dof.limit
    is_free = np.ones(len(slides), bool) if limits is None else np.isinf(np.asarray(limits[0]))
    of_first = np.arange(len(slides)) < {"f": 6}.get(system.link_types[0], 3)
    follows = np.array([bool((slides[:, axis] > 0.5)[is_free & of_first].any()) for axis in (0, 1)] + [False])
    lower, upper = _bounds(system, shown, follows)
    size = float(np.max(upper - lower))
    lower, upper = lower - _MARGIN * size, upper + _MARGIN * size
    corners = np.array(np.meshgrid(*zip(lower, upper, strict=True))).reshape(3, -1).T
    across, along = corners @ right, corners @ up
    extent = (float(across.min()), float(across.max())), (float(along.min()), float(along.max()))
    floor = float(np.asarray(system.geom_pos)[planes[0], 2]) if len(planes) else None
    return View(right, up, np.cross(right, up), extent, follows.astype(np.float32), floor, size)


def turned(vector: jax.Array, quaternion: jax.Array) -> jax.Array:
    """The vector rotated by a unit quaternion (w, x, y, z)."""
    w, axis = quaternion[0], quaternion[1:]
    twice = 2 * jnp.cross(axis, vector)
    return vector + w * twice + jnp.cross(axis, twice)


def _camera(azimuth: float, elevation: float) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors to the right and up for a camera that looks along y, turned to the left and raised."""
    right = np.array([np.cos(azimuth), np.sin(azimuth), 0], np.float32)
    level = np.array([-np.sin(azimuth), np.cos(azimuth), 0], np.float32)
    up = np.sin(elevation) * level + np.cos(elevation) * np.array([0, 0, 1], np.float32)
    return right, up.astype(np.float32)


def _bounds(system: Any, shown: np.ndarray, follows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A box around the bodies, as they are modeled and as they begin, about the first link where it is followed."""
    import mujoco

    model, lower, upper = system.mj_model, [], []
    for q in (model.qpos0, np.asarray(system.init_q)):
        data = mujoco.MjData(model)  # pyright: ignore[reportAttributeAccessIssue]
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)  # pyright: ignore[reportAttributeAccessIssue]
        places = data.geom_xpos[shown] - np.where(follows, data.xpos[1], 0)
        reach = model.geom_rbound[shown, None]
        lower.append((places - reach).min(0))
        upper.append((places + reach).max(0))
    return np.min(lower, 0), np.max(upper, 0)
