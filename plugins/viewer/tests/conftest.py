from __future__ import annotations

import pytest
from command_line import run as run
from envcore.plugins import PluginRecord
from envcore_viewer.plugin import envcore_commands


@pytest.fixture
def plugins() -> tuple[PluginRecord, ...]:
    """The viewer is installed."""
    commands = tuple(envcore_commands())
    return (PluginRecord("envcore-viewer", "0", "viewer", "envcore_viewer.plugin", "loaded", commands),)
