from __future__ import annotations

import fusion_checks
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.fusion import compute_once, recomputed
from fusion_checks import TREE, X, assert_same, plain


def once(x, tree):
    return compute_once(plain, x, tree)


metadata = fusion_checks.metadata


@pytest.mark.usefixtures("metadata")
class TestComputeOnce:
    @pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["plain", "jit"])
    def test_it_is_the_function(self, transform):
        assert_same(transform(once)(X, TREE), transform(plain)(X, TREE))

    @pytest.mark.parametrize("in_axes", [(0, None), (0, {"scale": 0}), (None, {"scale": 0})])
    def test_vmap(self, in_axes):
        args = (
            X if in_axes[0] is None else jnp.stack([X, -X]),
            TREE if in_axes[1] is None else {"scale": jnp.array([1.0, 2.0])},
        )
        assert_same(jax.jit(jax.vmap(once, in_axes))(*args), jax.vmap(plain, in_axes)(*args))

    def test_grad(self):
        def loss(function, x, tree):
            out = function(x, tree)
            return (out["product"] ** 2).sum() + out["sums"][1].sum()

        expected = jax.grad(loss, (1, 2))(plain, X, TREE)
        assert_same(jax.jit(jax.grad(loss, (1, 2)), static_argnums=0)(once, X, TREE), expected)
        batch = jax.vmap(jax.grad(loss, (1, 2)), (None, 0, None))(once, jnp.stack([X, X]), TREE)
        assert_same(jax.tree.map(lambda x: x[1], batch), expected)

    def test_jvp(self):
        tangents = (jnp.ones_like(X), {"scale": jnp.float32(0.1)})
        assert_same(jax.jvp(once, (X, TREE), tangents), jax.jvp(plain, (X, TREE), tangents))

    def test_sharded(self):
        mesh = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
        xs = jax.device_put(jnp.stack([X, -X]), sharding)
        result = jax.jit(jax.vmap(once, (0, None)))(xs, TREE)
        assert_same(result, jax.vmap(plain, (0, None))(xs, TREE))

    def test_the_boundary_reaches_the_compiled_program(self, metadata):
        """XLA may stop reading the metadata one day: then every environment slows down, and this test says why."""
        if jax.default_backend() != "cpu":
            pytest.skip("the boundary exists on CPU only")
        program = jax.jit(lambda x: compute_once(jnp.sin, x) * 2).lower(X).compile().as_text() or ""
        assert ('inlineable="false"' in program) == (metadata != "without")
        assert ("call(" in program) == (metadata != "without")


@pytest.mark.parametrize("number", [-(2**31), -1, 0, 1, 2**31 - 1])
def test_recomputed_bools_are_the_same_and_xla_computes_them(number):
    bools = jnp.asarray(np.random.default_rng(0).random((4, 3, 3, 7)) < 0.5)
    converted = jax.jit(lambda bools, number: recomputed(bools, number).astype(jnp.float32))
    np.testing.assert_array_equal(converted(bools, jnp.int32(number)), bools.astype(jnp.float32))
    assert " and(" in str(converted.lower(bools, jnp.int32(number)).compile().as_text())
