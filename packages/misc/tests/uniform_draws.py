"""Checks that draws are uniform and independent."""

from __future__ import annotations

import numpy as np


def check_uniform_draws(samples: np.ndarray) -> None:
    """Compares columns of 4,096 samples each, (4096, n), with independent draws from [-1, 1).

    Raises:
      AssertionError: a quantile or a correlation differs significantly.
    """
    assert len(samples) == 4096
    for column in samples.T:
        quantiles = np.quantile(column, [0.005, 0.25, 0.5, 0.75, 0.995])
        np.testing.assert_allclose(quantiles, [-0.99, -0.5, 0, 0.5, 0.99], atol=0.06)
    correlations = np.corrcoef(samples.T) - np.eye(samples.shape[1])
    assert np.abs(correlations).max() < 5 / 64  # five standard deviations
