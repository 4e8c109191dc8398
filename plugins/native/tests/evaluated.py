"""Functions computed by generated code on the CPU."""

import jax
import numpy as np
from envcore_native import kernels
from envcore_native.arrays import fixed
from envcore_native.body import Leaf
from envcore_native.interpreter import interpret_function
from envcore_native.scalars import Graph
from envcore_native.source import rollout_function


def evaluated(fun, *structs):
    """`fun` as compiled by the plugin for arrays of these types: it returns a list of numpy arrays."""
    graph = Graph()
    structs = [jax.ShapeDtypeStruct(np.shape(x), x.dtype) for x in structs]
    inputs = [fixed(graph, f"in{i}", x.shape, x.dtype) for i, x in enumerate(structs)]
    result, outputs, _ = interpret_function(graph, fun, tuple(structs), inputs)
    result = jax.tree.leaves(result)
    leaves = [Leaf(f"in{i}", x, s.dtype) for i, (x, s) in enumerate(zip(inputs, structs, strict=True))]
    stacked = [Leaf(f"out{i}", x, s.dtype) for i, (x, s) in enumerate(zip(outputs, result, strict=True))]
    text, _ = rollout_function([], [], leaves, [], stacked)

    @jax.jit
    def call(*args):
        row = np.zeros((1, 1), np.uint32)
        outputs = [((1, 1, x.size), x.dtype) for x in result]
        scalars = {"count": 1, "num_envs": 1, "num_steps": 1, **{f"stride{i}": 0 for i in range(len(args))}}
        args = [x.reshape(-1) for x in args]
        return kernels.call("rollout", text, scalars, [row, *args], outputs, threads=32, block=32)

    return lambda *args: [np.reshape(x, s.shape) for x, s in zip(call(*args), result, strict=True)]
