"""Sprites for tests: JAXtari's own where they are installed, else rectangles, in a folder of their own.

JAXtari's sprites need a download and, for the original ones, a license, so CI has neither. Its games run with any
sprites, as long as some have the size that the game expects: where one is missing when it is loaded, a rectangle of one
color is written in its place.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_NEEDS = {"navix": "navix", "playground": "mujoco_playground", "xminigrid": "xminigrid"}  # of the group `heavy`
collect_ignore = [f"test_{name}.py" for name, module in _NEEDS.items() if importlib.util.find_spec(module) is None]

SCREEN, FREE = (210, 160), (0, 0, 0)
# Sprites that a game expects to have a size, frames or a color, by their paths; black is where one can walk.
EXPECTED: dict[str, tuple[tuple[int, ...], tuple[int, int, int] | None]] = {
    r"enduro/(cars/car_\d+(_night)?|misc/flags)": ((2, 8, 12), None),
    r"enduro/digits/\w+_digit_array": ((110, 8), None),  # the wheels of an odometer
    r"gopher/\w+_dug": ((8, 8), (223, 183, 85)),
    r"montezuma\w*/backgrounds/\w*collision\w*": ((149, 160), FREE),
    r"montezuma\w*/pitroom_dropout_floor\d*": ((4, 8), None),
    r"qbert/freeze": (SCREEN, None),
    r"up_n_down/roads/\w+": (SCREEN, None),
    r"venture/(map|room)\d*": (SCREEN, FREE),
    r"videochess/background": ((160, 210), None),  # it is turned
    r"wizardofwor/background": ((90, 128), None),  # it is made larger
    r"(seaquest|wordzapper)/bg/\d": (SCREEN, None),
}
LISTED = ("up_n_down/roads/0.npy", "up_n_down/roads/1.npy", "up_n_down/background/backround_lvl2_0.npy")
"""Sprites that are found by listing their folder."""


def rectangle(name: str) -> np.ndarray:
    """A picture in the place of the sprite `name`, such as "pong/ball.npy"; uint8 ([frames,] height, width, 4)."""
    file = name.rpartition("/")[2]
    is_large = any(word in file.lower() for word in ("background", "bg", "level", "room"))
    code = zlib.crc32(file.encode())
    color = (30, 40, 60) if is_large else tuple(64 + (code >> shift) % 192 for shift in (0, 8, 16))
    size = SCREEN if is_large else (8, 8)
    for pattern, (known, only) in EXPECTED.items():
        if re.fullmatch(pattern + r"\.npy", name):
            size, color = known, only or color
    image = np.full((*size, 4), 255, np.uint8)
    image[..., :3] = color
    return image


@pytest.fixture(scope="session")
def sprites() -> Any:
    import jaxtari.paths

    if jaxtari.paths.ownership_or_alt_markers_present():
        yield
        return
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder) / "jaxtari"
        load, exists = np.load, os.path.exists

        def provide(path: Any) -> None:
            path = Path(str(path))
            if path.is_relative_to(root) and path.suffix == ".npy" and not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                np.save(path, rectangle(path.relative_to(root / "sprites").as_posix()))

        def load_or_make(file: Any, *args: Any, **options: Any) -> Any:
            provide(file)
            return load(file, *args, **options)

        def exists_or_make(path: Any) -> bool:
            provide(path)
            return exists(path)

        for name in LISTED:
            provide(root / "sprites" / name)
        patch.setattr(jaxtari.paths, "user_data_dir", lambda name: str(Path(folder) / name))
        patch.setattr("numpy.load", load_or_make)
        patch.setattr("os.path.exists", exists_or_make)
        jaxtari.paths.write_sprite_version(root)
        (root / jaxtari.paths.ALT_SPRITES_MARKER_NAME).touch()
        yield
