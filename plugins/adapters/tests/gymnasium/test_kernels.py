"""Small programs in one kernel, with XLA's metadata and without."""

from __future__ import annotations

import fusion_checks
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.fusion import compute_once
from envcore_adapters.gymnasium import kernels
from envcore_adapters.gymnasium.kernels import one_kernel
from fusion_checks import TREE, X, assert_same, plain
from jax import lax

metadata = fusion_checks.metadata
pytestmark = pytest.mark.usefixtures("metadata")


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["plain", "jit"])
def test_it_is_the_function(transform):
    def function(x, tree):
        return one_kernel(plain, x, tree)

    assert_same(transform(function)(X, TREE), transform(plain)(X, TREE))
    batch = jnp.stack([X, -X])
    assert_same(
        transform(jax.vmap(function, (0, None)))(batch, TREE), transform(jax.vmap(plain, (0, None)))(batch, TREE)
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (jnp.arctan2(x, x + 1), jnp.ceil(x), lax.clamp(0.0, x, 1.0), jnp.cos(x), jnp.sin(x), jnp.tan(x)),
        lambda x: (lax.erf_inv(x / 4), jnp.exp(x), jnp.expm1(x), jnp.log(x + 3), jnp.log1p(x + 3), jnp.tanh(x)),
        lambda x: (x**3, (x + 3) ** x, lax.rsqrt(x + 3), jnp.sqrt(x + 3), jnp.square(x), jnp.sign(x), jnp.round(x)),
        lambda x: (x.sum(), x.prod(), x.max(), x.min(), (x > 0).all(), (x > 0).any(), jnp.isfinite(x)),
        lambda x: (jnp.pad(x, 1), x[::-1], x.reshape(2, 3).T, jnp.stack([x, x]), lax.rem(x, x + 5), jnp.array(x)),
        lambda x: lax.cond(x[0] > 0, lambda: x + 1, lambda: x * 2),
        lambda x: lax.population_count(lax.bitcast_convert_type(x, jnp.int32)),
    ],
)
def test_every_operation_that_can_be_in_a_kernel(function):
    jaxpr = jax.make_jaxpr(function)(X).jaxpr
    assert kernels._primitives(jaxpr) <= set(kernels._PLAIN_ARITHMETIC.split())
    assert_same(jax.jit(lambda x: one_kernel(function, x))(X), jax.jit(function)(X))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.dot(x, x),
        lambda x: jnp.linalg.cholesky(jnp.eye(6) + x[0] ** 2),
        lambda x: lax.cond(x[0] < 0, lambda: jnp.sort(x), lambda: x),
        lambda x: jax.pure_callback(lambda x: np.asarray(x) + 1, x, x),
    ],
)
def test_other_operations_stay_outside_of_kernels(function):
    compiled = jax.jit(lambda x: one_kernel(function, x)).lower(X).compile()
    assert "xla_cpu_small_call" not in (compiled.as_text() or "")
    assert_same(compiled(X), jax.jit(function)(X))


@pytest.mark.parametrize(
    "function",
    [
        jnp.sin,
        lambda x: (compute_once(jnp.sin, x), compute_once(jnp.cos, x) * 2),
        lambda x: one_kernel(lambda x: compute_once(jnp.sin, x), x) + 1,
        lambda x: jnp.sin(x.reshape(1000, 1000)).max(axis=1),
    ],
    ids=["itself", "what is computed once in it", "a kernel in it", "a reduction"],
)
def test_large_arrays(function):
    """XLA spreads their computation over threads or leaves it to a library, which it cannot do inside a kernel."""
    x = np.linspace(-2, 3, 1_000_000, dtype=np.float32)
    assert_same(jax.jit(lambda x: one_kernel(function, x))(x), jax.jit(function)(x))


def test_xla_is_told(metadata):
    """Otherwise it calls one for each result; then adapters slow down, and this test says why."""
    if jax.default_backend() != "cpu":
        pytest.skip("kernels are counted on CPU only")
    program = jax.jit(lambda x: one_kernel(jnp.sin, x) * 2).lower(X).compile().as_text() or ""
    is_told = metadata != "without"
    assert ('xla_cpu_small_call="true"' in program) == is_told
