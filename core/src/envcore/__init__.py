"""envcore: reinforcement learning environments as pure JAX functions.

    env, params = envcore.make("CartPole-v1")
    obs, state = env.reset(key, params)
    obs, state, reward, done, info = env.step(key, state, action, params)

Names are imported on first use, so `import envcore` is fast and starts no JAX backend.
"""

from __future__ import annotations

from envcore import forks as forks
from envcore.lazy import lazy_names
from envcore.version import __version__ as __version__

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore import errors as errors
    from envcore import random as random
    from envcore import rollout as rollout
    from envcore import spaces as spaces
    from envcore import wrappers as wrappers
    from envcore.environment import NO_TIME_LIMIT as NO_TIME_LIMIT
    from envcore.environment import Environment as Environment
    from envcore.environment import EnvParams as EnvParams
    from envcore.environment import EnvState as EnvState
    from envcore.errors import EnvcoreError as EnvcoreError
    from envcore.registration import make as make
    from envcore.registration import register as register
    from envcore.registration import registry as registry
    from envcore.specs import AlgorithmSpec as AlgorithmSpec
    from envcore.specs import CommandSpec as CommandSpec
    from envcore.specs import EnvSpec as EnvSpec
    from envcore.specs import PolicySpec as PolicySpec

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "environment": ["NO_TIME_LIMIT", "Environment", "EnvParams", "EnvState"],
        "errors": ["EnvcoreError"],
        "registration": ["make", "register", "registry"],
        "specs": ["AlgorithmSpec", "CommandSpec", "EnvSpec", "PolicySpec"],
    },
    modules=["errors", "random", "rollout", "spaces", "wrappers"],
)
