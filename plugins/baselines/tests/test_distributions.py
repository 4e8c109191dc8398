"""Distributions of several discrete actions beside those of their parts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore_baselines.distributions import Combined, MultiCategorical
from envcore_baselines.learner import ILLEGAL
from envcore_baselines.ppo import Categorical

KEY = jax.random.key(0)


def test_several_discrete_actions_are_independent() -> None:
    several, parts = MultiCategorical(np.array([[2, 3], [1, 4]])), (2, 3, 1, 4)
    outputs = jax.random.normal(KEY, (5, 10))
    logits = jnp.split(outputs, np.cumsum(parts)[:-1], axis=-1)
    assert several.num_outputs == 10
    action = several.sample(outputs, KEY)
    expected = sum(
        Categorical(spaces.Discrete(n)).log_prob(row, action.reshape(5, 4)[:, i])
        for i, (n, row) in enumerate(zip(parts, logits, strict=True))
    )
    np.testing.assert_allclose(several.log_prob(outputs, action), expected, rtol=1e-5)
    expected = sum(Categorical(spaces.Discrete(n)).entropy(row) for n, row in zip(parts, logits, strict=True))
    np.testing.assert_allclose(several.entropy(outputs), expected, rtol=1e-5)
    expected = jnp.stack([row.argmax(-1) for row in logits], -1)
    np.testing.assert_array_equal(several.mode(outputs).reshape(5, 4), expected)
    many = jax.vmap(lambda key: several.sample(outputs[0], key))(jax.random.split(KEY, 4000))
    for i, n in enumerate(parts):
        expected = np.exp(logits[i][0]) / np.exp(logits[i][0]).sum()
        np.testing.assert_allclose((many.reshape(4000, 4)[:, i, None] == jnp.arange(n)).mean(0), expected, atol=0.03)
    assert action.shape == (5, 2, 2)
    assert action.dtype == jnp.int32


def test_combinations_are_single_actions() -> None:
    distribution, mask = Combined((2, 3)), jnp.array([[True, False, False], [False, False, True]])
    logits = distribution.masked(jax.random.normal(KEY, (4000, 6)), jnp.broadcast_to(mask, (4000, 2, 3)))
    chosen = distribution.sample(logits, KEY)
    assert chosen.dtype == jnp.int32
    assert set(map(tuple, chosen.tolist())) == {(0, 0), (1, 2)}
    np.testing.assert_array_equal(distribution.mode(logits)[0], divmod(int(logits[0].argmax()), 3))
    expected = logits[:, 5] - jnp.logaddexp(logits[:, 0], logits[:, 5])
    np.testing.assert_allclose(
        distribution.log_prob(logits, jnp.broadcast_to(jnp.array([1, 2]), (4000, 2))), expected, rtol=1e-4, atol=1e-6
    )


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
