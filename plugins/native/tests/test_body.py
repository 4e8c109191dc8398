import numpy as np
import pytest
from envcore_native.arrays import fixed, inputs, memory_of
from envcore_native.body import Body, Leaf
from envcore_native.scalars import Graph


def _stored(shape, dtype):
    graph = Graph()
    values = inputs(graph, "in", shape, np.dtype(dtype))
    body = Body()
    body.store(Leaf("out", values, np.dtype(dtype)))
    return "\n".join(body.lines)


@pytest.mark.parametrize(
    ("shape", "dtype", "unit"), [((4,), "float32", 4), ((2,), "int32", 2), ((3,), "uint32", 1), ((16,), "bool", 4)]
)
def test_a_short_row_is_stored_in_units_of_up_to_16_bytes(shape, dtype, unit):
    text = _stored(shape, dtype)
    words = np.prod(shape) * np.dtype(dtype).itemsize // 4
    assert text.count("store(DIRECT(") == words / unit
    assert "FLUSH" not in text


def test_a_long_row_is_staged_128_bytes_at_a_time():
    text = _stored((10, 20), "bool")
    assert text.count("store(ROW(") == 25
    assert text.count("FLUSH(2,") == 2


def test_a_row_of_odd_bytes_is_stored_byte_by_byte():
    assert _stored((3,), "bool").count("* 3 + ") == 3


def test_warps_meet_outside_the_branches_that_compute_the_inputs_of_a_layer():
    graph = Graph()
    weights = [memory_of(fixed(graph, name, (5, 3), np.dtype("float32")).scalars()) for name in "uv"]
    values = list(inputs(graph, "in", (3,), np.dtype("float32")).scalars())
    for memory in weights:
        product = graph.apply("product", np.float32, memory, 5, graph.apply("units", np.float32, *values))
        units = [graph.apply("unit", np.float32, product, number) for number in range(5)]
        values = [graph.apply("op_neg", np.float32, each) for each in units[:3]]
    body = Body()
    body.compute(values)
    depths = np.cumsum([line.count("{") - line.count("}") for line in body.lines])
    meetings = [depth for line, depth in zip(body.lines, depths, strict=True) if "SYNC_BLOCK" in line]
    assert meetings == [0, 0, 0, 0]
    assert sum("product<3, 5, 1, 3, false>" in line for line in body.lines) == 2
    assert max(depths) == 1
