"""Ensembles: how they begin, and what they compute."""

from __future__ import annotations

import jax
import numpy as np
from envcore_baselines import ensemble

KEY = jax.random.key(0)


def test_members_begin_with_their_own_weights() -> None:
    (weights, bias), (last_weights, last_bias) = ensemble.init(KEY, 5, (400, 30, 2))
    shapes = [x.shape for x in (weights, bias, last_weights, last_bias)]
    assert shapes == [(5, 400, 30), (5, 30), (5, 30, 2), (5, 2)]
    np.testing.assert_allclose(weights.std((1, 2)), 1 / 20, rtol=0.05)
    np.testing.assert_allclose(bias.std(), 1, rtol=0.2)
    assert (weights[0] != weights[1]).all()


def test_every_member_computes_its_own_outputs() -> None:
    layers = ensemble.init(KEY, 2, (3, 4, 2))
    inputs = jax.random.normal(KEY, (6, 3))
    found = jax.jit(ensemble.outputs)(layers, inputs)
    assert found.shape == (6, 2, 2)
    for member in range(2):
        (weights, bias), (last_weights, last_bias) = jax.tree.map(
            lambda x, member=member: np.asarray(x[member]), layers
        )
        hidden = np.maximum(inputs @ weights + bias, 0)
        np.testing.assert_allclose(found[:, member], hidden @ last_weights + last_bias, rtol=1e-4, atol=1e-5)
