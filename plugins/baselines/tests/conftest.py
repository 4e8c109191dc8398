from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from command_line import run as run
from envcore.plugins import PluginRecord
from envcore_baselines.plugin import envcore_algorithms, envcore_commands, envcore_policies


@pytest.fixture
def plugins() -> tuple[PluginRecord, ...]:
    """The baselines are installed."""
    specs = (*envcore_commands(), *envcore_policies(), *envcore_algorithms())
    return (PluginRecord("envcore-baselines", "0", "baselines", "envcore_baselines.plugin", "loaded", specs),)


@pytest.fixture(autouse=True)
def standard_promotion() -> Iterator[None]:
    """JAX's default promotion of dtypes and ranks: optax relies on it."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield
