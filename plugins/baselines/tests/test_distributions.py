"""Distributions of actions beside SciPy's."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore_baselines.distributions import Categorical, Gaussian, MultiCategorical
from envcore_baselines.learner import ILLEGAL
from scipy import stats

KEY = jax.random.key(0)


def test_discrete_actions() -> None:
    logits = jnp.array([[0.0, 1.0, -2.0], [3.0, 3.0, 3.0]])
    distribution = Categorical(3)
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(distribution.log_prob(logits, jnp.array([2, 1])), np.log(probabilities[[0, 1], [2, 1]]))
    np.testing.assert_allclose(distribution.entropy(logits), stats.entropy(probabilities, axis=-1), rtol=1e-6)
    many = jax.vmap(lambda key: distribution.sample(logits, key))(jax.random.split(KEY, 4000))
    np.testing.assert_allclose((many[..., None] == jnp.arange(3)).mean(0), probabilities, atol=0.03)
    assert distribution.mode(logits)[0] == 1
    assert distribution.to_env(jnp.array([1, 2])).dtype == jnp.int32


def test_several_discrete_actions_are_independent() -> None:
    several, parts = MultiCategorical(np.array([[2, 3], [1, 4]])), (2, 3, 1, 4)
    outputs = jax.random.normal(KEY, (5, 10))
    logits = jnp.split(outputs, np.cumsum(parts)[:-1], axis=-1)
    assert several.num_outputs == 10
    action = several.sample(outputs, KEY)
    expected = sum(
        Categorical(n).log_prob(row, action[:, i]) for i, (n, row) in enumerate(zip(parts, logits, strict=True))
    )
    np.testing.assert_allclose(several.log_prob(outputs, action), expected, rtol=1e-5)
    expected = sum(Categorical(n).entropy(row) for n, row in zip(parts, logits, strict=True))
    np.testing.assert_allclose(several.entropy(outputs), expected, rtol=1e-5)
    np.testing.assert_array_equal(several.mode(outputs), jnp.stack([row.argmax(-1) for row in logits], -1))
    many = jax.vmap(lambda key: several.sample(outputs[0], key))(jax.random.split(KEY, 4000))
    for i, n in enumerate(parts):
        expected = np.exp(logits[i][0]) / np.exp(logits[i][0]).sum()
        np.testing.assert_allclose((many[:, i, None] == jnp.arange(n)).mean(0), expected, atol=0.03)
    assert several.to_env(action).shape == (5, 2, 2)
    assert several.to_env(action).dtype == jnp.int32


def test_combinations_are_single_actions() -> None:
    distribution, mask = Categorical(6, (2, 3)), jnp.array([[True, False, False], [False, False, True]])
    logits = distribution.masked(jax.random.normal(KEY, (4000, 6)), jnp.broadcast_to(mask, (4000, 2, 3)))
    action = distribution.sample(logits, KEY)
    chosen = distribution.to_env(action)
    assert chosen.dtype == jnp.int32
    assert set(map(tuple, chosen.tolist())) == {(0, 0), (1, 2)}
    np.testing.assert_array_equal(distribution.to_env(distribution.mode(logits))[0], divmod(int(logits[0].argmax()), 3))
    expected = logits[:, 5] - jnp.logaddexp(logits[:, 0], logits[:, 5])
    np.testing.assert_allclose(distribution.log_prob(logits, jnp.full(4000, 5)), expected, rtol=1e-4, atol=1e-6)


def test_masks_of_several_discrete_actions() -> None:
    distribution = MultiCategorical(np.array([2, 3, 2]))
    outputs = jax.random.normal(KEY, (1, 7))
    mask = jnp.array([[[False, True, False], [True, False, True], [False, False, True]]])  # the last one: of no value
    masked = distribution.masked(outputs, mask)
    np.testing.assert_array_equal(masked == ILLEGAL, [[True, False, False, True, False, False, False]])
    np.testing.assert_array_equal(jnp.where(masked == ILLEGAL, outputs, masked), outputs)
    many = jax.vmap(lambda key: distribution.sample(masked[0], key))(jax.random.split(KEY, 500))
    assert set(map(tuple, many.tolist())) == {(1, b, c) for b in (0, 2) for c in (0, 1)}
    gradient = jax.grad(lambda x: distribution.entropy(distribution.masked(x, mask)).sum())(outputs)
    assert np.isfinite(np.asarray(gradient)).all()
    assert gradient[0, 3] == 0
    assert distribution.masked(outputs, None) is outputs


def test_continuous_actions() -> None:
    distribution = Gaussian(np.array([-2, 0], np.float32), np.array([2, 10], np.float32))
    outputs = jnp.array([[0.3, -0.2, 0.1, -1.0]])
    mean, std = np.array([0.3, -0.2]), np.exp([0.1, -1.0])
    action = jnp.array([[0.5, -3.0]])
    expected = stats.norm.logpdf(action[0], mean, std).sum()
    np.testing.assert_allclose(distribution.log_prob(outputs, action)[0], expected, rtol=1e-5)
    np.testing.assert_allclose(distribution.entropy(outputs)[0], stats.norm.entropy(mean, std).sum(), rtol=1e-5)
    many = jax.vmap(lambda key: distribution.sample(outputs, key)[0])(jax.random.split(KEY, 4000))
    np.testing.assert_allclose(many.mean(0), mean, atol=0.06)
    np.testing.assert_allclose(many.std(0), std, rtol=0.05)
    np.testing.assert_allclose(distribution.to_env(action)[0], [1.0, 0.0])
    np.testing.assert_allclose(distribution.to_env(distribution.mode(outputs))[0], [0.6, 4.0], rtol=1e-6)
    unbounded = Gaussian(np.array([0.0], np.float32), np.array([np.inf], np.float32))
    np.testing.assert_allclose(unbounded.to_env(jnp.array([[-3.0], [5.0]])), [[0.0], [5.0]])
