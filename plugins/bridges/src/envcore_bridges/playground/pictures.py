"""Pictures by MuJoCo's own renderer, which draws with OpenGL on the host."""

from __future__ import annotations

import copy
import functools
from typing import Any

import jax
import numpy as np
from envcore.errors import NoPictureError

from envcore_bridges.base import paint_on_host

_ASPECT = 4 / 3
_DRAWN = ("mocap_pos", "mocap_quat", "qpos", "qvel", "xfrc_applied")


def paint(model: Any, data: Any, height: int, name: str) -> jax.Array:
    """What the model's first camera shows, or MuJoCo's free camera where it has none.

    Args:
      model: a `mujoco.MjModel`.
      data: MJX's `Data`.
      height: in pixels; the width is 4/3 of it.
      name: of the environment, for the error.

    Raises:
      NoPictureError: MuJoCo finds no OpenGL.
    """
    from envcore.painting import checked_height  # late: making an environment runs no painting code

    height = checked_height(height)
    problem = _problem_of_opengl()
    if problem:
        raise NoPictureError(
            f"MuJoCo Playground's {name} cannot be rendered: MuJoCo finds no OpenGL ({problem}). On a machine without "
            "a display set MUJOCO_GL=egl or MUJOCO_GL=osmesa before Python starts."
        )
    shape = (height, max(1, round(_ASPECT * height)))
    draw = functools.partial(_draw, _with_room(model, shape), shape)
    return paint_on_host(draw, {field: getattr(data, field) for field in _DRAWN}, shape)


def _draw(model: Any, shape: tuple[int, int], fields: dict[str, np.ndarray]) -> np.ndarray:
    import mujoco

    data: Any = mujoco.MjData(model)  # pyright: ignore[reportAttributeAccessIssue]
    for name, value in fields.items():
        setattr(data, name, np.asarray(value))
    mujoco.mj_forward(model, data)  # pyright: ignore[reportAttributeAccessIssue]
    # A context of OpenGL belongs to a thread, and the runtime calls from several.
    with mujoco.Renderer(model, *shape) as renderer:
        renderer.update_scene(data, camera=0 if model.ncam else -1)
        return renderer.render()


def _with_room(model: Any, shape: tuple[int, int]) -> Any:
    """The model with a buffer for a picture of this height and width."""
    model = copy.copy(model)
    size = model.vis.global_
    size.offheight, size.offwidth = max(size.offheight, shape[0]), max(size.offwidth, shape[1])
    return model


@functools.cache
def _problem_of_opengl() -> str:
    """Why MuJoCo cannot draw here; empty if it can."""
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco/>")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        mujoco.Renderer(model, 1, 1).close()
    except Exception as error:  # which one, depends on the library of OpenGL
        return str(error)
    return ""
