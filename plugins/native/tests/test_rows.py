import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_native.rows import by_row

ROW = jax.ShapeDtypeStruct((3,), np.float32)
NUMBER = jax.ShapeDtypeStruct((), np.float32)


@pytest.mark.parametrize(
    "fun",
    [
        lambda x, y: (x * y).sum(axis=1),
        lambda x, y: {"a": x[:, ::-1], "b": jnp.zeros(len(x))},
        lambda x, y: jax.vmap(lambda row: jnp.where(row > y, row, y))(x),
        lambda x, y: jax.random.uniform(jax.random.key(0), (len(x), 2)),
    ],
)
def test_a_function_of_each_row_is_one_of_a_row(fun):
    result = jax.eval_shape(by_row("f", fun), ROW, NUMBER)
    batch = jax.eval_shape(fun, jax.ShapeDtypeStruct((7, 3), np.float32), NUMBER)
    for one, many in zip(jax.tree.leaves(result), jax.tree.leaves(batch), strict=True):
        assert (7, *one.shape) == many.shape


@pytest.mark.parametrize(
    "fun",
    [
        lambda x, y: x - x.mean(axis=0, keepdims=True),
        lambda x, y: x[::-1],
        lambda x, y: x * jnp.arange(len(x), dtype=jnp.float32)[:, None],
        lambda x, y: x / len(x),
        lambda x, y: jax.random.uniform(jax.random.key(0), (len(x),))[::-1],
    ],
)
def test_a_function_that_mixes_or_tells_apart_rows_is_refused(fun):
    with pytest.raises(InvalidArgumentError, match="f must compute each environment's row"):
        jax.eval_shape(by_row("f", fun), ROW, NUMBER)


@pytest.mark.parametrize("fun", [lambda x, y: y, lambda x, y: jnp.zeros(4), lambda x, y: x.sum()])
def test_a_result_without_the_batch_axis_is_refused(fun):
    with pytest.raises(InvalidArgumentError, match="f must return arrays with the batch's axis"):
        jax.eval_shape(by_row("f", fun), ROW, NUMBER)
