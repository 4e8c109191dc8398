"""Loads MNIST's training set: downloaded once into your cache folder, or from a folder of your own.

Source: LeCun, Cortes & Burges (1998), "The MNIST database of handwritten digits", from the mirror that bsuite 0.3.6
downloads from. Files are read when `load` is called, once per process.
"""

from __future__ import annotations

import functools
import gzip
import math
import os
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from envcore.errors import DatasetError, one_line

URL = "https://storage.googleapis.com/cvdf-datasets/"
"""Where to download the published files."""

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
SHA256 = {
    f"mnist/{IMAGES}.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    f"mnist/{LABELS}.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
}
"""The published files and their hashes."""

SIDE, CLASSES = 28, 10


class Mnist(NamedTuple):
    """A dataset in MNIST's format, with read-only arrays.

    Attributes:
      images: uint8 (n, 28, 28), 255 is ink. n is 60,000 for the published files.
      labels: uint8 (n,), the digits.
    """

    images: np.ndarray
    labels: np.ndarray


class Source(NamedTuple):
    """The location of a dataset.

    Attributes:
      folder: absolute path.
      is_published: whether it is MNIST itself, which is downloaded if missing and checked by its hash.
    """

    folder: str
    is_published: bool


def locate(folder: str | Path | None = None) -> Source:
    """Returns the source for `folder`. By default MNIST itself, in `$ENVCORE_DATA_DIR/mnist` or your cache folder."""
    is_published = folder is None
    if is_published:
        import pooch  # only needed here, and it imports requests, which takes a tenth of a second

        folder = Path(os.environ.get("ENVCORE_DATA_DIR") or pooch.os_cache("envcore"), "mnist")
    return Source(str(Path(folder).expanduser().resolve()), is_published)


def load_mnist(folder: str | None = None) -> Mnist:
    """Loads MNIST's training set, which is downloaded if missing, or your own images.

    Args:
      folder: a folder with two files in MNIST's format, `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, each
        with or without `.gz`, such as Fashion-MNIST, or fewer images. By default MNIST itself, in
        `$ENVCORE_DATA_DIR/mnist` or your cache folder. Files there with a different hash are downloaded again.

    Raises:
      DatasetError: the files are missing or invalid. The message says what to do.
    """
    return load(locate(folder))


@functools.lru_cache(maxsize=8)
def load(source: Source) -> Mnist:
    """Loads a dataset once per process. Raises the same errors as `load_mnist`."""
    folder = Path(source.folder)
    paths = _fetched(folder) if source.is_published else [_own_file(folder, name) for name in (IMAGES, LABELS)]
    images, labels = (_read(path, ndim) for path, ndim in zip(paths, (3, 1), strict=True))
    if images.shape[1:] != (SIDE, SIDE):
        raise DatasetError(f"{paths[0]} must hold images of {SIDE}x{SIDE} pixels, but they are {images.shape[1:]}.")
    if len(images) != len(labels) or not len(images):
        raise DatasetError(
            f"{folder} must hold one label per image, but it holds {len(images)} images and {len(labels)} labels."
        )
    if labels.max() >= CLASSES:
        raise DatasetError(f"{paths[1]} must hold labels from 0 to {CLASSES - 1}, but it holds {labels.max()}.")
    return Mnist(images, labels)


def _fetched(folder: Path) -> list[Path]:
    """Returns the paths of the published files, downloading those that are missing."""
    import pooch

    try:
        cache = pooch.create(folder.parent, URL, registry=SHA256)
        return [Path(cache.fetch(name)) for name in SHA256]
    except (OSError, ValueError) as error:  # ValueError means that the hash is wrong
        reason = str(error) if isinstance(error, ValueError) else error.strerror or type(error).__name__
        raise DatasetError(
            f"MNIST is not in {folder} and cannot be downloaded: {reason.rstrip('.')}. Download "
            f"{' and '.join(URL + name for name in SHA256)} on any computer and put them there, or set "
            "ENVCORE_DATA_DIR to a folder that has them in its subfolder mnist, or pass folder= for images of your own "
            "in MNIST's format."
        ) from error


def _own_file(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise DatasetError(
        f"{folder} has no file {name}.gz or {name}. A dataset in MNIST's format has {IMAGES} and {LABELS}, each with "
        "or without .gz. Without folder=, MNIST itself is used."
    )


def _read(path: Path, ndim: int) -> np.ndarray:
    """Reads the uint8 array in an IDX file: four bytes for dtype and rank, then 32-bit sizes, then the numbers."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} cannot be read: {one_line(error)}.") from error
    start = 4 * (ndim + 1)
    shape = [int.from_bytes(content[place : place + 4], "big") for place in range(4, start, 4)]
    if content[:4] != bytes((0, 0, 8, ndim)) or len(content) != start + math.prod(shape):
        raise DatasetError(f"{path} is truncated, or is not an IDX file of uint8 with {ndim} axes.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
