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
from hypothesis import assume, given, settings
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
    assume(low < np.inf and high > -np.inf)
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
    assume(all(low < np.inf and high > -np.inf for low, high in pairs))
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


PAIRS = [
    (Discrete(3), MultiDiscrete([3, 3])),
    (MultiDiscrete([2, 5]), MultiDiscrete([[2, 5], [2, 5]])),
    (Box(0, 1), Box(0, 1, (2,))),
    (Box([0, -1], [1, np.inf]), Box(np.array([[0, -1]] * 2), np.array([[1, np.inf]] * 2))),
    (Box(False, True, (3,), bool), Box(False, True, (2, 3), bool)),
    (Tuple([Discrete(3), Box(0, 9, (1,), np.int8)]), Tuple([MultiDiscrete([3, 3]), Box(0, 9, (2, 1), np.int8)])),
    (Dict({"a": Discrete(3)}), Dict({"a": MultiDiscrete([3, 3])})),
]


@pytest.mark.parametrize(("space", "batch"), PAIRS, ids=repr)
def test_batches_are_undone_by_unbatching(space, batch):
    assert space.batch(2) == batch
    assert batch.unbatch() == space


@pytest.mark.parametrize(("space", "batch"), PAIRS, ids=repr)
def test_a_sample_of_a_batch_is_a_stack_of_values(space, batch):
    del batch
    values = space.batch(50).sample(jax.random.key(0))
    assert jax.vmap(space.contains)(values).all()
    for leaf in jax.tree.leaves(values):
        assert len(np.unique(leaf.reshape(50, -1)[:, 0])) > 1


@pytest.mark.parametrize("space", [Discrete(2), Box(0, 1), Tuple([Discrete(2)])], ids=repr)
def test_a_space_without_a_batch_axis_cannot_be_unbatched(space):
    with pytest.raises(TypeError, match="expected a space with a batch axis, got"):
        space.unbatch()


@pytest.mark.parametrize(
    ("space", "value", "flat"),
    [
        (Discrete(3), 1, [0, 1, 0]),
        (MultiDiscrete([[2], [3]]), np.array([[1], [0]]), [0, 1, 1, 0, 0]),
        (Box(0, 9, (2, 1), np.int8), np.array([[4], [5]], np.int8), [4, 5]),
        (Tuple([Discrete(2), Box(-1, 1, (1,))]), (1, np.array([0.5])), [0, 1, 0.5]),
        (Dict({"b": Discrete(2), "a": Box(-1, 1)}), {"b": 0, "a": 0.5}, [0.5, 1, 0]),
    ],
    ids=repr,
)
def test_a_flat_value_is_in_the_flat_space(space, value, flat):
    vector = space.flatten(space.cast(value))
    assert vector.tolist() == flat
    assert vector.dtype == space.flat_space().dtype
    assert space.flat_space().contains(vector)


@pytest.mark.parametrize(
    ("space", "value", "problem"),
    [
        (Discrete(3), 3, "got 3"),
        (Box(0, 1, (2,)), np.array([0.0, 1e300]), "got 1e+300, which is not finite as float32"),
        (Box(0, 1, (), np.uint8), 256, "got 256"),
        (Tuple([Discrete(2), Discrete(2)]), (1, 2), "got 2"),
        (Box(0, 1, (2,)), np.array([-5.0, 5.0]), None),
        (Discrete(3), jnp.int32(3), None),
    ],
)
def test_values_that_no_such_space_has(space, value, problem):
    assert space.value_problem(value) == problem


@pytest.mark.parametrize("x64", [False, True])
def test_a_cast_value_has_the_dtypes_of_the_space(x64):
    space = Dict({"a": Discrete(3), "b": Tuple([Box(0, 1, (2,))]), "c": Box(False, True, (), bool)})
    with switched(jax_enable_x64=x64):
        on_device = {"a": jnp.asarray(1), "b": (jnp.ones(2),), "c": jnp.asarray(True)}
        assert jax.tree.map(lambda x: x.dtype, space.cast(on_device)) == space.dtype
        on_host = space.cast({"a": 1, "b": (np.array([0.5, 1e300]),), "c": np.bool_(True)})
    assert jax.tree.map(lambda x: x.dtype, on_host) == space.dtype
    assert on_host["b"][0].tolist() == [0.5, np.inf]


LARGE = [2**31, 2**32, 2**32 + 1, 2**40, 2**63, 2**64, 2**64 + 1, -(2**31) - 1, -(2**32) + 1, -(2**63), -(2**64) + 1]


@pytest.mark.parametrize(
    "space",
    [Discrete(3), *(Box(0, 2, (), dtype) for dtype in (np.int32, np.uint32, np.int8, np.uint8))],
    ids=repr,
)
@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
def test_large_integers_do_not_wrap_into_a_space(space, kind):
    limits = {np.int64: (-(2**63), 2**63), np.uint64: (0, 2**64)}.get(kind, (-(2**65), 2**65))
    values = [kind(value) for value in LARGE if limits[0] <= value < limits[1]]
    assert [value for value in values if space.contains(value)] == []
    assert space.contains(kind(1))
