"""Pictures of the same states by the originals and by us, for the fidelity page.

Gymnasium draws its own. MinAtar's window shows the highest channel of each cell in seaborn's colors, which is drawn
here from the observation that the original gave.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import envcore
import numpy as np

_TESTS = Path(__file__).parents[2] / "packages" / "minatar" / "tests"
_SUPPORT = Path(__file__).parents[2] / "tests" / "support"
_FOLDER = "fidelity"
_HEIGHT = 160
_CLASSIC = {
    "CartPole-v1": ("x", "x_dot", "theta", "theta_dot"),
    "Pendulum-v1": ("theta", "theta_dot"),
    "Acrobot-v1": ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"),
    "MountainCar-v0": ("position", "velocity"),
    "MountainCarContinuous-v0": ("position", "velocity"),
}
_STATES = {
    "CartPole-v1": (-0.8, 0.0, 0.15, 0.0),
    "Pendulum-v1": (2.5, 0.0),
    "Acrobot-v1": (1.2, -0.9, 0.0, 0.0),
    "MountainCar-v0": (-0.9, 0.0),
    "MountainCarContinuous-v0": (0.2, 0.0),
}
_GAMES = {
    "Asterix-MinAtar": "asterix",
    "Breakout-MinAtar": "breakout",
    "Freeway-MinAtar": "freeway",
    "Seaquest-MinAtar": "seaquest",
    "SpaceInvaders-MinAtar": "space_invaders",
}


def make(folder: Path) -> None:
    """Makes `fidelity/ID.original.png` and `fidelity/ID.png` in the folder of pictures, unless they are there."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # Gymnasium's pygame looks for a display
    folder = folder / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for env_id in (*_CLASSIC, "FrozenLake-misc", *_GAMES):
        if (folder / f"{env_id}.png").exists():
            continue
        state, original = _classic(env_id) if env_id in _CLASSIC else _minatar(env_id) if env_id in _GAMES else _lake()
        env, params = envcore.make(env_id, **({"original_palette": True} if env_id in _GAMES else {}))
        _save(folder / f"{env_id}.original.png", original)
        _save(folder / f"{env_id}.png", np.asarray(env.render(state, params, height=_HEIGHT)))


def table(made_pictures: Path) -> list[str]:
    """The lines of the page: a row for each environment that has both pictures."""
    rows = ["| environment | original | envcore |", "|---|---|---|"]
    for env_id in (*_CLASSIC, "FrozenLake-misc", *_GAMES):
        if (made_pictures / _FOLDER / f"{env_id}.png").exists():
            place = f"../pictures/{_FOLDER}/{env_id}"
            pair = f"![{env_id}, by the original]({place}.original.png) | ![{env_id}, by envcore]({place}.png)"
            rows.append(f"| {env_id} | {pair} |")
    return rows


def _classic(env_id: str) -> tuple[Any, np.ndarray]:
    import gymnasium

    original: Any = gymnasium.make(env_id, render_mode="rgb_array")
    original.reset(seed=0)
    original.unwrapped.state = np.array(_STATES[env_id], np.float64)
    _, state = _start(env_id)
    fields = dict(zip(_CLASSIC[env_id], map(np.float32, _STATES[env_id]), strict=True))
    return state.replace(**fields), original.render()


def _lake() -> tuple[Any, np.ndarray]:
    import gymnasium

    original: Any = gymnasium.make("FrozenLake-v1", render_mode="rgb_array")
    original.reset(seed=0)
    original.unwrapped.s = 6
    _, state = _start("FrozenLake-misc")
    return state.replace(position=np.int32(6)), original.render()


def _minatar(env_id: str) -> tuple[Any, np.ndarray]:
    """The recorded state that shows most, and MinAtar's picture of it."""
    import jax
    import seaborn

    game = _GAMES[env_id]
    for folder in (_SUPPORT, _TESTS):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    golden, tests = (
        importlib.import_module(name)
        for name in ("golden", "seaquest_original" if game == "seaquest" else f"test_{game}")
    )
    recording = golden.load(f"minatar.{game}")
    shape = tuple(recording.meta["obs_shape"])
    obs = np.unpackbits(recording["obs"], axis=1, count=np.prod(shape)).reshape(-1, *shape)
    row = obs.sum(axis=(1, 2, 3)).argmax()
    fields = {name: value[row : row + 1] for name, value in recording.group("after").items()}
    fields = tests.canonical(fields) if hasattr(tests, "canonical") else fields
    last_action = recording["action"][row : row + 1].astype(np.int32)
    state = jax.tree.map(lambda x: x[0], jax.vmap(tests.TASK.from_original)(fields, last_action))
    colors = np.array([(0, 0, 0), *seaborn.color_palette("cubehelix", shape[-1])])
    highest = (obs[row] * (np.arange(shape[-1]) + 1)).max(axis=-1)
    picture = (colors[highest] * 255).round().astype(np.uint8)
    return state, picture.repeat(_HEIGHT // 10, axis=0).repeat(_HEIGHT // 10, axis=1)


def _start(env_id: str) -> tuple[Any, Any]:
    import jax

    env, params = envcore.make(env_id)
    return env.reset(jax.random.key(0), params)


def _save(path: Path, picture: np.ndarray) -> None:
    from PIL import Image

    image = Image.fromarray(picture)
    image.resize((round(image.width * _HEIGHT / image.height), _HEIGHT), Image.Resampling.LANCZOS).save(path)
