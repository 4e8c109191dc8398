"""Registers envcore's environments with Gymnasium, without importing JAX or any of them."""

from __future__ import annotations

import re

import envcore
import gymnasium

NAMESPACE = "envcore"


def gymnasium_id(env_id: str) -> str:
    """The id that `gymnasium.make` takes for an environment's id in envcore.

    Gymnasium allows neither a second slash nor a colon, so both become dots: `"bsuite/deep_sea/0"` is
    `"envcore/bsuite.deep_sea.0"` there.
    """
    return f"{NAMESPACE}/{re.sub('[/:]', '.', env_id)}"


def register() -> None:
    """Registers every environment of `envcore.registry` that Gymnasium does not have yet.

    Importing this package does so. Call it again after `envcore.register`.

    Warns:
      PluginWarning: as `envcore.registry` does at its first use.
    """
    for env_id in envcore.registry:
        name = gymnasium_id(env_id)
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="envcore_adapters.gymnasium.env:GymnasiumEnv",
                vector_entry_point="envcore_adapters.gymnasium.vector_env:GymnasiumVectorEnv",
                kwargs={"env": env_id},
            )
