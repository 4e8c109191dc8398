"""MNIST's training images and labels: from the user's cache, the web, or the user's own folder.

Source: LeCun, Cortes & Burges (1998), "The MNIST database of handwritten digits", from the mirror that bsuite 0.3.6
downloads from. Nothing is read before `load` is called, and a dataset is read once per process.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import math
import os
import threading
import time
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from envcore import files
from envcore.errors import DatasetError, FileError, one_line

URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
"""Where the published files are downloaded from."""

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
SHA256 = {
    f"{IMAGES}.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    f"{LABELS}.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
}
"""The published files, and the hashes that they must have."""

SIDE, CLASSES = 28, 10
_PIECE = 2**20  # bytes to decompress at once
_TIMEOUT = 30  # seconds without a response
_RETRY_SECONDS = 60  # before a failed download is retried
_LOCK = threading.Lock()
_failures: dict[Source, tuple[DatasetError, float]] = {}


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


def locate(folder: str | None = None) -> Source:
    """The dataset in `folder`; by default MNIST itself, in `$ENVCORE_DATA_DIR/mnist` or in the user's cache."""
    if folder is not None:
        return Source(str(Path(folder).expanduser().resolve()), is_published=False)
    parent = os.environ.get("ENVCORE_DATA_DIR")
    if not parent:
        import pooch  # not needed with `folder`, and its import of requests takes a tenth of a second

        parent = pooch.os_cache("envcore")
    return Source(str(Path(parent).expanduser().resolve() / "mnist"), is_published=True)


def load_mnist(folder: str | None = None) -> Mnist:
    """Reads MNIST's training set, which is downloaded if absent, or the user's own images.

    Args:
      folder: a folder with two files in MNIST's format, `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, each
        with `.gz` or without: Fashion-MNIST, or fewer images. By default MNIST itself, in `$ENVCORE_DATA_DIR/mnist` or
        the user's cache; its files must have the published hashes.

    Raises:
      DatasetError: the files are missing or invalid; the message says what to do.
    """
    return load(locate(folder))


def load(source: Source) -> Mnist:
    """Reads a dataset, or returns what this process has read from there before. Raises what `load_mnist` raises.

    A failed download is not retried for a minute, unless files have appeared: many environments may need it at once.
    """
    with _LOCK:  # concurrent threads read and download one at a time
        error, when = _failures.get(source, (None, 0.0))
        is_absent = not any((Path(source.folder) / name).exists() for name in SHA256)
        if error is not None and is_absent and time.monotonic() < when + _RETRY_SECONDS:
            raise DatasetError(str(error)) from error.__cause__
        try:
            return _load(source)
        except DatasetError as error:
            if source.is_published:
                _failures[source] = error, time.monotonic()
            raise


@functools.lru_cache(maxsize=8)
def _load(source: Source) -> Mnist:
    folder = Path(source.folder)
    if source.is_published:
        paths = [_fetch(folder, name) for name in SHA256]
    else:
        paths = [_own_file(folder, name) for name in (IMAGES, LABELS)]
    images, labels = (
        _read(path, SHA256[path.name] if source.is_published else None, ndim)
        for path, ndim in zip(paths, (3, 1), strict=True)
    )
    if images.shape[1:] != (SIDE, SIDE):
        raise DatasetError(f"{paths[0]} must hold images of {SIDE}x{SIDE} pixels, its are {images.shape[1:]}.")
    if len(images) != len(labels) or not len(images):
        raise DatasetError(
            f"{folder} must hold one label an image, it holds {len(images)} images, {len(labels)} labels."
        )
    if labels.max() >= CLASSES:
        raise DatasetError(f"{paths[1]} must hold labels from 0 to {CLASSES - 1}, it holds {labels.max()}.")
    return Mnist(images, labels)


def _own_file(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise DatasetError(
        f"{folder} has no file {name}.gz or {name}. A dataset in MNIST's format has {IMAGES} and {LABELS}, each with "
        ".gz or without; without folder=, MNIST itself is used."
    )


def _fetch(folder: Path, name: str) -> Path:
    """The path of a published file, which is downloaded if absent; an existing file is left alone."""
    path = folder / name
    if path.exists():
        return path
    import pooch

    if name == f"{IMAGES}.gz":
        pooch.get_logger().info("Downloading MNIST's training set (10 MB) from %s to %s", URL, folder)
    downloader = pooch.HTTPDownloader(timeout=_TIMEOUT)
    received = io.BytesIO()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        downloader(f"{URL}{name}", received, None)
        content = received.getvalue()
        if hashlib.sha256(content).hexdigest() != SHA256[name]:
            raise FileError("the downloaded file is not the published one")
        files.replace(path, content)
    except (OSError, FileError) as error:
        reason = getattr(error, "strerror", None) or (type(error).__name__ if isinstance(error, OSError) else error)
        raise DatasetError(
            f"MNIST is not in {folder} and cannot be downloaded: {str(reason).rstrip('.')}. Download "
            f"{' and '.join(SHA256)} from {URL} on any computer and put them there, or set ENVCORE_DATA_DIR to a "
            "folder that has them in its subfolder mnist, or pass folder= for images of your own in MNIST's format."
        ) from error
    return path


def _read(path: Path, sha256: str | None, ndim: int) -> np.ndarray:
    """The array in the file, whose hash must be `sha256` if it is given."""
    try:
        content = path.read_bytes()
        if sha256 and (found := hashlib.sha256(content).hexdigest()) != sha256:
            raise DatasetError(
                f"{path} is not MNIST's published file: its SHA-256 is {found}, not {sha256}. Delete it, and it is "
                "downloaded again; to use images of your own, put them into another folder and pass it as folder=."
            )
        plain = io.BytesIO(content)
        with gzip.GzipFile(fileobj=plain) if path.suffix == ".gz" else plain as file:
            return _parse(file, path, ndim)
    except (OSError, EOFError, MemoryError, zlib.error) as error:
        raise DatasetError(f"{path} cannot be read: {one_line(error)}.") from error


def _parse(file: io.BufferedIOBase, path: Path, ndim: int) -> np.ndarray:
    """The array of uint8 in an IDX file: four bytes for dtype and rank, then 32-bit sizes, then the numbers.

    No more is read than the sizes say, and one byte: a small compressed file can hold many gigabytes.
    """
    magic, start = bytes((0, 0, 8, ndim)), 4 * (ndim + 1)
    header = file.read(start)
    if header[:4] != magic or len(header) < start:
        raise DatasetError(
            f"{path} is not an IDX file of uint8 with {ndim} axes: it begins with {header[:4].hex() or 'nothing'}, "
            f"not {magic.hex()}."
        )
    shape = tuple(int(size) for size in np.frombuffer(header, ">u4", ndim, offset=4))
    size = math.prod(shape)
    content = bytearray()
    while len(content) <= size and (piece := file.read(min(size + 1 - len(content), _PIECE))):
        content += piece
    if len(content) != size:
        has = f"{start + len(content)}{' or more' * (len(content) > size)}"
        raise DatasetError(
            f"{path} is truncated or damaged: for its shape {shape} it must have {start + size} bytes, it has {has}."
        )
    array = np.frombuffer(content, np.uint8).reshape(shape)
    array.flags.writeable = False
    return array
