import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_native.arrays import inputs
from envcore_native.interpreter import interpret_function
from envcore_native.rows import by_row
from envcore_native.scalars import Graph

ROW = jax.ShapeDtypeStruct((3,), np.float32)
NUMBER = jax.ShapeDtypeStruct((), np.float32)
NUM_ROWS = 7


def _interpreted(fun):
    graph = Graph()
    arrays = [inputs(graph, name, x.shape, x.dtype) for name, x in (("x", ROW), ("y", NUMBER))]
    return [x.array.scalars() for x in interpret_function(graph, by_row("f", fun, NUM_ROWS), (ROW, NUMBER), arrays)[1]]


@pytest.mark.parametrize(
    "fun",
    [
        lambda x, y: (x * y).sum(axis=1),
        lambda x, y: {"a": x[:, ::-1], "b": jnp.zeros(len(x))},
        lambda x, y: jax.vmap(lambda row: jnp.where(row > y, row, y))(x),
        lambda x, y: jnp.cumsum(x.T, axis=0).T + jnp.sort(x, axis=1)[:, ::-1] / len(x),
        lambda x, y: x * jax.random.uniform(jax.random.key(0), (3, len(x))).T[::-1],
        lambda x, y: x.mean(axis=1) + jnp.arange(len(x), dtype=jnp.float32),
    ],
)
def test_a_function_of_each_row_is_one_of_a_row(fun):
    batch = jax.eval_shape(fun, jax.ShapeDtypeStruct((NUM_ROWS, 3), np.float32), NUMBER)
    for one, many in zip(_interpreted(fun), jax.tree.leaves(batch), strict=True):
        assert (NUM_ROWS, *one.shape) == many.shape


@pytest.mark.parametrize(
    "fun",
    [
        lambda x, y: x - x.mean(axis=0, keepdims=True),
        lambda x, y: x[::-1],
        lambda x, y: jnp.sort(x, axis=0),
    ],
)
def test_a_function_of_other_rows_is_refused(fun):
    with pytest.raises(InvalidArgumentError, match="f must compute each environment's row"):
        _interpreted(fun)


@pytest.mark.parametrize("fun", [lambda x, y: y, lambda x, y: jnp.zeros(4), lambda x, y: x.sum()])
def test_a_result_without_the_batch_axis_is_refused(fun):
    with pytest.raises(InvalidArgumentError, match="f must return arrays with the batch axis first"):
        _interpreted(fun)
