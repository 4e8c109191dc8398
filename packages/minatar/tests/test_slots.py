"""Masks and numbers of 32 objects, compared with numpy and with lists."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar import packing
from envcore_testing.compilation import quick_jit
from seaquest_original import from_values

RNG = np.random.default_rng(0)
VALUES, OTHERS = RNG.integers(0, 8, (2, 50, 32))
CHOSEN = RNG.random((50, 32)) < RNG.random((50, 1))
CHOSEN[:2] = [[False] * 32, [True] * 32]
CHOSEN[2:34] = np.eye(32)


def numbers(values: np.ndarray, width: int = 3) -> packing.Number:
    return jax.vmap(lambda one: from_values(one, width))(jnp.asarray(values, jnp.int32))


def values_of(number: packing.Number) -> np.ndarray:
    return np.asarray(jax.vmap(packing.to_values)(number))


def masks(flags: np.ndarray) -> jax.Array:
    return numbers(flags, 1)[0]


NUMBER, MASK = numbers(VALUES), masks(CHOSEN)


def check_mask(mask: jax.Array, expected: np.ndarray) -> None:
    assert mask.dtype == jnp.uint32
    np.testing.assert_array_equal(values_of((mask,)), expected)


def test_values_go_in_and_come_out() -> None:
    assert [plane.dtype for plane in NUMBER] == [jnp.uint32] * 3
    np.testing.assert_array_equal(values_of(NUMBER), VALUES)


def test_all_or_none() -> None:
    assert [int(packing.fill(flag)) for flag in (False, True)] == [0, 2**32 - 1]


@pytest.mark.parametrize("value", [0, 3, 7, 11, -1])
def test_a_value_is_found_and_put(value: int) -> None:
    check_mask(packing.equal(NUMBER, value), value % 8 == VALUES)
    np.testing.assert_array_equal(values_of(packing.put(NUMBER, MASK, value)), np.where(CHOSEN, value % 8, VALUES))


def test_selected_numbers() -> None:
    found = packing.select(MASK, NUMBER, numbers(OTHERS))
    np.testing.assert_array_equal(values_of(found), np.where(CHOSEN, VALUES, OTHERS))


def test_numbers_count_up_and_down_and_wrap_around() -> None:
    np.testing.assert_array_equal(values_of(packing.increase(NUMBER, MASK)), (VALUES + CHOSEN) % 8)
    np.testing.assert_array_equal(values_of(packing.decrease(NUMBER, MASK)), (VALUES - CHOSEN) % 8)


def test_first_and_last() -> None:
    first, last = np.zeros_like(CHOSEN), np.zeros_like(CHOSEN)
    for row, chosen in enumerate(CHOSEN):
        if chosen.any():
            first[row, chosen.argmax()] = last[row, 31 - chosen[::-1].argmax()] = True
    check_mask(packing.first(MASK), first)
    check_mask(packing.last(MASK), last)


def test_objects_in_any_mask() -> None:
    check_mask(packing.union([MASK, masks(OTHERS == 1), masks(OTHERS == 2)]), CHOSEN | (OTHERS == 1) | (OTHERS == 2))


@pytest.mark.parametrize("enters", [False, True])
def test_a_new_object_comes_first_and_the_others_keep_their_order(enters: bool) -> None:
    new = 0b1010  # of the mask 0, of the number 0b101

    @quick_jit
    @jax.vmap
    def inserted(taken: jax.Array, number: packing.Number) -> tuple[jax.Array, packing.Number]:
        changed = packing.places_that_change(taken, jnp.bool_(enters))
        return packing.insert((taken, number), changed, jnp.uint32(new | 1))

    taken, found = inserted(MASK, NUMBER)
    for row in np.flatnonzero(~CHOSEN.all(1)):
        chosen = CHOSEN[row]
        free = int(chosen.argmin())
        flags, expected = list(chosen), list(VALUES[row])
        if enters:
            flags[: free + 1], expected[: free + 1] = [True, *chosen[:free]], [0b101, *VALUES[row, :free]]
        np.testing.assert_array_equal(values_of((taken,))[row], flags)
        np.testing.assert_array_equal(values_of(found)[row], expected)
