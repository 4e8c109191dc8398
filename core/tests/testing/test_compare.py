from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore.testing.compare import as_numpy, join, on_host, take, type_differences, value_differences


def test_equal_types_do_not_differ() -> None:
    tree = {"a": jnp.zeros((2,)), "b": (jnp.int32(1), True)}
    assert type_differences(jax.eval_shape(lambda: tree), jax.eval_shape(lambda: tree)) == []


def test_the_differing_leaf_is_named() -> None:
    zeros = np.zeros(2, np.float32)
    assert type_differences({"a": zeros}, {"a": zeros[:1]}) == ["['a'] is float32[2] instead of float32[1]"]
    assert type_differences(zeros, zeros.astype(np.int32)) == ["it is float32[2] instead of int32[2]"]
    assert value_differences({"a": zeros}, {"a": zeros + 1}) == ["['a'] is 0.0 instead of 1.0"]
    assert value_differences({"a": zeros}, {"a": zeros[:1]}) == ["['a'] has shape (2,) instead of (1,)"]


def test_every_differing_leaf_is_named() -> None:
    zeros, wide = np.zeros(2, np.float32), np.zeros(2, np.float64)
    got, expected = {"a": zeros, "b": zeros, "c": wide}, {"a": wide, "b": zeros, "c": zeros + 1}
    assert [problem[:5] for problem in type_differences(got, expected)] == ["['a']", "['c']"]
    assert [problem[:5] for problem in value_differences({**got, "a": zeros + 2}, expected)] == ["['a']", "['c']"]


def test_weak_types_differ() -> None:
    weak, strong = jnp.full((), 1.0), jnp.float32(1)
    assert type_differences(weak, strong) == ["it is weak float32[] instead of float32[]"]


def test_structures_differ() -> None:
    (problem,) = type_differences({"a": np.zeros(1)}, {"b": np.zeros(1)})
    assert problem.startswith("its structure is ")


def test_rounding_is_no_difference_but_for_integers_everything_is() -> None:
    assert value_differences(np.float32(1), np.float32(1.00001)) == []
    assert value_differences(np.float32(1), np.float32(1.001)) != []
    assert value_differences(np.int32(100_000), np.int32(100_001)) != []
    assert value_differences(np.array([np.nan, np.inf], np.float32), np.array([np.nan, np.inf], np.float32)) == []
    assert value_differences(jnp.bfloat16(1), jnp.bfloat16(1.5)) != []


def test_keys_are_compared_by_their_words() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    assert as_numpy(keys).shape == (3, 2)
    assert value_differences(keys, keys) == []
    assert value_differences(keys[:2], keys[1:]) != []


def test_take_indexes_every_leaf() -> None:
    assert take({"a": np.arange(3), "b": np.arange(6).reshape(3, 2)}, 1)["b"].tolist() == [2, 3]


def test_joined_trees_follow_each_other() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    joined = join({"a": np.arange(2), "key": keys[:2]}, {"a": np.arange(1), "key": keys[2:]})
    assert joined["a"].tolist() == [0, 1, 0]
    assert value_differences(joined["key"], keys) == []


def test_on_the_host_there_are_numpy_arrays_and_keys() -> None:
    tree = on_host({"a": jnp.arange(2), "key": jax.random.key(0)})
    assert isinstance(tree["a"], np.ndarray)
    assert jnp.issubdtype(tree["key"].dtype, jax.dtypes.prng_key)
