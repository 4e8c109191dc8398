from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy
from envcore.engine import arguments
from envcore_testing.trees import (
    as_numpy,
    exact_differences,
    float_leaves,
    type_differences,
    value_differences,
    with_leaf,
)


def test_equal_types_do_not_differ() -> None:
    tree = {"a": jnp.zeros((2,)), "b": (jnp.int32(1), True)}
    assert type_differences(jax.eval_shape(lambda: tree), jax.eval_shape(lambda: tree)) == []


def test_the_differing_leaf_is_named() -> None:
    zeros = np.zeros(2, np.float32)
    assert type_differences({"a": zeros}, {"a": zeros[:1]}) == ["['a'] is float32[2] instead of float32[1]"]
    assert type_differences(zeros, zeros.astype(np.int32)) == ["it is float32[2] instead of int32[2]"]
    assert value_differences({"a": zeros}, {"a": zeros + 1}) == ["['a'] is 0.0 instead of 1.0"]
    assert value_differences({"a": zeros}, {"a": zeros[:1]}) == ["['a'] has shape (2,) instead of (1,)"]
    assert value_differences({"a": zeros}, {"a": zeros + 1}, "obs") == ["obs['a'] is 0.0 instead of 1.0"]


def test_weak_types_differ() -> None:
    weak, strong = jnp.full((), 1.0), jnp.float32(1)
    assert type_differences(weak, strong) == ["it is weak float32[] instead of float32[]"]


@pytest.mark.parametrize("differences", [type_differences, value_differences])
@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ({"b": np.zeros(1)}, "it must be dict, got one without ['b'] and with an extra ['a']"),
        ({"a": np.zeros(1), "b": np.zeros(1)}, "it must be dict, got one without ['b']"),
        (np.zeros(1), "it must be one array, got dict"),
        (None, "it must be NoneType, got dict"),
    ],
)
def test_structures_differ(differences: Any, expected: Any, problem: str) -> None:
    assert differences({"a": np.zeros(1)}, expected) == [problem]


def test_rounding_is_not_a_difference_but_for_integers_everything_is() -> None:
    assert value_differences(np.float32(1), np.float32(1.00001)) == []
    assert exact_differences(np.float32(1), np.float32(1.00001)) == ["it is 1.0 instead of 1.0000100135803223"]
    assert exact_differences(np.float32(np.nan), np.float32(np.nan)) == []
    assert value_differences(np.float32(0), np.float32(1e-6)) == []
    assert value_differences(np.float32(1), np.float32(1.001)) != []
    assert value_differences(np.int32(100_000), np.int32(100_001)) != []
    assert value_differences(np.int32(2**30), np.int32(2**30 + 1)) != []  # the same float32
    assert value_differences(np.bool_(True), np.bool_(False)) == ["it is True instead of False"]
    assert value_differences(jnp.bfloat16(1), jnp.bfloat16(1.5)) == ["it is 1.0 instead of 1.5"]
    assert value_differences(jnp.bfloat16(1), jnp.bfloat16(1)) == []


def test_nan_inf_and_signed_zeros() -> None:
    special = np.array([np.nan, np.inf, -np.inf, 0.0], np.float32)
    assert value_differences(special, np.array([np.nan, np.inf, -np.inf, -0.0], np.float32)) == []
    for i, problem in enumerate(["nan instead of 1.0", "inf instead of 1.0", "-inf instead of 1.0"]):
        other = special.copy()
        other[i] = 1
        assert value_differences(special, other) == [f"it is {problem}"]
    assert value_differences(np.float32(np.inf), np.float32(-np.inf)) == ["it is inf instead of -inf"]


def test_the_first_differing_element_is_shown() -> None:
    values = np.arange(15).reshape(3, 5)
    assert value_differences(values, values + (values >= 7) * 100) == ["it is 7 instead of 107"]


def test_keys_are_compared_by_their_words() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    assert as_numpy(keys).shape == (3, 2)
    assert value_differences(keys, keys) == []
    assert value_differences(keys[:2], keys[1:]) != []


def test_one_leaf_is_replaced() -> None:
    params = arguments.default_params(toy.Counter())
    ((path, bonus),) = float_leaves(params)
    assert bonus == 0.5
    assert with_leaf(params, path, np.float32(2)) == params.replace(bonus=np.float32(2))
