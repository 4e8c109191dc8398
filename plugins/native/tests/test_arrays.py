import numpy as np
import pytest
from envcore_native.arrays import Memory, constants, fixed, inputs, memory_of
from envcore_native.scalars import Graph, Table

GRAPH = Graph()
W = fixed(GRAPH, "w", (6, 4), np.dtype("float32")).scalars()


@pytest.mark.parametrize(
    ("array", "start", "strides"),
    [
        (W, 0, (4, 1)),
        (W.T, 0, (1, 4)),
        (W[1:3, ::2], 4, (4, 2)),
        (W[::-1], 20, (-4, 1)),
        (W.reshape(2, 3, 4), 0, (12, 4, 1)),
        (W[2], 8, (1,)),
    ],
)
def test_elements_in_a_regular_order(array, start, strides):
    assert memory_of(array) == Memory("w", start, strides)


def test_constants_are_a_table():
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert memory_of(constants(GRAPH, values).scalars()) == Memory(Table(values.dtype, tuple(values.flat)), 0, (3, 1))


@pytest.mark.parametrize(
    "array",
    [
        W[[0, 2, 3]],
        np.concatenate([W, fixed(GRAPH, "v", (6, 4), np.dtype("float32")).scalars()]),
        inputs(GRAPH, "x", (3, 3), np.dtype("float32")).scalars(),
    ],
)
def test_elements_elsewhere(array):
    assert memory_of(array) is None
