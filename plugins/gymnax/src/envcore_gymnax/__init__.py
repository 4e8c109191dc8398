"""Run code written for gymnax on envcore's environments. This package has gymnax's interface.

    import envcore_gymnax as gymnax

    env, params = gymnax.make("CartPole-v1")

If a library imports gymnax itself, call `install` before you import the library:

    import envcore_gymnax

    envcore_gymnax.install()
    import rejax

Names are imported on first use, so importing this package imports neither JAX nor any environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True, and importing `typing` would be slow
if TYPE_CHECKING:
    from envcore_gymnax import environments as environments
    from envcore_gymnax import experimental as experimental
    from envcore_gymnax import registration as registration
    from envcore_gymnax import visualize as visualize
    from envcore_gymnax import wrappers as wrappers
    from envcore_gymnax.alias import install as install
    from envcore_gymnax.alias import uninstall as uninstall
    from envcore_gymnax.environments.environment import EnvParams as EnvParams
    from envcore_gymnax.environments.environment import EnvState as EnvState
    from envcore_gymnax.registration import make as make
    from envcore_gymnax.registration import register as register
    from envcore_gymnax.registration import registered_envs as registered_envs

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "alias": ["install", "uninstall"],
        "environments.environment": ["EnvParams", "EnvState"],
        "registration": ["make", "register", "registered_envs"],
    },
    ["environments", "experimental", "registration", "visualize", "wrappers"],
)
