from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.spaces import Box, Discrete, MultiDiscrete, Space, masks_combinations, sample_legal
from scipy import stats

MANY = jax.random.split(jax.random.key(0), 3000)


def sampled(space: Space, mask: Any) -> np.ndarray:
    values = jax.jit(jax.vmap(lambda key: sample_legal(space, key, mask)))(MANY)
    assert values.dtype == space.dtype
    return np.asarray(values)


def check_uniform(values: np.ndarray, legal: list[Any]) -> None:
    found, counts = np.unique(values, axis=0, return_counts=True)
    assert found.tolist() == sorted(legal)
    assert stats.chisquare(counts).pvalue > 1e-3


def test_legal_values_are_equally_likely() -> None:
    check_uniform(sampled(Discrete(5), np.array([True, False, False, True, True])), [0, 3, 4])


def test_a_row_for_each_element() -> None:
    mask = np.array([[True, False, True, False], [False, True, True, True], [True, True, False, True]])
    values = sampled(MultiDiscrete([4, 4, 2]), mask)  # the last element has no value 3
    for i, legal in enumerate(([0, 2], [1, 2, 3], [0, 1])):
        check_uniform(values[:, i], legal)
    assert len(np.unique(values, axis=0)) == 12


def test_an_entry_for_each_combination() -> None:
    mask = np.zeros((3, 4, 2), bool)
    mask[0, 3, 1] = mask[2, 0, 0] = mask[2, 1, 1] = True
    check_uniform(sampled(MultiDiscrete([3, 4, 2]), mask), [[0, 3, 1], [2, 0, 0], [2, 1, 1]])


def test_a_batch_of_masks() -> None:
    masks = np.array([[[True, False]], [[False, True]], [[False, True]]])
    assert (sampled(MultiDiscrete([[2], [2], [2]]), masks) == [[0], [1], [1]]).all()


@pytest.mark.parametrize(("space", "shape"), [(Discrete(3), (3,)), (MultiDiscrete([2, 3]), (2, 3))])
def test_without_a_legal_value_it_is_any(space: Space, shape: tuple[int, ...]) -> None:
    values = sampled(space, jnp.zeros(shape, bool))
    assert len(np.unique(values, axis=0)) == (3 if space.shape == () else 6)
    assert jax.vmap(space.contains)(jnp.asarray(values)).all()


def test_what_a_mask_has_entries_for() -> None:
    assert not masks_combinations(Discrete(3), (3,))
    space = MultiDiscrete([5, 2, 2])
    assert masks_combinations(space, (5, 2, 2))
    assert not masks_combinations(space, (3, 5))
    assert not masks_combinations(MultiDiscrete([2, 3]), (2, 3))  # both shapes
    assert not masks_combinations(MultiDiscrete([[2, 3]]), (1, 2, 3))


def test_what_is_refused() -> None:
    key, mask = jax.random.key(0), jnp.ones(4, bool)
    with pytest.raises(InvalidArgumentError, match=r"Discrete or MultiDiscrete space, got Box"):
        sample_legal(Box(0, 1, (4,)), key, mask)
    with pytest.raises(InvalidArgumentError, match=r"the mask of Discrete\(3\) must have shape \(3,\), got \(4,\)"):
        sample_legal(Discrete(3), key, mask)
    with pytest.raises(InvalidArgumentError, match=r"must have shape \(5, 2, 2\) or \(3, 5\), got \(4,\)"):
        sample_legal(MultiDiscrete([5, 2, 2]), key, mask)
