"""The bits of words: rows and observations, compared with numpy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar.asterix import Asterix
from envcore_minatar.breakout import Breakout
from envcore_minatar.freeway import Freeway
from envcore_minatar.seaquest import Seaquest
from envcore_minatar.space_invaders import SpaceInvaders


@pytest.mark.parametrize("game", [Asterix, Breakout, Freeway, Seaquest, SpaceInvaders])
@pytest.mark.parametrize("shape", [(10, 10, -1), (-1,)])
def test_cells_are_stored_flat_and_then_converted(game: Any, shape: tuple[int, ...]) -> None:
    """XLA vectorizes neither the expansion nor the conversion of cells in the shape of an observation."""
    env, num_envs = game(), 16

    def inputs(state: Any) -> jax.Array:
        return env.observe(state, env.default_params).reshape(shape).astype(jnp.float32)

    states = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), num_envs))[1]
    compiled = jax.jit(jax.vmap(inputs)).lower(states).compile()
    cells = 100 * len(env.channels)
    assert f"pred[{num_envs},{cells}]{{1,0}} call(" in str(compiled.as_text())
    expected = np.asarray(jax.vmap(env.observe, (0, None))(states, env.default_params)).reshape(num_envs, *shape)
    np.testing.assert_array_equal(compiled(states), expected.astype(np.float32))
