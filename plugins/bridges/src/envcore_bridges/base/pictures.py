"""Call the libraries' renderers from compiled programs."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore.errors import NoPictureError

from envcore_bridges.base.loading import default_numerics


def paint_on_host(draw: Callable[[Any, tuple[int, int]], Any], tree: Any, height: int, aspect: float) -> jax.Array:
    """Renders with a Python function, such as Matplotlib, under `jit` and `vmap`. Returns uint8 (height, width, 3).

    Args:
      draw: takes a state as numpy arrays and (height, width) in pixels, and returns an image, uint8 (rows, columns, 3).
        If the image has a different size, it is resized. Called for one state at a time.
      tree: the state, a pytree of arrays.
      height: height in pixels.
      aspect: width divided by height.

    Raises:
      InvalidArgumentError: the height is not a positive integer.
    """
    from envcore.painting import checked_height  # late, because not every environment is rendered

    shape = checked_height(height), max(1, round(aspect * height))

    def drawn(tree: Any) -> Any:
        # Renderers may use JAX, and the default device is blocked by this callback.
        with default_numerics(), jax.default_device(jax.devices("cpu")[0]):
            return _nearest(np.asarray(draw(jax.tree.map(np.asarray, tree), shape)), shape)

    return jax.pure_callback(drawn, jax.ShapeDtypeStruct((*shape, 3), jnp.uint8), tree, vmap_method="sequential")


def resized(picture: jax.Array, height: int) -> jax.Array:
    """Resizes an image, uint8 (rows, columns, 3), by nearest-neighbor sampling. Keeps the aspect ratio."""
    from envcore.painting import checked_height  # late, because not every environment is rendered

    height, (rows, columns, _) = checked_height(height), picture.shape
    return _nearest(picture, (height, max(1, round(columns * height / rows))))


def pixels_of(figure: Any) -> np.ndarray:
    """Renders a Matplotlib figure as uint8 (rows, columns, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def render_bodies(model: Any, data: Any, shape: tuple[int, int]) -> np.ndarray:
    """Renders a `mujoco.MjData` on the host as uint8 (height, width, 3)."""
    import mujoco

    roomy = copy.copy(model)
    size = roomy.vis.global_
    size.offheight, size.offwidth = max(size.offheight, shape[0]), max(size.offwidth, shape[1])
    mujoco.mj_forward(model, data)  # pyright: ignore[reportAttributeAccessIssue]
    # An OpenGL context belongs to one thread, but JAX may call from several.
    with mujoco.Renderer(roomy, *shape) as renderer:
        renderer.update_scene(data, camera=0 if model.ncam else -1)
        return renderer.render()


def check_opengl(name: str) -> None:
    """Raises `NoPictureError` if MuJoCo finds no OpenGL."""
    problem = _problem_of_opengl()
    if problem:
        raise NoPictureError(
            f"{name} cannot be rendered: MuJoCo finds no OpenGL ({problem}). On a machine without a display, set "
            "MUJOCO_GL=egl or MUJOCO_GL=osmesa before you start Python."
        )


@functools.cache
def _problem_of_opengl() -> str:
    """Returns why MuJoCo cannot render on this machine, or an empty string if it can."""
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco/>")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        mujoco.Renderer(model, 1, 1).close()
    except Exception as error:  # the type depends on the OpenGL library
        return str(error)
    return ""


def _nearest(picture: Any, shape: tuple[int, int]) -> Any:
    rows, columns = (
        (((2 * np.arange(new) + 1) * old) // (2 * new)).astype(np.int32)
        for new, old in zip(shape, picture.shape[:2], strict=True)
    )
    return picture[rows][:, columns]
