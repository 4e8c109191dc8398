import numpy as np
import pytest
from envcore_fused.scalars import BY_STEP, Graph
from envcore_fused.source import Leaf, rollout_function, shared_columns, table_function


def _stored(shape, dtype):
    graph = Graph()
    values = graph.inputs("in", shape, np.dtype(dtype))
    return rollout_function([], [], [], [], [Leaf("out", values, np.dtype(dtype))])


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


def test_what_depends_on_the_step_alone_becomes_a_column():
    graph = Graph()
    key = graph.inputs("key", (2,), np.dtype("uint32"), BY_STEP)
    x = graph.input("x", "uint32")
    word = graph.apply("op_xor", "uint32", *key)
    flag = graph.apply("op_lt", "bool", *key)
    end = graph.apply("op_select", "uint32", flag, graph.apply("op_add", "uint32", word, x), x)
    columns = shared_columns([end])
    assert columns == [word, flag]
    text = table_function(columns, list(key), [word, key[0]])
    assert "row[2] = op_bitcast<uint32>(" in text
    assert "row[3] = (uint32)(" in text
