from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.spaces import Box, symmetric_box
from scipy import stats

KEYS = jax.random.split(jax.random.key(0), 4000)


def samples(space):
    return np.asarray(jax.jit(jax.vmap(space.sample))(KEYS))


class TestConstruction:
    def test_the_shape_is_that_of_the_bounds_broadcast(self):
        assert Box(0, 1).shape == ()
        assert Box(np.zeros((3, 1)), [1, 2]).shape == (3, 2)
        assert Box([[0, 0], [0, 0]], 1).shape == (2, 2)
        assert Box(0, 1, [4]).shape == (4,)

    def test_bounds_are_copied(self):
        low = np.zeros(2, np.float32)
        space = Box(low, 1)
        low[0] = 3
        assert space.low.tolist() == [0, 0]

    def test_a_symmetric_box(self):
        assert symmetric_box([1, np.inf]) == Box([-1, -np.inf], [1, np.inf])


class TestSampling:
    def test_a_bounded_float_is_uniform(self):
        values = samples(Box([-1, 1e6], [3, 1e6 + 1]))
        assert stats.kstest(values[:, 0], "uniform", (-1, 4)).pvalue > 1e-3
        assert values[:, 1].min() >= 1e6
        assert len(np.unique(values[:, 1])) == 17  # every float32 between the bounds

    def test_bounds_whose_distance_overflows_float32(self):
        high = float(np.finfo(np.float32).max)
        values = samples(Box(-high, high))
        assert np.isfinite(values).all()
        assert stats.kstest(values.astype(np.float64), "uniform", (-high, 2 * high)).pvalue > 1e-3

    def test_an_unbounded_float_is_normal(self):
        values = samples(Box(-np.inf, np.inf, (2,)))
        assert stats.kstest(values[:, 0], "norm").pvalue > 1e-3
        assert abs(np.corrcoef(values.T)[0, 1]) < 0.06

    def test_a_half_bounded_float_is_exponential_beyond_its_bound(self):
        values = samples(Box([2, -np.inf], [np.inf, 2]))
        assert stats.kstest(values[:, 0] - 2, "expon").pvalue > 1e-3
        assert stats.kstest(2 - values[:, 1], "expon").pvalue > 1e-3

    @pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint32])
    @pytest.mark.parametrize("cut", [0, 1])
    def test_integers_over_a_whole_dtype_are_uniform(self, dtype, cut):
        """With `cut`, the largest value is left out: the counts 2**32 and 2**32 - 1 take different paths."""
        info = np.iinfo(dtype)
        values = samples(Box(info.min, info.max - cut, dtype=dtype))
        assert values.dtype == dtype
        share = (values.astype(np.float64) - info.min) / (float(info.max) - info.min + 1)
        assert stats.chisquare(np.bincount((share * 16).astype(int), minlength=16)).pvalue > 1e-3

    def test_bools(self):
        values = samples(Box([False, True, False], [True, True, False], dtype=bool))
        assert values.dtype == bool
        assert 0.47 < values[:, 0].mean() < 0.53
        assert values[:, 1].all()
        assert not values[:, 2].any()


class TestTracedBounds:
    """Bounds that depend on params."""

    def test_floats_between_them(self):
        sample = jax.jit(lambda low, high: jax.vmap(Box(low, high).sample)(KEYS))
        values = np.asarray(sample(jnp.float32(-3), jnp.float32(5)))
        assert stats.kstest(values, "uniform", (-3, 8)).pvalue > 1e-3

    @pytest.mark.parametrize("dtype", [np.int8, np.uint32])
    def test_integers_between_them(self, dtype):
        sample = jax.jit(lambda low, high: jax.vmap(Box(low, high, dtype=dtype).sample)(KEYS))
        top = np.iinfo(dtype).max
        for low, high in ((3, 7), (top - 2, top)):
            values = sample(*jnp.array([low, high], dtype))
            assert values.dtype == dtype
            numbers, counts = np.unique(values, return_counts=True)
            np.testing.assert_array_equal(numbers, np.arange(low, high + 1))
            assert stats.chisquare(counts).pvalue > 1e-3

    def test_an_array_that_is_not_traced_is_as_good_as_numbers(self):
        numbers, arrays = Box(-2.0, 3.0, (2,)), Box(jnp.float32(-2), jnp.full(2, 3.0), (2,))
        assert arrays == numbers
        assert repr(arrays) == repr(numbers)
        np.testing.assert_array_equal(arrays.sample(KEYS[0]), numbers.sample(KEYS[0]), strict=True)
        assert Box([jnp.float32(-2), -2.0], [3.0, jnp.float32(3)]) == numbers
        with pytest.raises(ValueError, match="Box needs low <= high"):
            Box(jnp.float32(1), jnp.float32(0))

    def test_a_traced_infinity_is_not_a_bound(self):
        values = jax.jit(lambda high: jax.vmap(Box(0, high).sample)(KEYS))(jnp.float32(np.inf))
        assert stats.kstest(np.asarray(values), "expon").pvalue > 1e-3
