from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.spaces import Box, Dict, Discrete, Tuple

NESTED = Dict({"pair": Tuple([Discrete(2), Box(0, 1, (2,))]), "flag": Box(False, True, dtype=bool)})
VALUE = {"pair": (jnp.int32(1), jnp.array([0.0, 1.0])), "flag": jnp.array(True)}


def test_shape_and_dtype_follow_the_structure():
    assert NESTED.shape == {"pair": ((), (2,)), "flag": ()}
    assert NESTED.dtype == {"pair": (np.int32, np.float32), "flag": np.bool_}


def test_repr_shows_the_parts():
    assert repr(NESTED) == ("Dict(flag=Box(False, True, (), bool), pair=Tuple(Discrete(2), Box(0, 1, (2,), float32)))")


def test_parts_are_drawn_independently():
    space = Tuple([Discrete(2)] * 2)
    left, right = jax.vmap(space.sample)(jax.random.split(jax.random.key(0), 1000))
    assert 0.44 < (left == right).mean() < 0.56


def test_the_order_of_names_does_not_matter():
    parts = {"b": Discrete(2), "a": Discrete(3)}
    swapped = dict(reversed(parts.items()))
    key = jax.random.key(0)
    assert Dict(parts) == Dict(swapped)
    assert Dict(parts).sample(key) == Dict(swapped).sample(key)


def test_every_part_has_to_be_contained():
    assert NESTED.contains(VALUE)
    assert not NESTED.contains({**VALUE, "pair": (jnp.int32(2), jnp.zeros(2))})
    assert not NESTED.contains({**VALUE, "pair": (jnp.int32(1), jnp.array([0.0, 1.5]))})


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ((1,), "expected a dict of 'flag', 'pair', got tuple"),
        ({**VALUE, "flag": 1}, "in part 'flag': expected bool, got int64"),
        ({**VALUE, "pair": [1, jnp.zeros(2)]}, "in part 'pair': expected a tuple of 2, got list"),
        ({**VALUE, "pair": (1, jnp.zeros(3))}, "in part 'pair': in part 1: expected shape (2,), got (3,)"),
    ],
)
def test_mismatch_says_where_and_what(value, problem):
    assert NESTED.mismatch(value) == problem
    assert not NESTED.contains(value)


def test_a_dataclass_is_tested_like_a_dict():
    @dataclasses.dataclass
    class State:
        x: Any
        time: Any

    space = Dict({"x": Box(-1, 1), "time": Discrete(5)})
    assert space.contains(State(x=0.5, time=4))
    assert not space.contains(State(x=0.5, time=5))
    assert space.mismatch(State(x=0.5, time=0.5)) == "in part 'time': expected an integer, got float64"
    assert space.mismatch(State) == "expected a dict of 'time', 'x', got type"


@pytest.mark.parametrize(("make", "parts"), [(Tuple, [Discrete(2), 3]), (Dict, {"a": 3})])
def test_a_part_has_to_be_a_space(make, parts):
    with pytest.raises(TypeError, match="expected a Space, got 3"):
        make(parts)
