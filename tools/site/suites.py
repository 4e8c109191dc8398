"""The environments of our suites, which the site has pages of."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator
from unittest import mock

import envcore
import numpy as np
from envcore.registration import Registration
from envcore_bsuite import mnist_data

SUITES = {
    "envcore-classic-control": "Classic control",
    "envcore-minatar": "MinAtar",
    "envcore-bsuite": "bsuite",
    "envcore-misc": "Misc",
}
NEEDS_DATA = ("MNISTBandit-bsuite",)
"""Environments that download data when they are made."""
_IMAGES = 60_000
"""The number of MNIST's images."""


def our_environments() -> list[Registration]:
    """The environments of our suites, but for bsuite's settings."""
    return [each for each in envcore.registry.values() if each.distribution in SUITES and not each.spec.family]


@contextlib.contextmanager
def without_downloads(env_id: str) -> Generator[None, None, None]:
    """A context in which an environment that needs MNIST is made with as many images, all blank."""
    if env_id not in NEEDS_DATA:
        yield
        return
    images = np.zeros((_IMAGES, mnist_data.SIDE, mnist_data.SIDE), np.uint8)
    blank = mnist_data.Mnist(images, np.zeros(_IMAGES, np.uint8))
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, ENVCORE_DATA_DIR=folder),
        mock.patch.object(mnist_data, "load", return_value=blank),
    ):
        yield
