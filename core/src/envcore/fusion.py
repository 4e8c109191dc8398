"""Boundaries for XLA's fusion: what is computed only once, and what is computed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import jax
from jax import lax
from jax.experimental.xla_metadata import set_xla_metadata

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def compute_once(fun: Callable[[*Ts], T], *args: *Ts) -> T:
    """Returns `fun(*args)`, computed once and stored instead of recomputed by everything that reads it.

    XLA's CPU backend fuses by recomputing cheap-looking producers for every element of every consumer, which multiplies
    the cost of random words and of observations. The boundary is a call that XLA is told not to inline;
    `lax.optimization_barrier` does not stop this fusion on CPU. On other platforms this is plain `fun(*args)`. Works
    under `vmap`, `grad`, `jvp`, `scan` and sharding.

    Args:
      fun: a function of arrays. It must receive all traced values as arguments.
      *args: its arguments, pytrees of arrays.
    """
    traced_once = jax.jit(fun)

    def inlined(*args: *Ts) -> T:
        # Otherwise the mark below would reach every jitted function that `fun` calls, even `jnp.where`, and make each a
        # separate call: three times the cost in Space Invaders' rules. (Clearing the mark with None fails under vmap.)
        with set_xla_metadata(inlineable="true"):
            return traced_once(*args)

    def on_cpu(*args: *Ts) -> T:
        with set_xla_metadata(inlineable="false"):
            return jax.jit(inlined)(*args)

    return lax.platform_dependent(*args, cpu=on_cpu, default=inlined)


def recomputed(bools: jax.Array, number: jax.Array) -> jax.Array:
    """The same bools, of any shape, as the result of an operation with a traced integer, int32 ().

    It is for pictures of them that are stored, and may be read as floats. In a loop that only converts bools of three
    axes or more, XLA's CPU backend often takes 1 to 3 ns for each, and 0.2 where the loop computes them too.
    """
    return bools & ((number | 1) != 0)  # True, which XLA does not see
