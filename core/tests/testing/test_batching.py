from __future__ import annotations

import jax
import numpy as np
import toy
from envcore.engine import arguments
from envcore.testing.batching import float_params, mapped_axes, scaled

PARAMS = arguments.default_params(toy.Counter())


def test_the_float_params() -> None:
    assert float_params(PARAMS) == [".bonus"]


def test_only_the_named_params_are_scaled_and_mapped() -> None:
    scales = np.array([1.0, 2.0], np.float32)
    params = scaled(PARAMS, [".bonus"], scales)
    np.testing.assert_allclose(params.bonus, PARAMS.bonus * scales)
    assert params.bonus.dtype == np.float32
    assert params.max_steps_in_episode == PARAMS.max_steps_in_episode
    doubled = jax.vmap(lambda params: 2 * params.bonus, (mapped_axes(PARAMS, [".bonus"]),))(params)
    np.testing.assert_allclose(doubled, [1, 2])
