from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore.testing.compare import as_numpy, take, type_difference, value_difference


def test_equal_types_do_not_differ() -> None:
    tree = {"a": jnp.zeros((2,)), "b": (jnp.int32(1), True)}
    assert type_difference(jax.eval_shape(lambda: tree), jax.eval_shape(lambda: tree)) is None


def test_the_differing_leaf_is_named() -> None:
    zeros = np.zeros(2, np.float32)
    assert type_difference({"a": zeros}, {"a": zeros[:1]}) == "['a'] is float32[2] instead of float32[1]"
    assert type_difference(zeros, zeros.astype(np.int32)) == "it is float32[2] instead of int32[2]"
    assert value_difference({"a": zeros}, {"a": zeros + 1}) == "['a'] is 0.0 instead of 1.0"
    assert value_difference({"a": zeros}, {"a": zeros[:1]}) == "['a'] has shape (2,) instead of (1,)"


def test_weak_types_differ() -> None:
    weak, strong = jnp.full((), 1.0), jnp.float32(1)
    assert type_difference(weak, strong) == "it is weak float32[] instead of float32[]"


def test_structures_differ() -> None:
    assert str(type_difference({"a": np.zeros(1)}, {"b": np.zeros(1)})).startswith("its structure is ")


def test_rounding_is_no_difference_but_for_integers_everything_is() -> None:
    assert value_difference(np.float32(1), np.float32(1.00001)) is None
    assert value_difference(np.float32(1), np.float32(1.001)) is not None
    assert value_difference(np.int32(100_000), np.int32(100_001)) is not None
    assert value_difference(np.array([np.nan, np.inf], np.float32), np.array([np.nan, np.inf], np.float32)) is None
    assert value_difference(jnp.bfloat16(1), jnp.bfloat16(1.5)) is not None


def test_keys_are_compared_by_their_words() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    assert as_numpy(keys).shape == (3, 2)
    assert value_difference(keys, keys) is None
    assert value_difference(keys[:2], keys[1:]) is not None


def test_take_indexes_every_leaf() -> None:
    assert take({"a": np.arange(3), "b": np.arange(6).reshape(3, 2)}, 1)["b"].tolist() == [2, 3]
