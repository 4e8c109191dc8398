"""Networks of the user's, for algorithms whose class has the argument `network`.

A network maps observations to what the algorithm needs, by two functions: `init(key, obs)` returns weights, any
pytree, and `apply(weights, obs)` the results. It is an object with these methods, such as a module of flax's
or haiku's transformed function, or a class of such objects, whose first argument is the number of outputs.
`ppo.PPO` says what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp


def checked_network(network: Any, obs: Any, results: Mapping[str, tuple[int, ...]]) -> Any:
    """Returns a network, which is traced: with weights as one observation gives them, for two observations and for one.

    Args:
      network: with the functions `init(key, obs)`, which returns weights, and `apply(weights, obs)`; or a class of such
        objects, which takes the number of outputs.
      obs: an observation, or its `jax.ShapeDtypeStruct`.
      results: the shapes of what it returns for an observation, float32, by their names; the first one, of length 1, is
        the number of outputs.

    Raises:
      ValueError: it is no network, returns something else, or has no weights that learn. What the network itself
        raises is not caught.
    """
    if not hasattr(network, "init") or not hasattr(network, "apply"):
        raise ValueError(f"the network must have init(key, obs) and apply(weights, obs), got {network!r}.")
    made = network(*next(iter(results.values()))) if isinstance(network, type) else network
    one, two = (jax.ShapeDtypeStruct((number, *obs.shape), obs.dtype) for number in (1, 2))
    weights = jax.eval_shape(made.init, jax.eval_shape(lambda: jax.random.key(0)), one)
    for batch in (two, one):  # acting takes one
        returned = jax.eval_shape(made.apply, weights, batch)
        found = [(x.shape, x.dtype.name) for x in jax.tree.leaves(returned)]
        if found != [((batch.shape[0], *shape), "float32") for shape in results.values()]:
            described = [f"{name} float32 {('n', *shape)}".replace("'", "") for name, shape in results.items()]
            expected = f"the network must map observations to {' and '.join(described)}"
            raise ValueError(f"{expected}, got {found} for n = {batch.shape[0]}.")
    leaves = jax.tree.leaves(weights)
    if not leaves or not all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves):
        raise ValueError(f"the network must have weights, which are floats, so that it can learn, got {weights}.")
    return made
