"""Functions computed by generated code on the CPU."""

import ctypes

import jax
import numpy as np
import pytest
from envcore_native import compiler, function, kernels
from envcore_native.arrays import Leaf, fixed
from envcore_native.interpreter import interpret_function
from envcore_native.scalars import Graph
from envcore_native.trace import rollout_function

pytest.importorskip("warp")  # of the group `full`

MOST_UNROLLED = 1000, 3
"""Everything unrolled, and loops wherever there may be some."""


def evaluated(fun, *structs):
    """`fun` as compiled by all back ends for arrays of these types: it returns a list of numpy arrays."""
    structs = [jax.ShapeDtypeStruct(np.shape(x), x.dtype) for x in structs]
    kernel, *functions = by_kernel(fun, structs), *(by_c(fun, structs, most) for most in MOST_UNROLLED)

    def results(*args):
        expected = kernel(*args)
        for function_of_c in functions:
            for ours, theirs in zip(function_of_c(*args), expected, strict=True):
                assert ours.dtype == theirs.dtype
                if ours.dtype.kind == "f":
                    np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=1e-7)
                else:
                    np.testing.assert_array_equal(ours, theirs)
        return expected

    return results


def by_kernel(fun, structs):
    """The kernel of a rollout, compiled by Warp."""
    graph = Graph()
    inputs = [fixed(graph, f"in{i}", x.shape, x.dtype) for i, x in enumerate(structs)]
    result, stacked, _ = interpret_function(graph, fun, tuple(structs), inputs)
    result = jax.tree.leaves(result)
    leaves = [Leaf(f"in{i}", x, s.dtype) for i, (x, s) in enumerate(zip(inputs, structs, strict=True))]
    text = rollout_function(graph, [], [], leaves, [], stacked)
    call = jax.jit(lambda *args: kernels.play(text, 1, 1, [], args, result)[1])
    return lambda *args: [np.asarray(x).reshape(s.shape) for x, s in zip(call(*args), result, strict=True)]


def by_c(fun, structs, most_unrolled):
    """A function of C, compiled by the system's compiler."""
    made = function.lower("fun", lambda _, row: ((), fun(*row)), (), tuple(structs), most_unrolled=most_unrolled)
    code = compiler.load(function.prelude() + made.source).fun

    def call(*args):
        inputs = [np.ascontiguousarray(x, s.dtype) for x, s in zip(args, structs, strict=True)]
        outputs = [np.zeros(x.shape, x.dtype) for x in jax.tree.leaves(made.rows)]
        arrays = [*inputs, *outputs]
        code(0, 1, (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays)))
        return outputs

    return call
