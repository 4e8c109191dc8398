from __future__ import annotations

import jax
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.seeds import key_of, optional_seed
from switches import switched

SEEDS = (0, 5, 2**31, 2**32 - 1, 2**32, 2**32 + 5, 0x0123456789ABCDEF, 2**63 - 1)


@pytest.fixture(params=["threefry2x32", "rbg", "unsafe_rbg"])
def kind(request):
    with switched(jax_default_prng_impl=request.param):
        yield request.param


@pytest.mark.parametrize("seed", SEEDS)
def test_a_key_has_all_bits_of_the_seed(kind, seed):
    key = key_of(seed)
    with switched(jax_enable_x64=True):
        expected = jax.random.key(seed)
    assert key.dtype == expected.dtype
    np.testing.assert_array_equal(jax.random.key_data(key), jax.random.key_data(expected))


def test_seeds_below_2_to_32_are_jax_s_own(kind):
    for seed in SEEDS[:4]:
        np.testing.assert_array_equal(jax.random.key_data(key_of(seed)), jax.random.key_data(jax.random.key(seed)))


@pytest.mark.parametrize("seed", [-1, 2**63, np.int64(-1), 1.5, "a", True, None])
def test_other_seeds_are_an_error(seed):
    with pytest.raises(InvalidArgumentError, match=r"seed must be an integer from 0 to 2\*\*63 - 1, got"):
        key_of(seed)


def test_a_seed_that_python_does_not_print():
    for function, seed in ((key_of, 10**5_000), (optional_seed, -(10**5_000))):
        with pytest.raises(InvalidArgumentError, match=r"got a number of 16,610 bits\.$"):
            function(seed)


def test_an_unknown_key_type_takes_32_bits(monkeypatch):
    monkeypatch.setattr(jax.random, "key_impl", lambda key: "mine")
    key_of(2**32 - 1)
    with pytest.raises(InvalidArgumentError, match=r"less than 2\*\*32 for random keys of type mine, got 4294967296"):
        key_of(2**32)


def test_numpys_integers_are_seeds():
    for seed in (np.int32(5), np.uint32(2**32 - 1), np.int64(2**40), np.uint64(2**40)):
        np.testing.assert_array_equal(jax.random.key_data(key_of(seed)), jax.random.key_data(key_of(int(seed))))


def test_optional_seeds_have_any_number_of_bits():
    assert [optional_seed(seed) for seed in (None, 0, np.int64(3), 2**64)] == [None, 0, 3, 2**64]
    for seed in (-1, np.int64(-1), 1.5, "a", True, [1]):
        with pytest.raises(InvalidArgumentError, match=r"^seed must be a non-negative integer or None, got .*\.$"):
            optional_seed(seed)
