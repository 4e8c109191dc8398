from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore.errors import EnvironmentDefinitionError
from walk import FromTheirs, TheirParams, TheirState, TheirWalk


def test_a_state_that_changes_its_shape_is_refused() -> None:
    class Growing(TheirWalk):
        def step(self, state: TheirState, action: jax.Array, params: TheirParams) -> tuple[TheirState, Any, Any]:
            after, reward, done = super().step(state, action, params)
            return after.replace(fuel=jnp.ones(2)), reward, done

        def observe(self, state: TheirState) -> jax.Array:
            return jnp.zeros(2)

    with pytest.raises(EnvironmentDefinitionError, match=r"same shapes, got \(\) and \(2,\)"):
        FromTheirs.make(Growing).reset(jax.random.key(0))
