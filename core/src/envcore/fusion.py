"""Boundaries for XLA's fusion: what is computed only once, and what is computed together."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

import jax
import numpy as np
from jax import lax

try:  # experimental in JAX: without it, programs are slower and otherwise the same
    from jax.experimental.xla_metadata import set_xla_metadata
except ImportError:  # pragma: no cover
    set_xla_metadata = None

_KERNELS_SINCE = (0, 7, 2)  # in older releases, XLA also spreads what is inside of a kernel: the process crashes

_in_kernel: contextvars.ContextVar[bool] = contextvars.ContextVar("in_kernel", default=False)
"""Whether what is traced becomes part of a kernel."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_LARGE_REDUCTION = 1000  # elements; XLA leaves a reduction of several thousand to a library

_PLAIN_ARITHMETIC = """
    abs add and atan2 bitcast_convert_type broadcast_in_dim ceil clamp concatenate cond convert_element_type copy cos
    div dynamic_slice eq erf_inv exp expand_dims expm1 floor ge gt integer_pow iota is_finite jit le log log1p lt max
    min mul ne neg not optimization_barrier or pad pjit platform_index population_count pow random_unwrap random_wrap
    reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum rem reshape rev round rsqrt select_n shift_left
    shift_right_arithmetic shift_right_logical sign sin slice sqrt square squeeze stack sub tan tanh transpose xor
"""


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
    return _call(fun, args)


def one_kernel(fun: Callable[[*Ts], T], *args: *Ts) -> T:
    """Returns `fun(*args)` like `compute_once`, computed by one function of machine code on the CPU.

    For small programs that Python calls again and again. XLA's CPU backend otherwise calls a function for each array
    that is computed, and spreads more than eight of them over threads, which takes longer than computing a few
    thousand numbers: 55 us of the 140 us of a step of 1,024 CartPoles. In a loop inside a program it gains nothing.

    XLA cannot compile calls of other code, such as callbacks, matrix products or large sums, into a kernel. Where `fun`
    has anything else than plain arithmetic, and before JAX 0.7.2, this is `compute_once`.
    """
    traced_once = jax.jit(fun)
    is_plain = _primitives(jax.make_jaxpr(traced_once)(*args).jaxpr) <= set(_PLAIN_ARITHMETIC.split())
    if not is_plain or jax.__version_info__ < _KERNELS_SINCE:
        return compute_once(traced_once, *args)
    token = _in_kernel.set(True)
    try:
        return _call(traced_once, args, xla_cpu_small_call="true")
    finally:
        _in_kernel.reset(token)


def recomputed(bools: jax.Array, number: jax.Array) -> jax.Array:
    """The same bools, as the result of an operation; for pictures of them that are stored, and may be read as floats.

    In a loop that only converts bools of three axes or more, XLA's CPU backend often takes 1 to 3 ns for each, and 0.2
    where the loop computes them too.

    Args:
      bools: any shape.
      number: a traced integer, int32 ().
    """
    return bools & ((number | 1) != 0)  # True, which XLA does not see


def _primitives(jaxpr: Any) -> set[str]:
    """The names of the operations in it, and in the functions that it calls; a large reduction is "large ..."."""
    names: set[str] = set()
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        is_reduction = name in ("reduce_sum", "reduce_max", "reduce_min")
        names.add(f"large {name}" if is_reduction and equation.invars[0].aval.size > _LARGE_REDUCTION else name)
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda x: hasattr(x, "jaxpr")):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns"):
                names |= _primitives(inner)
    return names


def _call(fun: Callable[[*Ts], T], args: tuple[*Ts], **marks: str) -> T:
    mark = set_xla_metadata
    if mark is None:
        return fun(*args)

    traced_once = jax.jit(fun)

    def inlined(*args: *Ts) -> T:
        # Otherwise the mark below would reach every jitted function that `fun` calls, even `jnp.where`, and make each a
        # separate call: three times the cost in Space Invaders' rules. (Clearing the mark with None fails under vmap.)
        with mark(inlineable="true"):
            return traced_once(*args)

    def with_zero(*args: *Ts) -> tuple[T, np.uint32]:
        return inlined(*args), np.uint32(0)

    def on_cpu(*args: *Ts) -> T:
        with mark(inlineable="false", **marks):
            if not _in_kernel.get():
                return jax.jit(inlined)(*args)
            # XLA spreads a call over threads if it has one large result, but cannot compile that into a kernel. The
            # barrier keeps the second result.
            return lax.optimization_barrier(jax.jit(with_zero)(*args))[0]

    return lax.platform_dependent(*args, cpu=on_cpu, default=inlined)
