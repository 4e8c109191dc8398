"""Networks of the user's, for algorithms whose class has the argument `network`. Imports no JAX.

A network maps observations to what the algorithm needs, by two functions: `init(key, obs)` returns weights, any
pytree, and `apply(weights, obs)` the results. It is a pair of them, an object with these methods, such as a module of
flax's or haiku's transformed function, or a class of such objects, whose first argument is the number of outputs.
`ppo.PPO` says what it needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from envcore.errors import EnvcoreError
from envcore_runs import user_modules

from envcore_baselines.errors import ConfigError


class Network(NamedTuple):
    """A pair of functions, as an object."""

    init: Callable[..., Any]
    apply: Callable[..., Any]


def network_of(network: Any) -> Any:
    """A network as an algorithm takes it.

    Args:
      network: as above, or `MODULE:NAME` of one.

    Raises:
      ConfigError: it is none.
      InvalidArgumentError: it cannot be imported.
    """
    title = repr(network)
    if isinstance(network, str):
        network, title = user_modules.imported("network", network), network
    if type(network) is tuple and len(network) == 2:
        network = Network(*network)
    if not callable(getattr(network, "init", None)) or not callable(getattr(network, "apply", None)):
        made = "; what makes a network is to be called first" if callable(network) else ""
        raise ConfigError(
            f"the network must have the functions init(key, obs) and apply(weights, obs), got {title}{made}."
        )
    if isinstance(network, type):
        try:
            inspect.signature(network).bind(1)
        except TypeError:
            raise ConfigError(
                f"the network {network.__name__} must take one argument: the number of outputs."
            ) from None
    return network


def takes_network(algorithm: Callable[[], Any]) -> bool:
    """Whether an algorithm, which the function imports, takes a network; False for one that cannot be imported."""
    try:
        return "network" in inspect.signature(algorithm()).parameters
    except (EnvcoreError, TypeError, ValueError):
        return False
