"""gymnax's interface to envcore's environments, for programs that are written for gymnax.

    import envcore_gymnax as gymnax

    env, params = gymnax.make("CartPole-v1")

For somebody else's program, which says `import gymnax`:

    import envcore_gymnax

    envcore_gymnax.install()
    import rejax

Names are imported on first use: importing this package imports neither JAX nor any environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
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
