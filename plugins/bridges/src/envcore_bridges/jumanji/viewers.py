"""Pictures by Jumanji's own viewers: Matplotlib on the host, without windows and without pyplot's figures."""

from __future__ import annotations

import copy
from typing import Any

import jax
import numpy as np


def shape_of_picture(viewer: Any, height: int) -> tuple[int, int]:
    """Height and width in pixels."""
    width, tall = viewer.figure_size
    return height, max(1, round(height * width / tall))


def draw(viewer: Any, shape: tuple[int, int], state: Any) -> np.ndarray:
    """What a viewer shows of a state, a tree of numpy arrays: uint8 (height, width, 3).

    The viewer draws into a figure of the right number of pixels instead of one of pyplot's, which would open a window
    and belong to all viewers of one name.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    height, width = shape
    dpi = height / viewer.figure_size[1]
    figure = Figure(figsize=(width / dpi, height / dpi), dpi=dpi, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    viewer = copy.copy(viewer)
    axes = _axes(viewer, figure)
    viewer._get_fig_ax = lambda *args, **kwargs: (figure, axes)
    viewer._clear_display = lambda: None
    viewer._display = lambda figure: figure.canvas.draw()
    with jax.default_device(jax.devices("cpu")[0]):  # viewers compute with JAX; the default device waits for this one
        viewer.render(state)
    picture = np.zeros((height, width, 3), np.uint8)
    drawn = np.asarray(canvas.buffer_rgba())[:height, :width, :3]
    picture[: drawn.shape[0], : drawn.shape[1]] = drawn
    return picture


def _axes(viewer: Any, figure: Any) -> Any:
    """The axes that a viewer's `_get_fig_ax` makes."""
    names = {each.__name__ for each in type(viewer).__mro__}
    if "RubiksCubeViewer" in names:
        return figure.subplots(3, 2).flatten()
    if "BinPackViewer" in names:
        return figure.add_subplot(projection="3d")
    axes = figure.add_subplot()
    if "SearchAndRescueViewer" in names:
        from jumanji.environments.swarms.common.viewer import format_plot

        format_plot(figure, axes, viewer.env_size)
    return axes
