"""envcore's environments for programs that are written for Gymnasium.

    import envcore_adapters.gymnasium  # registers the installed environments

    env = gymnasium.make("envcore/CartPole-v1")
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=1024)

    env = GymnasiumEnv(my_env, params)  # any environment of envcore, with or without wrappers

Importing this package imports neither JAX nor any environment; names are imported on first use.
Needs gymnasium, which the extra `envcore-adapters[gymnasium]` installs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import envcore
from envcore.lazy import lazy_names

from envcore_adapters import needs

with needs("gymnasium"):
    import gymnasium

if TYPE_CHECKING:
    from envcore_adapters.gymnasium.env import GymnasiumEnv as GymnasiumEnv
    from envcore_adapters.gymnasium.spaces import from_gymnasium_space as from_gymnasium_space
    from envcore_adapters.gymnasium.spaces import to_gymnasium_space as to_gymnasium_space
    from envcore_adapters.gymnasium.vector_env import GymnasiumVectorEnv as GymnasiumVectorEnv

NAMESPACE = "envcore"

__getattr__, __dir__, _lazy = lazy_names(
    __name__,
    {
        "env": ["GymnasiumEnv"],
        "spaces": ["from_gymnasium_space", "to_gymnasium_space"],
        "vector_env": ["GymnasiumVectorEnv"],
    },
)
__all__ = [*_lazy, "gymnasium_id", "register"]  # pyright: ignore[reportUnsupportedDunderAll]


def gymnasium_id(env_id: str) -> str:
    """The id that `gymnasium.make` takes for an environment's id in envcore.

    Gymnasium allows neither a second slash nor a colon, so both become dots: `"bsuite/deep_sea/0"` is
    `"envcore/bsuite.deep_sea.0"` there.
    """
    return f"{NAMESPACE}/{re.sub('[/:]', '.', env_id)}"


def register() -> None:
    """Registers every environment of `envcore.registry` that Gymnasium does not have yet.

    One whose id is that of an environment of Gymnasium's has its `reward_threshold`. A time limit would need the
    environment: it is in the spec of an environment that is made, `env.spec`.

    Importing this package does so. Call it again after `envcore.register`.

    Warns:
      PluginWarning: as `envcore.registry` does at its first use.
    """
    for env_id in envcore.registry:
        name = gymnasium_id(env_id)
        if name not in gymnasium.registry:
            original = gymnasium.registry.get(env_id)
            gymnasium.register(
                name,
                entry_point="envcore_adapters.gymnasium.env:GymnasiumEnv",
                vector_entry_point="envcore_adapters.gymnasium.vector_env:GymnasiumVectorEnv",
                reward_threshold=None if original is None else original.reward_threshold,
                kwargs={"env": env_id},
            )


register()
