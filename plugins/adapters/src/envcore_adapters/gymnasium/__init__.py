"""Use envcore environments with Gymnasium.

    import envcore_adapters.gymnasium  # registers the installed environments

    env = gymnasium.make("envcore/CartPole-v1")
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=1024)

    env = GymnasiumEnv(my_env, params)  # any environment of envcore, with or without wrappers

Importing this package imports neither JAX nor any environment. Names are imported on first use.
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
    """Converts an envcore id to the id for `gymnasium.make`.

    Gymnasium ids cannot contain a second slash or a colon, so both become dots. For example, `"bsuite/deep_sea/0"`
    becomes `"envcore/bsuite.deep_sea.0"`.
    """
    return f"{NAMESPACE}/{re.sub('[/:]', '.', env_id)}"


def register() -> None:
    """Registers all environments of `envcore.registry` with Gymnasium.

    Importing this package calls this function. Call it again after you have called `envcore.register`.

    An environment with the same id as one of Gymnasium's gets its `reward_threshold`. The time limit is only known once
    an environment is made, so you find it in `env.spec`, but not in `gymnasium.spec(id)`.

    Warns:
      PluginWarning: a plugin is broken, and `envcore.registry` is used for the first time.
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
