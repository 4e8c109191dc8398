import numpy as np
import pytest
from envcore_native.arrays import inputs
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
