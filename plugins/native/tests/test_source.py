from envcore_native.scalars import BY_STEP, Graph
from envcore_native.source import shared_columns, table_function


def test_what_depends_on_the_step_alone_becomes_a_column():
    graph = Graph()
    key = [graph.input(f"key_{i}", "uint32", BY_STEP) for i in (0, 1)]
    x = graph.input("x", "uint32")
    word = graph.apply("op_xor", "uint32", *key)
    flag = graph.apply("op_lt", "bool", *key)
    end = graph.apply("op_select", "uint32", flag, graph.apply("op_add", "uint32", word, x), x)
    columns = shared_columns([end])
    assert columns == [word, flag]
    text = table_function(columns, key, [word, key[0]])
    assert "row[2] = (uint32)(v" in text
    assert "row[3] = (uint32)(v" in text
