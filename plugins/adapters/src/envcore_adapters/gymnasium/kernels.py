"""One kernel for a small program that Python calls again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple

import jax
from envcore.fusion import compute_once

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


def one_kernel(fun: Callable[[*Ts], T], *args: *Ts) -> T:
    """Returns `fun(*args)` like `compute_once`, computed by one function of machine code on the CPU.

    XLA's CPU backend otherwise calls a function for each array that is computed, and spreads more than eight of them
    over threads, which takes longer than computing a few thousand numbers: 55 us of the 140 us of a step of 1,024
    CartPoles. In a loop inside a program it gains nothing.

    XLA cannot compile calls of other code, such as callbacks, matrix products or large sums, into a kernel. Where `fun`
    has anything else than plain arithmetic, this is `compute_once`.
    """
    traced_once = jax.jit(fun)
    is_plain = _primitives(jax.make_jaxpr(traced_once)(*args).jaxpr) <= set(_PLAIN_ARITHMETIC.split())
    return compute_once(traced_once, *args, as_kernel=is_plain)


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
