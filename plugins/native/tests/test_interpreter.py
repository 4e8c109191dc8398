import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from evaluated import by_c, evaluated
from jax import lax

X = np.arange(20, dtype=np.int32).reshape(5, 4)


def test_programs_inside_a_program():
    @jax.custom_jvp
    def twice(x):
        return 2 * x

    @twice.defjvp
    def _(primals, tangents):
        return twice(*primals), tangents[0]

    def fun(x, i):
        return [
            lax.cond(i[1] > 2, lambda: x, lambda: -x),
            lax.switch(i[2], [lambda: x, lambda: -x, lambda: x + 1]),
            lax.scan(lambda total, row: (total + row, total * row), i, x),
            lax.scan(lambda total, row: (total + row, total - row), i, x, reverse=True),
            lax.scan(lambda total, row: (total + row, total), i, x[:0])[0],
            lax.fori_loop(0, 3, lambda n, y: y + n, x),
            twice(x),
            jax.checkpoint(twice)(x),
            jax.jit(lambda x: x - 1)(x),
            lax.optimization_barrier(x),
            jnp.sin(jnp.float32(0)).astype(jnp.int32) + x,
        ]

    places = np.array([0, 3, -2, 9], np.int32)
    theirs = jax.tree.leaves(jax.jit(fun)(X, places))
    for a, b in zip(evaluated(fun, X, places)(X, places), theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_long_chain_of_large_arrays():
    """It would be too deep for Python, if no array in it was stored."""

    def fun(x):
        return lax.scan(lambda total, i: (jnp.where(total > i, total - x, total + i), None), x, jnp.arange(400))[0]

    x = np.arange(100, dtype=np.int32) * 7 % 31
    struct = [jax.ShapeDtypeStruct(x.shape, x.dtype)]
    np.testing.assert_array_equal(by_c(fun, struct, 8)(x)[0], jax.jit(fun)(x))


def test_a_primitive_without_a_rule_is_named_with_its_line():
    with pytest.raises(InvalidArgumentError, match=r"does not support the primitive clz at .*test_interpreter"):
        evaluated(lambda x: lax.clz(x), X)


def test_the_line_is_of_the_caller_where_jax_has_the_primitive_inside():
    with pytest.raises(InvalidArgumentError, match=r"primitive conv_general_dilated at .*test_interpreter"):
        evaluated(lambda x: jnp.convolve(x.ravel(), np.ones(3, np.int32)), X)


def test_another_type_is_named():
    with pytest.raises(InvalidArgumentError, match=r"does not support \w+ of float16 at .*test_interpreter"):
        evaluated(lambda x: x.astype(jnp.float16), X)
