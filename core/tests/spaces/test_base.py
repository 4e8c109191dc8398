"""What all spaces have in common, for spaces that hypothesis generates."""

from __future__ import annotations

import copy
import itertools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.spaces import Box, Dict, Discrete, MultiDiscrete, Tuple
from hypothesis import given, settings
from hypothesis import strategies as st
from switches import switched

SHAPES = st.sampled_from([(), (1,), (3,), (0,), (2, 3)])
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]
quickly = settings(max_examples=20, deadline=None, derandomize=True, database=None)


@st.composite
def integer_boxes(draw):
    dtype = draw(st.sampled_from(INTEGERS))
    info = np.iinfo(dtype)
    number = st.integers(info.min, info.max) | st.sampled_from([info.min, info.max, info.max - 1])
    low, high = sorted([draw(number), draw(number)])
    return Box(low, high, draw(SHAPES), dtype)


@st.composite
def float_boxes(draw):
    dtype, width = draw(st.sampled_from([(np.float32, 32), (np.float16, 16), (jnp.bfloat16, 16)]))
    number = st.floats(width=width, allow_nan=False, allow_subnormal=False)
    low, high = sorted([draw(number), draw(number)])
    return Box(low, high, draw(SHAPES), dtype)


@st.composite
def float_boxes_with_a_bound_for_each_element(draw):
    number = st.floats(width=32, allow_nan=False, allow_subnormal=False)
    pairs = [sorted([draw(number), draw(number)]) for _ in range(4)]
    return Box([low for low, _ in pairs], [high for _, high in pairs])


PARTS = (
    st.integers(1, 2**31 - 1).map(Discrete)
    | st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=3).map(MultiDiscrete)
    | st.sampled_from([Box(False, True, (2,), bool), Box(True, True, (), bool)])
    | integer_boxes()
    | float_boxes()
    | float_boxes_with_a_bound_for_each_element()
)
SPACES = st.recursive(
    PARTS,
    lambda parts: st.lists(parts, max_size=3).map(Tuple) | st.dictionaries(st.sampled_from("abc"), parts).map(Dict),
    max_leaves=4,
)


@settings(quickly, max_examples=10)
@given(SPACES)
def test_a_sample_is_in_its_space(space):
    check_samples(space)


@settings(quickly, max_examples=5)
@given(SPACES)
def test_a_sample_is_in_its_space_in_x64_mode(space):
    with switched(jax_enable_x64=True):
        check_samples(space)


def check_samples(space):
    def sample_and_test(key):
        value = space.sample(key)
        return value, space.contains(value)

    values, contained = jax.vmap(sample_and_test)(jax.random.split(jax.random.key(0), 16))
    assert contained.shape == (16,)
    assert contained.all()
    assert jax.tree.map(lambda x: x.shape[1:], values) == space.shape
    assert jax.tree.map(lambda x: x.dtype, values) == space.dtype


@quickly
@given(SPACES)
def test_a_copy_is_equal(space):
    for other in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert other == space
        assert hash(other) == hash(space)
        assert repr(other) == repr(space)


DIFFERENT = [
    Discrete(3),
    Discrete(4),
    MultiDiscrete([3]),
    MultiDiscrete([3, 3]),
    MultiDiscrete([[3, 3]]),
    MultiDiscrete([3, 4]),
    Box(0, 2, (), np.int32),
    Box(0, 2, (), np.int8),
    Box(0, 2),
    Box(0, 3),
    Box(-1, 2),
    Box(0, 2, (1,)),
    Box(0, 2, (2,)),
    Box([0, 1], 2),
    Tuple([Discrete(3)]),
    Tuple([Discrete(3), Discrete(3)]),
    Dict({"a": Discrete(3)}),
    Dict({"b": Discrete(3)}),
    Dict({"a": Discrete(4)}),
]


def test_different_spaces_are_unequal():
    for one, other in itertools.combinations(DIFFERENT, 2):
        assert one != other
    assert len(set(DIFFERENT)) == len(DIFFERENT)
    assert Discrete(3) != 3


@pytest.mark.parametrize("make_key", [jax.random.key, jax.random.PRNGKey])
def test_samples_differ_between_keys_and_repeat_for_one(make_key):
    space = Dict({"a": Box(0, 1, (3,)), "b": Tuple([Box(-np.inf, np.inf, (2,)), Discrete(2**30)])})
    first, again, other = (space.sample(make_key(seed)) for seed in (0, 0, 1))
    for x, y, z in zip(*map(jax.tree.leaves, (first, again, other)), strict=True):
        np.testing.assert_array_equal(x, y)
        assert (x != z).all()
