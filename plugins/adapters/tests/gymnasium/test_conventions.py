"""Gymnasium's conventions: options, seeds, and the infos of episodes that have ended."""

import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_adapters.gymnasium import conventions
from gymnasium.utils import seeding


@pytest.mark.parametrize(
    ("mode", "height", "message"),
    [
        ("human", 400, "render_mode must be None or 'rgb_array', got 'human'; .*gymnasium.make"),
        ([1], 400, r"render_mode must be None or 'rgb_array', got \[1\]"),
        (None, "x", "render_height must be a positive integer, got 'x'"),
        ("rgb_array", 0, "render_height must be a positive integer, got 0"),
    ],
)
def test_invalid_rendering(mode, height, message):
    conventions.check_rendering("rgb_array", 400)
    with pytest.raises(InvalidArgumentError, match=message):
        conventions.check_rendering(mode, height)


def test_options_are_a_mapping():
    assert conventions.checked_options(None) == {}
    assert conventions.checked_options({"reset_mask": 3}) == {"reset_mask": 3}
    with pytest.raises(InvalidArgumentError, match="options must be a dict or None, got 'x'"):
        conventions.checked_options("x")


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_list_of_seeds(kind):
    assert conventions.seeds_of_each(kind([7, 2**40, 7]), 3) == [7, 2**40, 7]


def test_a_seed_for_some():
    assert conventions.seeds_of_each([7, None], 2) == [7, None]


@pytest.mark.parametrize("seed", [None, 3, np.int64(3), "a"])
def test_what_is_no_list_of_seeds(seed):
    assert conventions.seeds_of_each(seed, 3) is None


@pytest.mark.parametrize("seeds", [[1, -1], [1.5, 1], ["a", 1], [True, 1], [[1], 2]])
def test_invalid_seeds(seeds):
    with pytest.raises(InvalidArgumentError, match="seed must be a non-negative integer or None"):
        conventions.seeds_of_each(seeds, 2)


@pytest.mark.parametrize(("seeds", "shape"), [([1, 2, 3], r"\(3,\)"), (np.ones((2, 2), int), r"\(2, 2\)")])
def test_too_many_seeds(seeds, shape):
    with pytest.raises(InvalidArgumentError, match=rf"must have shape \(2,\), .* got {shape}"):
        conventions.seeds_of_each(seeds, 2)


def test_a_seeds_key_is_that_of_its_own_generator():
    generator, same = (seeding.np_random(3)[0] for _ in range(2))
    data = conventions.key_data_of_each([7, None, 7, None, 0], generator)
    assert (data.shape, data.dtype) == ((5, 2), np.uint32)
    np.testing.assert_array_equal(data[0], conventions.key_data(seeding.np_random(7)[0]))
    np.testing.assert_array_equal(data[4], conventions.key_data(seeding.np_random(0)[0]))
    np.testing.assert_array_equal(data[2], data[0])
    np.testing.assert_array_equal(data[[1, 3]], [conventions.key_data(same) for _ in range(2)])
    assert not np.array_equal(data[1], data[3])


def test_final_entries_are_those_of_the_environments_that_ended():
    done, last = np.array([False, True, False]), {"x": np.arange(6).reshape(3, 2)}
    entries = conventions.final_entries(done, last, {"count": 5})
    assert entries["final_obs"][0] is entries["final_obs"][2] is None
    assert entries["final_obs"][1]["x"].tolist() == [2, 3]
    assert entries["final_info"] == {"count": 5}
    for name in ("_final_obs", "_final_info"):
        assert entries[name].tolist() == done.tolist()
        assert entries[name] is not done  # which changes later
    assert conventions.final_entries(np.zeros(3, bool), last, {}) == {}
