"""gymnax 1's wrapper for code that expects the five values of gymnax 0."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp

from envcore_gymnax.wrappers.purerl import SteppingWrapper


class LegacyStepAPIWrapper(SteppingWrapper):
    """Makes `step` return `(obs, state, reward, done, info)`, whether the environment returns five or six values."""

    def _stepped(self, step: Any, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        obs, state, reward, *flags, info = step(key, state, action, params)
        return obs, state, reward, functools.reduce(jnp.logical_or, flags), info
