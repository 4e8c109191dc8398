"""gymnax's functions that show Gymnasium's classic control, here in envcore's own pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore.errors import InvalidArgumentError

from envcore_gymnax.registration import make

_FIELDS = {
    "Acrobot-v1": ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"),
    "CartPole-v1": ("x", "x_dot", "theta", "theta_dot"),
    "Pendulum-v1": ("theta", "theta_dot"),
    "MountainCar-v0": ("position", "velocity"),
    "MountainCarContinuous-v0": ("position", "velocity"),
}
"""The fields that are Gymnasium's state, by id."""

SUPPORTED_GYM_ENVS = tuple(_FIELDS)


def get_gym_state(state: Any, env_name: str) -> np.ndarray:
    """Gymnasium's state, float64 (n,), of a state of this environment.

    Raises:
      InvalidArgumentError: the environment is not one of `SUPPORTED_GYM_ENVS`.
    """
    _check(env_name)
    return np.array([getattr(state, name) for name in _FIELDS[env_name]], np.float64)


def render_gym_frame(env_name: str, state: Any, params: Any) -> np.ndarray:
    """A picture of a state: uint8 (height, width, 3). Raises as `get_gym_state`."""
    _check(env_name)
    return np.array(make(env_name)[0].render(state, params))


def init_gym(ax: Any, env: Any, state: Any, params: Any) -> Any:
    """Shows a state on the axes of a figure of matplotlib's, and returns its image."""
    ax.set_xticks([])
    ax.set_yticks([])
    return ax.imshow(render_gym_frame(env.name, state, params))


def update_gym(im: Any, env: Any, state: Any, params: Any) -> Any:
    """Shows another state on an image of `init_gym`."""
    im.set_data(render_gym_frame(env.name, state, params))
    return im


def _check(env_name: str) -> None:
    if env_name not in SUPPORTED_GYM_ENVS:
        names = ", ".join(SUPPORTED_GYM_ENVS)
        raise InvalidArgumentError(f"Unsupported Gymnasium visualizer: {env_name!r}, only {names}.")
