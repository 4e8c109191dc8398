"""Controls XLA's fusion: what is computed only once, and what is recomputed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import jax
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def compute_once(fun: Callable[[*Ts], T], *args: *Ts) -> T:
    """Returns `fun(*args)`, computed once and stored instead of recomputed by everything that uses it.

    XLA's CPU backend fuses by recomputing cheap-looking producers for every element of every consumer. This multiplies
    the cost of random words and of observations. The boundary is a call that XLA must not inline, because
    `lax.optimization_barrier` does not stop this fusion on CPU. On other platforms this is plain `fun(*args)`. Works
    under `vmap`, `grad`, `jvp`, `scan` and sharding.

    Args:
      fun: a function of arrays. It must receive all traced values as arguments.
      *args: the arguments, pytrees of arrays.
    """
    traced_once = jax.jit(fun)

    def inlined(*args: *Ts) -> T:
        # Otherwise the mark below would reach every jitted function that `fun` calls, even `jnp.where`, and turn each
        # into a call. Space Invaders' rules would cost three times as much. (Clearing it with None fails under vmap.)
        with set_xla_metadata(inlineable="true"):
            return traced_once(*args)

    def on_cpu(*args: *Ts) -> T:
        with set_xla_metadata(inlineable="false"):
            return jax.jit(inlined)(*args)

    return lax.platform_dependent(*args, cpu=on_cpu, default=inlined)


def recomputed(bools: jax.Array, number: jax.Array) -> jax.Array:
    """Returns the same bools, of any shape, as the result of an operation with a traced integer, int32 ().

    Use it for images of bools that are stored and may be read as floats. In a loop that only converts bools with three
    axes or more, XLA's CPU backend often takes 1 to 3 ns per bool. If the loop also computes them, it takes 0.2 ns.
    """
    return bools & ((number | 1) != 0)  # always True, but XLA doesn't know that
