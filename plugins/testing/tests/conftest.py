from __future__ import annotations

import pytest
from command_line import run as run
from envcore.plugins import PluginRecord
from envcore_testing.plugin import envcore_commands


@pytest.fixture
def plugins() -> tuple[PluginRecord, ...]:
    """The kit is installed."""
    commands = tuple(envcore_commands())
    return (PluginRecord("envcore-testing", "0", "testing", "envcore_testing.plugin", "loaded", commands),)
