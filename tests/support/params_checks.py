"""Checks for one row of the tables in the suites' tests of `check_params`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidParamsError


def check_refused(env: Any, changes: dict[str, Any], message: str) -> None:
    """Asserts that the default params with these changes are refused with this message, but pass as JAX arrays."""
    params = env.default_params.replace(**changes)
    with pytest.raises(InvalidParamsError, match=message):
        env.reset(jax.random.key(0), params)
    with pytest.raises(InvalidParamsError, match=message.partition(", got")[0]):
        env.check_params(jax.tree.map(np.asarray, params))
    env.check_params(env.default_params.replace(**{name: jnp.asarray(value) for name, value in changes.items()}))


def check_taken(env: Any, changes: dict[str, Any]) -> None:
    """Asserts that the default params pass, with and without these changes."""
    env.check_params(env.default_params)
    env.check_params(env.default_params.replace(**changes))
