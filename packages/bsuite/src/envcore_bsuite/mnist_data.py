"""MNIST's training images and labels: downloaded once into the user's cache, or from the user's own folder.

Source: LeCun, Cortes & Burges (1998), "The MNIST database of handwritten digits", from the mirror that bsuite 0.3.6
downloads from. Nothing is read before `load` is called, and a dataset is read once per process.
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
"""Where the published files are downloaded from."""

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
SHA256 = {
    f"mnist/{IMAGES}.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    f"mnist/{LABELS}.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
}
"""The published files, and the hashes that they must have."""

SIDE, CLASSES = 28, 10


class Mnist(NamedTuple):
    """A dataset in MNIST's format; the arrays are read-only.

    Attributes:
      images: uint8 (n, 28, 28), 255 is ink; n is 60,000 for the published files.
      labels: uint8 (n,), the digits.
    """

    images: np.ndarray
    labels: np.ndarray


class Source(NamedTuple):
    """Where a dataset is.

    Attributes:
      folder: its absolute path.
      is_published: whether it is MNIST itself, which is downloaded if absent and verified by its hash.
    """

    folder: str
    is_published: bool


def locate(folder: str | Path | None = None) -> Source:
    """The dataset in `folder`; by default MNIST itself, in `$ENVCORE_DATA_DIR/mnist` or in the user's cache."""
    is_published = folder is None
    if is_published:
        import pooch  # not needed with `folder`, and its import of requests takes a tenth of a second

        folder = Path(os.environ.get("ENVCORE_DATA_DIR") or pooch.os_cache("envcore"), "mnist")
    return Source(str(Path(folder).expanduser().resolve()), is_published)


def load_mnist(folder: str | None = None) -> Mnist:
    """Reads MNIST's training set, which is downloaded if absent, or the user's own images.

    Args:
      folder: a folder with two files in MNIST's format, `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, each
        with `.gz` or without: Fashion-MNIST, or fewer images. By default MNIST itself, in `$ENVCORE_DATA_DIR/mnist` or
        the user's cache; a file there that does not have the published hash is downloaded again.

    Raises:
      DatasetError: the files are missing or invalid; the message says what to do.
    """
    return load(locate(folder))


@functools.lru_cache(maxsize=8)
def load(source: Source) -> Mnist:
    """Reads a dataset, or returns what this process has read from there before. Raises what `load_mnist` raises."""
    folder = Path(source.folder)
    paths = _fetched(folder) if source.is_published else [_own_file(folder, name) for name in (IMAGES, LABELS)]
    images, labels = (_read(path, ndim) for path, ndim in zip(paths, (3, 1), strict=True))
    if images.shape[1:] != (SIDE, SIDE):
        raise DatasetError(f"{paths[0]} must hold images of {SIDE}x{SIDE} pixels, its are {images.shape[1:]}.")
    if len(images) != len(labels) or not len(images):
        raise DatasetError(
            f"{folder} must hold one label an image, it holds {len(images)} images, {len(labels)} labels."
        )
    if labels.max() >= CLASSES:
        raise DatasetError(f"{paths[1]} must hold labels from 0 to {CLASSES - 1}, it holds {labels.max()}.")
    return Mnist(images, labels)


def _fetched(folder: Path) -> list[Path]:
    """The paths of the published files, which are downloaded unless they are there."""
    import pooch

    try:
        cache = pooch.create(folder.parent, URL, registry=SHA256)
        return [Path(cache.fetch(name)) for name in SHA256]
    except (OSError, ValueError) as error:  # a ValueError says that the hash is another one
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
        ".gz or without; without folder=, MNIST itself is used."
    )


def _read(path: Path, ndim: int) -> np.ndarray:
    """The array of uint8 in an IDX file: four bytes for dtype and rank, then 32-bit sizes, then the numbers."""
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
