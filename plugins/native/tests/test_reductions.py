import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from evaluated import evaluated
from jax import lax


def _check(fun, *args):
    for ours, theirs in zip(evaluated(fun, *args)(*args), jax.tree.leaves(jax.jit(fun)(*args)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_integers_are_combined_as_by_xla():
    def fun(x):
        return [
            x.sum(axis=0),
            x.max(axis=1),
            x.min(),
            lax.reduce_and(x, (0,)),
            lax.reduce_xor(x, (1,)),
            jnp.prod(x, axis=1),
            jnp.argmax(x % 7, axis=1),
            jnp.argmin(x % 5, axis=0),
            lax.cumsum(x, axis=1, reverse=True),
            lax.cummax(x % 5, axis=0),
            x[:0].sum(axis=0),
            jnp.sort(x % 5, axis=0),
            jnp.argsort(x % 3, axis=1),
            lax.sort((x[0] % 2, x[1] % 3, x[2]), num_keys=2),
        ]

    _check(fun, np.arange(20, dtype=np.int32).reshape(5, 4) * 7 % 11)


def test_nan_is_sorted_last_and_is_the_best():
    x = np.array([2.0, np.nan, -0.0, np.inf, 0.0, -np.inf, np.nan, 1.0], np.float32)
    _check(lambda x: [jnp.sort(x), jnp.argsort(x), jnp.argmax(x), jnp.argmin(x), x.max(), x.min()], x)


def test_a_long_array_is_not_sorted():
    with pytest.raises(InvalidArgumentError, match=r"no rule for sort of 65 elements at .*test_reductions"):
        evaluated(lambda x: jnp.sort(x), np.zeros(65, np.float32))
