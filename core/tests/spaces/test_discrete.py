from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.spaces import Box, Discrete, MultiDiscrete, Space
from scipy import stats

MANY = jax.random.split(jax.random.key(0), 3000)


@pytest.mark.parametrize("n", [5, 70_000])
def test_a_discrete_sample_is_uniform(n):
    values = jax.vmap(Discrete(n).sample)(jax.random.split(jax.random.key(0), 10_000))
    assert stats.chisquare(np.bincount(np.asarray(values) * 5 // n, minlength=5)).pvalue > 1e-3


def test_samples_of_several_numbers_are_uniform_and_independent():
    values = jax.vmap(MultiDiscrete([3, 5]).sample)(jax.random.split(jax.random.key(0), 15_000))
    counts = np.bincount(np.asarray(values) @ [5, 1], minlength=15)
    assert len(counts) == 15
    assert stats.chisquare(counts).pvalue > 1e-3


def sampled(space: Space, mask: Any) -> np.ndarray:
    values = jax.jit(jax.vmap(lambda key: space.sample_legal(key, mask)))(MANY)
    assert values.dtype == space.dtype
    return np.asarray(values)


def check_uniform(values: np.ndarray, legal: list[Any]) -> None:
    found, counts = np.unique(values, axis=0, return_counts=True)
    assert found.tolist() == sorted(legal)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_legal_values_are_equally_likely() -> None:
    check_uniform(sampled(Discrete(5), np.array([True, False, False, True, True])), [0, 3, 4])


def test_a_mask_with_a_row_for_each_element() -> None:
    mask = np.array([[True, False, True, False], [False, True, True, True], [True, True, False, True]])
    values = sampled(MultiDiscrete([4, 4, 2]), mask)  # the last element has no value 3
    for i, legal in enumerate(([0, 2], [1, 2, 3], [0, 1])):
        check_uniform(values[:, i], legal)
    assert len(np.unique(values, axis=0)) == 12


def test_a_mask_with_an_entry_for_each_combination() -> None:
    mask = np.zeros((3, 4, 2), bool)
    mask[0, 3, 1] = mask[2, 0, 0] = mask[2, 1, 1] = True
    check_uniform(sampled(MultiDiscrete([3, 4, 2]), mask), [[0, 3, 1], [2, 0, 0], [2, 1, 1]])


def test_a_batch_of_masks() -> None:
    masks = np.array([[[True, False]], [[False, True]], [[False, True]]])
    assert (sampled(MultiDiscrete([[2], [2], [2]]), masks) == [[0], [1], [1]]).all()


@pytest.mark.parametrize(("space", "shape"), [(Discrete(3), (3,)), (MultiDiscrete([2, 3]), (2, 3))])
def test_without_a_legal_value_a_sample_is_any(space: Space, shape: tuple[int, ...]) -> None:
    values = sampled(space, jnp.zeros(shape, bool))
    assert len(np.unique(values, axis=0)) == (3 if space.shape == () else 6)
    assert jax.vmap(space.contains)(jnp.asarray(values)).all()


def test_masks_that_are_refused() -> None:
    key, mask = jax.random.key(0), jnp.ones(4, bool)
    with pytest.raises(InvalidArgumentError, match=r"Discrete or MultiDiscrete space, got Box"):
        Box(0, 1, (4,)).sample_legal(key, mask)
    with pytest.raises(InvalidArgumentError, match=r"the mask of Discrete\(3\) must have shape \(3,\), got \(4,\)"):
        Discrete(3).sample_legal(key, mask)
    with pytest.raises(InvalidArgumentError, match=r"must have shape \(5, 2, 2\) or \(3, 5\), got \(4,\)"):
        MultiDiscrete([5, 2, 2]).sample_legal(key, mask)
