import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from evaluated import evaluated
from hypothesis import given, settings
from hypothesis import strategies as st

RANDOM = np.random.default_rng(0)
X, W = RANDOM.normal(size=(1, 20)).astype(np.float32), RANDOM.normal(size=(20, 12)).astype(np.float32)
STACK = RANDOM.normal(size=(3, 20, 5)).astype(np.float32)


def test_products_are_those_of_xla():
    def products(x, w, stack):
        return [
            x @ w,
            w.T @ x[0],
            jnp.matmul(x, w, precision="highest"),
            x[:, ::-1] @ w[:, 4:9],
            x @ w[::-1],
            jnp.tanh(jnp.tanh(x @ w) @ w.T) @ w,
            jnp.einsum("ik,bkm->bim", x, stack),
            jnp.concatenate([x, x + 1]) @ w,
            x @ W,
            jnp.where(x > 0, 1.0, 0.0) @ w,
            (x > 0).astype(jnp.float32) @ w,
            x[:, :4] @ x[:, 4:16].reshape(4, 3),
            (x[0, :4] > 0).astype(jnp.int32) @ jnp.arange(4),
            jnp.zeros((2, 0)) @ jnp.zeros((0, 3)) + x[0, 0],
        ]

    ours = evaluated(products, X, W, STACK)(X, W, STACK)
    for a, b in zip(ours, jax.jit(products)(X, W, STACK), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(sizes=st.lists(st.integers(1, 32), min_size=2, max_size=4), seed=st.integers(0, 9))
def test_layers_of_any_sizes(sizes, seed):
    random = np.random.default_rng(seed)
    weights = [random.normal(size=pair).astype(np.float32) / 4 for pair in itertools.pairwise(sizes)]
    x = random.normal(size=sizes[:1]).astype(np.float32)

    def network(x, *weights):
        for each in weights:
            x = jax.nn.relu(x @ each) + 0.1
        return x

    (ours,) = evaluated(network, x, *weights)(x, *weights)
    np.testing.assert_allclose(ours, jax.jit(network)(x, *weights), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("fun", "message"),
    [
        (
            lambda x, w: x @ jnp.concatenate([w] * 5, axis=1),
            r"does not support dot_general of 1,200 products.* at .*products",
        ),
        (lambda x, w: x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16), "convert_element_type of bfloat16"),
    ],
)
def test_what_is_not_computed_is_named(fun, message):
    with pytest.raises(InvalidArgumentError, match=message):
        evaluated(fun, X, W)
