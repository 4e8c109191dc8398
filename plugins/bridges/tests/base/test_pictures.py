from __future__ import annotations

import dataclasses
import functools
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bridges.base import as_dicts, paint_on_host, resized
from flax import struct


class Place(NamedTuple):
    x: Any
    y: Any


@struct.dataclass
class Seen:
    places: Any
    label: str = struct.field(pytree_node=False, default="walk")


@functools.partial(jax.tree_util.register_dataclass, data_fields=["score"], meta_fields=["rules"])
@dataclasses.dataclass
class Score:
    score: Any
    rules: str = dataclasses.field(default="simple", metadata={"static": True})


@pytest.mark.parametrize(
    ("records", "dicts"),
    [
        (3, 3),
        (Place(1, None), {"x": 1, "y": None}),
        (Seen([Place(1, 2)]), {"places": ({"x": 1, "y": 2},)}),
        (Score(Seen(4)), {"score": {"places": 4}}),
        (MappingProxyType({"a": (Score(5), [6])}), {"a": ({"score": 5}, (6,))}),
    ],
)
def test_records_become_dicts(records: Any, dicts: Any) -> None:
    assert as_dicts(records) == dicts


def test_arrays_in_records_stay_as_they_are() -> None:
    array = jnp.arange(3)
    assert as_dicts(Seen(array))["places"] is array


def test_pictures_of_a_renderer_on_the_host() -> None:
    def draw(place: Any, shape: tuple[int, int]) -> np.ndarray:
        assert isinstance(place, np.ndarray)
        assert shape == (4, 6)
        assert (jnp.int32(1) * jnp.ones((2, 1)) + jnp.ones(3)).dtype == jnp.float32  # ordinary promotion
        return np.full((8, 12, 3), place, np.uint8)

    places = jnp.arange(3)
    pictures = jax.jit(jax.vmap(lambda place: paint_on_host(draw, place, 4, 1.5)))(places)
    assert pictures.shape == (3, 4, 6, 3)
    assert pictures[:, 0, 0, 0].tolist() == [0, 1, 2]


def test_a_picture_is_resized_by_its_nearest_pixels() -> None:
    picture = jnp.arange(2 * 4 * 3, dtype=jnp.uint8).reshape(2, 4, 3)
    larger = resized(picture, 4)
    assert larger.shape == (4, 8, 3)
    assert (larger[::2, ::2] == picture).all()
    assert (larger[1::2, 1::2] == picture).all()
    assert resized(picture, 1).shape == (1, 2, 3)
