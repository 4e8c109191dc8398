"""Sprites for tests: JAXtari's own where they are installed, else rectangles, in a folder of their own.

JAXtari's sprites need a download and, for the original ones, a license, so CI has neither. Its games run with any
sprites: where one is missing when it is loaded, a rectangle of one color is written in its place.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def rectangle(path: Path) -> np.ndarray:
    is_large = any(word in path.name.lower() for word in ("background", "bg", "level", "room"))
    image = np.full((210, 160, 4) if is_large else (8, 8, 4), 255, np.uint8)
    code = zlib.crc32(path.name.encode())
    image[..., :3] = (30, 40, 60) if is_large else [64 + (code >> shift) % 192 for shift in (0, 8, 16)]
    return image


@pytest.fixture(scope="session", autouse=True)
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
                np.save(path, rectangle(path))

        def load_or_make(file: Any, *args: Any, **options: Any) -> Any:
            provide(file)
            return load(file, *args, **options)

        def exists_or_make(path: Any) -> bool:
            provide(path)
            return exists(path)

        patch.setattr(jaxtari.paths, "user_data_dir", lambda name: str(Path(folder) / name))
        patch.setattr("numpy.load", load_or_make)
        patch.setattr("os.path.exists", exists_or_make)
        jaxtari.paths.write_sprite_version(root)
        (root / jaxtari.paths.ALT_SPRITES_MARKER_NAME).touch()
        yield
