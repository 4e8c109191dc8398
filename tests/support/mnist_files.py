"""Small files in MNIST's format, which replace MNIST in tests.

with mnist_files.published(tmp_path):
    env, params = envcore.make("MNISTBandit-bsuite")
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
from envcore_bsuite import mnist_data
from envcore_bsuite.mnist_data import IMAGES, LABELS, Mnist


def random_images(count: int = 40) -> Mnist:
    """Images that are the same in every run: a fifth of the pixels is above 0, up to 255; each digit occurs."""
    rng = np.random.default_rng(2026)
    ink = rng.integers(1, 256, (count, 28, 28), dtype=np.uint8)
    images = np.where(rng.random(ink.shape) < 0.2, ink, 0).astype(np.uint8)
    images[0, 0, :2] = 0, 255
    return Mnist(images, rng.permutation(count).astype(np.uint8) % 10)


def idx(array: np.ndarray) -> bytes:
    """The content of an IDX file."""
    return bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def write(folder: Path, mnist: Mnist, *, packed: bool = True) -> Path:
    """Writes both files into the folder, with .gz if `packed`, and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in ((IMAGES, mnist.images), (LABELS, mnist.labels)):
        content = idx(array)
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))
        else:
            (folder / name).write_bytes(content)
    return folder


@contextlib.contextmanager
def published(folder: Path, count: int = 40) -> Generator[Mnist, None, None]:
    """A context in which `random_images(count)` replaces MNIST: in `folder/mnist`, with the expected hashes.

    Equal folders share compiled programs, so tests should share one if possible.
    """
    mnist = random_images(count)
    write(folder / "mnist", mnist)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVCORE_DATA_DIR", str(folder))
        for name in mnist_data.SHA256:
            patch.setitem(mnist_data.SHA256, name, hashlib.sha256((folder / name).read_bytes()).hexdigest())
        yield mnist
