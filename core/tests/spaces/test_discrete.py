from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.spaces import Discrete, MultiDiscrete
from scipy import stats
from switches import switched


class TestDiscrete:
    def test_describes_its_values(self):
        space = Discrete(4)
        assert (space.n, space.shape, space.dtype) == (4, (), np.int32)
        assert repr(space) == "Discrete(4)"

    @pytest.mark.parametrize("n", [0, -1, 2.0, True, None, "3"])
    def test_needs_a_positive_integer(self, n):
        with pytest.raises(ValueError, match="n of Discrete must be a positive integer"):
            Discrete(n)

    def test_values_have_to_fit_into_int32(self):
        with pytest.raises(ValueError, match="n of Discrete must be at most 2,147,483,647, got 2147483648"):
            Discrete(2**31)

    @pytest.mark.parametrize("n", [1, 3, np.int64(3), 2**31 - 1])
    def test_takes_any_integer(self, n):
        assert Discrete(n) == Discrete(int(n))
        assert type(Discrete(n).n) is int

    @pytest.mark.parametrize("n", [5, 70_000])
    def test_sampling_is_uniform(self, n):
        values = jax.vmap(Discrete(n).sample)(jax.random.split(jax.random.key(0), 10_000))
        assert stats.chisquare(np.bincount(np.asarray(values) * 5 // n, minlength=5)).pvalue > 1e-3

    def test_a_large_sample_is_int32_in_x64_mode(self):
        with switched(jax_enable_x64=True):
            assert Discrete(70_000).sample(jax.random.key(0)).dtype == jnp.int32
            assert MultiDiscrete([70_000, 2]).sample(jax.random.key(0)).dtype == jnp.int32

    @pytest.mark.parametrize("value", [0, 2, np.int64(2), np.uint8(2), jnp.int32(2), np.array(2)])
    def test_contains(self, value):
        assert Discrete(3).contains(value)
        assert Discrete(300).contains(value)

    @pytest.mark.parametrize("value", [-1, 3, np.int8(-1), np.uint8(200), jnp.uint32(2**32 - 1)])
    def test_does_not_contain_other_numbers(self, value):
        assert Discrete(3).mismatch(value) is None
        assert not Discrete(3).contains(value)

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            (1.5, "expected an integer, got float64"),
            (jnp.float32(1), "expected an integer, got float32"),
            (True, "expected an integer, got bool"),
            (jnp.array([1]), r"expected shape (), got (1,)"),
            ([1], "expected an array, got list"),
            ("left", "expected an array, got 'left'"),
            (None, "expected an array, got NoneType"),
            ({}, "expected an array, got dict"),
        ],
    )
    def test_mismatch_says_what_is_wrong(self, value, problem):
        assert Discrete(3).mismatch(value) == problem
        assert not Discrete(3).contains(value)

    def test_works_on_tracers(self):
        @jax.jit
        @jax.vmap
        def contains(value):
            assert Discrete(3).mismatch(value.astype(jnp.float32)) == "expected an integer, got float32"
            return Discrete(3).contains(value)

        np.testing.assert_array_equal(contains(jnp.arange(-1, 4)), [False, True, True, True, False])


class TestMultiDiscrete:
    def test_describes_its_values(self):
        space = MultiDiscrete([[2, 3], [4, 5]])
        assert (space.shape, space.dtype) == ((2, 2), np.int32)
        assert repr(space) == "MultiDiscrete([[2, 3], [4, 5]])"

    @pytest.mark.parametrize("nvec", [[], [2, 0], [-1], [2.0], [2**31], [True], None])
    def test_needs_positive_integers(self, nvec):
        with pytest.raises(ValueError, match="MultiDiscrete needs positive integers"):
            MultiDiscrete(nvec)

    def test_sampling_is_uniform_and_independent(self):
        values = jax.vmap(MultiDiscrete([3, 5]).sample)(jax.random.split(jax.random.key(0), 15_000))
        counts = np.bincount(np.asarray(values) @ [5, 1], minlength=15)
        assert len(counts) == 15
        assert stats.chisquare(counts).pvalue > 1e-3

    @pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.uint32])
    def test_contains_integers_of_any_width(self, dtype):
        space = MultiDiscrete([300, 2])
        assert space.contains(np.array([100, 1], dtype))
        assert not space.contains(np.array([100, 2], dtype))

    def test_does_not_contain_negative_numbers(self):
        assert not MultiDiscrete([3, 3]).contains(np.array([0, -1]))

    def test_mismatch_says_what_is_wrong(self):
        space = MultiDiscrete([2, 2])
        assert space.mismatch(np.array([0, 1, 1])) == "expected shape (2,), got (3,)"
        assert space.mismatch(np.array([0.0, 1.0])) == "expected an integer, got float64"
        assert not space.contains(np.array([0.0, 1.0]))
