from __future__ import annotations

from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import trees
from envcore_testing.numerics import numerics
from flax import struct


@struct.dataclass
class Point:
    x: Any
    tags: Any


class WrongTypeError(Exception):
    pass


STRUCT = Point(
    x=jax.ShapeDtypeStruct((2,), jnp.float32),
    tags={"n": jax.ShapeDtypeStruct((), jnp.int32), "on": jax.ShapeDtypeStruct((), jnp.bool_)},
)


def point(x: Any = (0.0, 1.0), n: Any = 3, on: Any = True) -> Point:
    return Point(x=np.asarray(x) if isinstance(x, tuple) else x, tags={"n": n, "on": on})


def conform(tree: Any, struct: Any = STRUCT) -> Any:
    return trees.conform(tree, struct, "the point", WrongTypeError, " Use jax.vmap.")


class TestNarrow:
    @pytest.mark.parametrize("x64", [False, True])
    @pytest.mark.parametrize(
        ("value", "dtype"),
        [
            (1.5, "float32"),
            (2, "int32"),
            (True, "bool"),
            (np.arange(3, dtype=np.uint64), "uint32"),
            (np.float16(1), "float16"),
        ],
        ids=str,
    )
    def test_dtypes(self, value: Any, dtype: str, x64: bool) -> None:
        with numerics(x64=x64, dtype_promotion="strict"):
            narrow = trees.narrow({"a": value})["a"]
        assert (narrow.dtype.name, narrow.weak_type) == (dtype, False)
        np.testing.assert_array_equal(narrow, value)


class TestConform:
    @pytest.mark.parametrize(
        "tree",
        [
            point(),
            point(x=jnp.array([0.0, 1.0]), n=jnp.int32(3), on=jnp.bool_(True)),
            point(x=jnp.array([0, 1], jnp.int8), n=np.uint8(3), on=np.bool_(True)),
            point(x=jnp.full((2,), 0.5) * jnp.array([0.0, 2.0], jnp.float16)),
        ],
        ids=["python", "exact", "narrower", "weak"],
    )
    def test_values_that_lose_nothing_get_the_expected_types(self, tree: Point) -> None:
        for result in (conform(tree), jax.jit(conform)(tree)):
            chex.assert_trees_all_equal_shapes_and_dtypes(result, STRUCT)
            np.testing.assert_array_equal(result.x, [0, 1])
            assert (int(result.tags["n"]), bool(result.tags["on"])) == (3, True)
        assert not any(leaf.weak_type for leaf in jax.tree.leaves(jax.jit(conform)(tree)))

    @pytest.mark.parametrize(
        ("tree", "message"),
        [
            (point(x=np.zeros(3)), r"^the point\.x must have shape \(2,\), got \(3,\)\.$"),
            (point(n=1.5), r"^the point\.tags\['n'\] must be int32, got float64\.$"),
            (point(x=np.array([True, False])), r"^the point\.x must be float32, got bool\.$"),
            (point(n=2**31), r"^the point\.tags\['n'\] must fit into int32, got 2147483648\.$"),
            (Point(x=[0.0, 1.0], tags={"n": 3}), r"^the point must be Point, got one without "),
        ],
    )
    def test_everything_else_is_refused(self, tree: Any, message: str) -> None:
        with pytest.raises(WrongTypeError, match=message):
            conform(tree)

    def test_keys(self) -> None:
        key, expected = jax.random.key(0), jax.eval_shape(lambda: jax.random.key(0))
        assert conform(key, expected) is key
        for wrong, got in (
            (jax.random.split(key), r"key<fry>\[2\]"),
            (3, "3"),
        ):
            with pytest.raises(WrongTypeError, match=rf"^the point must be a random key key<fry>\[\], got {got}\.$"):
                conform(wrong, expected)


class TestWhere:
    def test_the_condition_s_axes_are_the_leading_ones(self) -> None:
        condition = jnp.array([True, False])
        chosen = trees.where(condition, jnp.ones((2, 2, 3)), jnp.zeros((2, 2, 3)))
        np.testing.assert_array_equal(chosen.sum((1, 2)), [6, 0])

    def test_keys_are_chosen_too(self) -> None:
        keys = jax.random.split(jax.random.key(0), 4)
        chosen = trees.where(jnp.array([True, False]), keys[:2], keys[2:])
        assert (chosen == jnp.stack([keys[0], keys[3]])).all()
