"""A fusion boundary for XLA, for values that are expensive to compute and used many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax

try:  # experimental in JAX: without it, programs are slower and otherwise the same
    from jax.experimental.xla_metadata import set_xla_metadata
except ImportError:  # pragma: no cover
    set_xla_metadata = None


def compute_once(fun: Callable[..., Any], *args: Any) -> Any:
    """Returns `fun(*args)`, computed once and stored instead of recomputed by everything that reads it.

    XLA's CPU backend fuses by recomputing cheap-looking producers for every element of every consumer. That
    multiplies the cost of random words and of expanding bit planes into an observation. The boundary is a call
    that XLA is told not to inline; `lax.optimization_barrier` does not stop this fusion on CPU. On other platforms
    this is plain `fun(*args)`. Works under `vmap`, `grad`, `jvp`, `scan` and sharding.

    Args:
      fun: a function of arrays. It must receive all traced values as arguments.
      *args: its arguments, pytrees of arrays.
    """
    mark = set_xla_metadata
    if mark is None:
        return fun(*args)

    traced_once = jax.jit(fun)

    def inlined(*args: Any) -> Any:
        # Otherwise the mark below would reach every jitted function that `fun` calls, even `jnp.where`, and make each a
        # separate call: three times the cost in Space Invaders' rules. (Clearing the mark with None fails under vmap.)
        with mark(inlineable="true"):
            return traced_once(*args)

    def on_cpu(*args: Any) -> Any:
        with mark(inlineable="false"):
            return jax.jit(inlined)(*args)

    return lax.platform_dependent(*args, cpu=on_cpu, default=inlined)
