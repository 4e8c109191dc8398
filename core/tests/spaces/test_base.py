"""What all spaces have in common."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.spaces import Box, Dict, Discrete, MultiDiscrete, Tree, Tuple
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
    return Box(low, high, draw(SHAPES), dtype)


@st.composite
def float_boxes(draw):
    dtype, width = draw(st.sampled_from([(np.float32, 32), (np.float16, 16), (jnp.bfloat16, 16)]))
    number = st.floats(width=width, allow_nan=False, allow_subnormal=False)
    low, high = sorted([draw(number), draw(number)])
    assume(low < np.inf and high > -np.inf)
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


@pytest.mark.parametrize("x64", [False, True])
@settings(quickly, max_examples=10)
@given(space=SPACES)
def test_a_sample_is_in_its_space(space, x64):
    with switched(jax_enable_x64=x64):
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
    MultiDiscrete([[3, 3]]),
    Box(0, 2, (), np.int32),
    Box(0, 2, (), np.int8),
    Box(0, 2),
    Box(0, 2, (1,)),
    Box([0, 1], 2),
    Tuple([Discrete(3)]),
    Dict({"a": Discrete(3)}),
    Dict({"b": Discrete(3)}),
]


def test_different_spaces_are_unequal():
    assert len(set(DIFFERENT)) == len(DIFFERENT)
    assert all(one != other for one, other in itertools.combinations(DIFFERENT, 2))


def test_samples_differ_between_keys_and_parts_and_repeat_for_one():
    space = Dict({"a": Box(0, 1, (3,)), "b": Tuple([Box(-np.inf, np.inf, (2,)), Discrete(2**30), Discrete(2**30)])})
    first, again, other = (space.sample(jax.random.key(seed)) for seed in (0, 0, 1))
    for x, y, z in zip(*map(jax.tree.leaves, (first, again, other)), strict=True):
        np.testing.assert_array_equal(x, y)
        assert (x != z).all()
    assert first["b"][1] != first["b"][2]


PAIRS = [
    (MultiDiscrete([2, 5]), MultiDiscrete([[2, 5], [2, 5]])),
    (Box([0, -1], [1, np.inf]), Box(np.array([[0, -1]] * 2), np.array([[1, np.inf]] * 2))),
    (Tuple([Discrete(3), Box(0, 9, (1,), np.int8)]), Tuple([MultiDiscrete([3, 3]), Box(0, 9, (2, 1), np.int8)])),
    (Dict({"a": Box(False, True, (3,), bool)}), Dict({"a": Box(False, True, (2, 3), bool)})),
]


@pytest.mark.parametrize(("space", "batch"), PAIRS, ids=repr)
def test_a_batch_of_a_space_holds_stacks_of_its_values(space, batch):
    assert space.batch(2) == batch
    assert batch.unbatch() == space
    values = space.batch(50).sample(jax.random.key(0))
    assert jax.vmap(space.contains)(values).all()
    for leaf in jax.tree.leaves(values):
        assert len(np.unique(leaf.reshape(50, -1)[:, 0])) > 1


@pytest.mark.parametrize(
    ("space", "value", "flat"),
    [
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


@dataclasses.dataclass
class Point:
    x: object
    time: object


UNBOUNDED, POINTS = Box(-np.inf, np.inf), Dict({"x": Box(-1, 1), "time": Discrete(5)})
NESTED = Dict({"pair": Tuple([Discrete(2), Box(0, 1, (2,))]), "flag": Box(False, True, dtype=bool)})


@pytest.mark.parametrize(
    ("space", "value", "expected"),
    [
        *((Discrete(3), value, True) for value in (0, 2, np.int64(2), np.uint8(2), jnp.int32(2), np.array(2))),
        (Discrete(300), np.uint8(2), True),
        *((Discrete(3), value, False) for value in (-1, 3, np.int8(-1), np.uint8(200), jnp.uint32(2**32 - 1))),
        (MultiDiscrete([300, 2]), np.array([100, 1], np.uint8), True),
        (MultiDiscrete([300, 2]), np.array([100, 2], np.uint8), False),
        (Box([0, -1], [1, np.inf]), np.array([0, -1]), True),
        (Box([0, -1], [1, np.inf]), np.array([1, np.inf]), True),
        (Box([0, -1], [1, np.inf]), np.array([1.0001, 0]), False),
        (Box([0, -1], [1, np.inf]), np.array([0, np.nan]), False),
        (Box(0, 2), 1, True),
        (UNBOUNDED, 1e300, False),  # infinite as float32
        (UNBOUNDED, np.inf, True),
        (Box(False, True, dtype=bool), True, True),
        (Box(True, True, dtype=bool), False, False),
        (NESTED, {"flag": np.True_, "pair": (1, np.zeros(2))}, True),
        (NESTED, {"flag": np.True_, "pair": (2, np.zeros(2))}, False),
        (POINTS, Point(x=0.5, time=4), True),
        (POINTS, Point(x=0.5, time=5), False),
        *((space, value, False) for space in (Discrete(3), Box(0, 2, (), np.uint8)) for value in (2**32, 2**64 - 1)),
    ],
    ids=repr,
)
def test_which_values_a_space_contains(space, value, expected):
    assert space.mismatch(value) is None
    assert space.contains(value) == expected


@pytest.mark.parametrize(
    ("space", "value", "problem"),
    [
        (Discrete(3), 1.5, "expected an integer, got float64"),
        (Discrete(3), True, "expected an integer, got bool"),
        (Discrete(3), None, "expected an array, got NoneType"),
        (MultiDiscrete([2, 2]), np.array([0, 1, 1]), "expected shape (2,), got (3,)"),
        (Box(0, 1, (2,)), np.zeros(2, bool), "expected a real number, got bool"),
        (Box(0, 2, dtype=np.int32), 1.0, "expected an integer, got float64"),
        (NESTED, (1,), "expected a dict of 'flag', 'pair', got tuple"),
        (NESTED, {"flag": 1, "pair": (1, np.zeros(2))}, "in part 'flag': expected bool, got int64"),
        (NESTED, {"flag": True, "pair": [1, 2]}, "in part 'pair': expected a tuple of 2, got list"),
        (
            NESTED,
            {"flag": True, "pair": (1, np.zeros(3))},
            "in part 'pair': in part 1: expected shape (2,), got (3,)",
        ),
        (POINTS, Point(x=0.5, time=0.5), "in part 'time': expected an integer, got float64"),
    ],
    ids=repr,
)
def test_what_a_space_says_of_a_value_of_another_type(space, value, problem):
    assert space.mismatch(value) == problem
    assert not space.contains(value)


@pytest.mark.parametrize(
    ("space", "value", "problem"),
    [
        (Discrete(3), 3, "got 3"),
        (Box(0, 1, (2,)), np.array([0.0, 1e300]), "got 1e+300, which is not finite as float32"),
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


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Discrete(0), ValueError, "n of Discrete must be a positive integer"),
        (lambda: Discrete(2**31), ValueError, "n of Discrete must be at most 2,147,483,647, got 2147483648"),
        (lambda: MultiDiscrete([2, 0]), ValueError, "MultiDiscrete needs integers from 1 to"),
        (lambda: Box([0, 3], 2), ValueError, r"Box needs low <= high, .* got low=\[0, 3\], high=2$"),
        (lambda: Box(np.inf, np.inf), ValueError, "a finite number from low to high, got low=inf, high=inf"),
        (lambda: Box(0, [1, 2], (3,)), ValueError, "could not be broadcast"),
        (lambda: Box(0, 0.5, (), np.int32), ValueError, "a Box of int32 cannot hold the bound 0.5"),
        (lambda: Box(0, 1, dtype=np.float64), TypeError, "a Box holds .*, got float64"),
        (lambda: Dict({"a": 3}), TypeError, "expected a Space, got 3"),  # pyright: ignore[reportArgumentType]
        (lambda: Box(0, 1).unbatch(), TypeError, "expected a space with a batch axis, got"),
        (lambda: Tree({"key": jax.random.key(0)}), TypeError, "a space cannot hold random keys"),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_what_is_shown():
    assert repr(NESTED) == "Dict(flag=Box(False, True, (), bool), pair=Tuple(Discrete(2), Box(0, 1, (2,), float32)))"
    assert repr(Box(np.arange(9), 9)) == "Box(..., 9, (9,), float32)"
