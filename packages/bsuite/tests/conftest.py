from __future__ import annotations

import pytest
from command_line import run as run
from envcore.plugins import PluginRecord
from envcore_bsuite.plugin import envcore_commands


@pytest.fixture
def plugins() -> tuple[PluginRecord, ...]:
    """The suite is installed, but only its commands: they need no environment from the catalogue."""
    commands = tuple(envcore_commands())
    return (PluginRecord("envcore-bsuite", "0", "bsuite", "envcore_bsuite.plugin", "loaded", (), "", commands),)
