"""Networks of the user's, for algorithms whose class has the argument `network`. Imports no JAX.

A network maps observations to what the algorithm needs, by two functions: `init(key, obs)` returns weights, any
pytree, and `apply(weights, obs)` the results. It is a pair of them, an object with these methods, such as a module of
flax's or haiku's transformed function, or a class of such objects, whose first argument is the number of outputs.
`ppo.PPO` says what it needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from envcore.errors import EnvcoreError, one_line
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


def checked_network(network: Any, obs: Any, results: Mapping[str, tuple[int, ...]]) -> Any:
    """Returns a network, which is traced: with weights as one observation gives them, for two observations and for one.

    Args:
      network: with the functions `init(key, obs)`, which returns weights, and `apply(weights, obs)`; or a class of such
        objects, which takes the number of outputs.
      obs: an observation, or its `jax.ShapeDtypeStruct`.
      results: the shapes of what it returns for an observation, float32, by their names; the first one, of length 1, is
        the number of outputs.

    Raises:
      ValueError: it fails, has no weights or some that are not floats, or returns something else.
    """
    import jax
    import jax.numpy as jnp  # this module is also imported by commands that need no JAX

    described = [f"{name} float32 {('n', *shape)}".replace("'", "") for name, shape in results.items()]
    expected = f"the network must map observations to {' and '.join(described)}"
    one, two = (jax.ShapeDtypeStruct((number, *obs.shape), obs.dtype) for number in (1, 2))
    try:
        made = network(*next(iter(results.values()))) if isinstance(network, type) else network
        weights = jax.eval_shape(made.init, jax.eval_shape(lambda: jax.random.key(0)), one)
        returned = [jax.eval_shape(made.apply, weights, batch) for batch in (two, one)]  # acting takes one
    except Exception as error:
        raise ValueError(f"{expected}, but it fails: {one_line(error)}") from error
    for number, each in zip((2, 1), returned, strict=True):
        found = jax.tree.map(lambda x: (x.shape, x.dtype.name), each)
        wanted = [((number, *shape), "float32") for shape in results.values()]
        if found != (wanted[0] if len(wanted) == 1 else tuple(wanted)):
            raise ValueError(f"{expected}, got {found} for n = {number}.")
    if not jax.tree.leaves(weights):
        raise ValueError("the network has no weights, so it cannot learn.")
    for leaf in jax.tree.leaves(weights):
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            raise ValueError(f"the weights of the network must be floats, which learn, got {leaf.dtype.name}.")
    return made
