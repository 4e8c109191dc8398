from __future__ import annotations

import mnist_files
import pytest
from command_line import run as run
from envcore.plugins import PluginRecord
from envcore_bsuite.mnist import MNISTBandit
from envcore_bsuite.plugin import envcore_commands


@pytest.fixture
def plugins() -> tuple[PluginRecord, ...]:
    """The suite is installed, but only its commands: they need no environment from the catalogue."""
    commands = tuple(envcore_commands())
    return (PluginRecord("envcore-bsuite", "0", "bsuite", "envcore_bsuite.plugin", "loaded", commands),)


@pytest.fixture(scope="module")
def mnist(tmp_path_factory: pytest.TempPathFactory) -> MNISTBandit:
    return MNISTBandit(folder=str(mnist_files.write(tmp_path_factory.mktemp("images"), mnist_files.random_images())))
