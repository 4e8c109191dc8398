"""One boundary against XLA's fusion, for values that are dear to compute and used many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax

try:  # experimental in JAX: where it is missing, programs are slower and otherwise the same
    from jax.experimental.xla_metadata import set_xla_metadata
except ImportError:  # pragma: no cover
    set_xla_metadata = None


def compute_once(fun: Callable[..., Any], *args: Any) -> Any:
    """Returns `fun(*args)`, computed once and stored, rather than again inside everything that reads it.

    XLA's CPU backend fuses by recomputing cheap-looking producers for every element of every consumer. That
    multiplies the cost of random words and of expanding bit planes into an observation. The boundary is a call
    that XLA is told not to inline; `lax.optimization_barrier` does not stop this fusion on CPU. Other platforms
    get plain `fun(*args)`. Works under `vmap`, `grad`, `jvp`, `scan` and sharding.

    Args:
      fun: a function of arrays. It must take everything traced through its arguments.
      *args: its arguments, pytrees of arrays.
    """
    mark = set_xla_metadata
    if mark is None:
        return fun(*args)

    traced_once = jax.jit(fun)

    def inlined(*args: Any) -> Any:
        # Or the mark below would reach every jitted function that `fun` calls, `jnp.where` too, and make each a call of
        # its own: three times the cost in Space Invaders' rules. (To clear the mark, by None, does not survive vmap.)
        with mark(inlineable="true"):
            return traced_once(*args)

    def on_cpu(*args: Any) -> Any:
        with mark(inlineable="false"):
            return jax.jit(inlined)(*args)

    return lax.platform_dependent(*args, cpu=on_cpu, default=inlined)
