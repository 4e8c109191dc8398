"""gymnax 1's wrapper for code that expects the five values of gymnax 0."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from envcore_gymnax.wrappers.purerl import GymnaxWrapper, compiled


class LegacyStepAPIWrapper(GymnaxWrapper):
    """Makes `step` return `(obs, state, reward, done, info)`, whether the environment returns five or six values."""

    @compiled
    def step(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step."""
        obs, state, reward, *flags, info = self._env.step(key, state, action, params)
        return obs, state, reward, functools.reduce(jnp.logical_or, flags), info
