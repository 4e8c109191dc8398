from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import trig
from switches import switched

PAIRS = [pytest.param(trig.sin, np.sin, id="sin"), pytest.param(trig.cos, np.cos, id="cos")]


def angles(limit):
    """Float32 angles up to `limit`: at random, and on both sides of every multiple of pi / 4, where errors peak."""
    random = np.random.default_rng(0).uniform(-limit, limit, 1_000_000).astype(np.float32)
    turns = (np.arange(-limit * 4 / np.pi, limit * 4 / np.pi) * (np.pi / 4)).astype(np.float32)
    near = [turns, np.nextafter(turns, np.float32(np.inf)), np.nextafter(turns, np.float32(-np.inf))]
    angles = np.concatenate([random, *near, np.zeros(1, np.float32)])
    return angles[np.abs(angles) <= limit]


@pytest.mark.parametrize(("ours", "exact"), PAIRS)
@pytest.mark.parametrize(("limit", "bound"), [(np.pi, 6e-8), (1_000, 6e-8), (10_000, 1.4e-7)])
def test_the_error_is_as_documented(ours, exact, limit, bound):
    x = angles(limit)
    values = np.asarray(jax.jit(ours)(x))
    assert values.dtype == np.float32
    assert np.abs(values - exact(x.astype(np.float64))).max() <= bound


@pytest.mark.parametrize(("ours", "derivative"), [(trig.sin, np.cos), (trig.cos, lambda x: -np.sin(x))])
def test_the_derivative_is_the_other_function(ours, derivative):
    x = angles(1_000)
    values = np.asarray(jax.jit(jax.vmap(jax.grad(ours)))(x))
    assert np.abs(values - derivative(x.astype(np.float64))).max() <= 4e-7


def test_a_small_angle_keeps_its_relative_precision():
    x = np.float32(10.0) ** np.arange(-30, -3, dtype=np.float32)
    np.testing.assert_allclose(trig.sin(jnp.asarray(x)), np.sin(x.astype(np.float64)), rtol=1.2e-7, atol=0)


@pytest.mark.parametrize("ours", [trig.sin, trig.cos])
@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan])
def test_not_a_number_and_infinities_have_no_sine(ours, x):
    assert np.isnan(ours(jnp.float32(x)))


@pytest.mark.parametrize("ours", [trig.sin, trig.cos])
def test_float32_stays_float32_in_x64_mode(ours):
    with switched(jax_enable_x64=True):
        value = ours(jnp.float32(1))
    assert value.dtype == jnp.float32
    assert value == ours(jnp.float32(1))
