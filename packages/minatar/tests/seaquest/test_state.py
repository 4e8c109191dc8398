"""Words that hold the player's bullets and the divers."""

from __future__ import annotations

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar.seaquest import (
    Bullet,
    Diver,
    insert_first,
    join_bullets,
    join_divers,
    split_bullets,
    split_divers,
)


def items(kind: Any, rows: list[tuple[int, ...]]) -> list[Any]:
    """One bullet or diver of each row of numbers."""
    return [kind(*row) for row in rows]


BULLETS = items(Bullet, [(True, False, 0, 1), (True, False, 9, 8), (True, True, 0, 4), (True, True, 9, 0)])
DIVERS = items(Diver, [(True, False, 9, 7, 5), (True, True, 0, 0, 0), (True, True, 4, 3, 2)])


def numbers(items: list[Any]) -> list[list[int]]:
    return [[int(number) for number in item] for item in items]


def test_bullets_go_in_and_come_out() -> None:
    for three in itertools.permutations(BULLETS, 3):
        assert numbers(split_bullets(join_bullets([*three]))) == numbers([*three])


def test_divers_go_in_and_come_out() -> None:
    for three in itertools.permutations(DIVERS):
        words = join_divers([*three, DIVERS[0]])
        assert [np.asarray(word).dtype for word in words] == [np.uint32] * 2
        assert numbers(split_divers(words)) == numbers([*three, DIVERS[0]])


def test_a_place_without_anything_is_zeros() -> None:
    missing = BULLETS[3]._replace(exists=False)
    assert numbers(split_bullets(join_bullets([BULLETS[0], missing, BULLETS[2]])))[1] == [0, 0, 0, 0]
    assert [int(word) for word in join_divers([DIVERS[0]._replace(exists=False)] * 4)] == [0, 0]


@pytest.mark.parametrize("free", [0, 1, 2, 3])
def test_an_item_enters_first_and_the_first_free_place_is_filled(free: int) -> None:
    old = [item._replace(exists=np.bool_(number != free)) for number, item in enumerate(BULLETS[:3])]
    new = BULLETS[3]
    assert numbers(insert_first(old, jnp.bool_(True), new)) == numbers([new, *old[:free], *old[free + 1 :]][:3])
    assert numbers(insert_first(old, jnp.bool_(False), new)) == numbers(old)
