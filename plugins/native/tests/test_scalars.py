from envcore_native.scalars import BY_ENVIRONMENT, BY_STEP, CONSTANT, Graph, live


def test_two_scalars_with_the_same_operation_and_arguments_are_one():
    graph = Graph()
    a, b = graph.input("a", "int32"), graph.input("b", "int32")
    assert graph.apply("op_add", "int32", a, b) is graph.apply("op_add", "int32", a, b)
    assert graph.apply("op_add", "int32", a, b) is not graph.apply("op_add", "int32", b, a)
    assert graph.constant(0.0, "float32") is not graph.constant(-0.0, "float32")


def test_a_scalar_varies_with_its_arguments():
    graph = Graph()
    word, number = graph.input("k", "uint32", BY_STEP), graph.input("x", "uint32")
    two = graph.constant(2, "uint32")
    assert graph.apply("op_add", "uint32", two, two).varies == CONSTANT
    assert graph.apply("op_add", "uint32", word, two).varies == BY_STEP
    assert graph.apply("op_add", "uint32", word, number).varies == BY_ENVIRONMENT


def test_live_scalars_come_once_and_after_their_arguments():
    graph = Graph()
    x = graph.input("x", "int32")
    y = graph.apply("op_neg", "int32", x)
    z = graph.apply("op_add", "int32", y, x)
    graph.apply("op_abs", "int32", x)
    known = set()
    assert live([z, y], known) == [x, y, z]
    assert live([z], known) == []
