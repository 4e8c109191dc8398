"""Random orders are uniform."""

import jax
import numpy as np
import pytest
from envcore_baselines.learner import permutations
from scipy import stats


class TestPermutations:
    @pytest.mark.parametrize("size", [1, 2, 7, 64])
    def test_every_order_is_equally_likely(self, size):
        orders = np.asarray(permutations(jax.random.key(0), 3000, size))
        np.testing.assert_array_equal(np.sort(orders, 1), np.broadcast_to(np.arange(size), orders.shape))
        assert orders.dtype == np.int32
        counts = np.stack([np.bincount(orders[:, place], minlength=size) for place in range(size)])
        if size > 1:
            assert stats.chisquare(counts.reshape(-1)).pvalue > 1e-4

    def test_long_ones_too(self):
        size = 2**16
        parts = size // 64
        order = np.asarray(permutations(jax.random.key(0), 1, size))[0]
        np.testing.assert_array_equal(np.sort(order), np.arange(size))
        means = order.reshape(parts, -1).mean(1) / size
        assert stats.kstest((means - 0.5) * np.sqrt(12 * size / parts), "norm").pvalue > 1e-4
        neighbours = np.diff(order) > 0
        assert abs(neighbours.mean() - 0.5) < 0.005
