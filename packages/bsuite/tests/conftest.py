from __future__ import annotations

import mnist_files
import pytest
from envcore_bsuite.mnist import MNISTBandit


@pytest.fixture(scope="module")
def mnist(tmp_path_factory: pytest.TempPathFactory) -> MNISTBandit:
    return MNISTBandit(folder=str(mnist_files.write(tmp_path_factory.mktemp("images"), mnist_files.random_images())))
