"""`mostly_legal_action`: what the kit and `check_lockstep` play."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from envcore import random, spaces
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError

_SHARE_OF_ANY = 1 / 8


def mostly_legal_action(env: Environment[Any, Any], key: jax.Array, state: Any, params: Any) -> Any:
    """A random action; where the environment has action masks, a legal one in seven of eight steps.

    So episodes are long where illegal actions end them, and what these do is played too. Masks that `sample_legal` does
    not take are ignored.
    """
    space, mask = env.action_space(params), env.get_action_mask(state, params)
    if mask is None:
        return space.sample(key)
    key_any, key_legal, key_which = random.split(key, 3)
    anything = space.sample(key_any)
    try:
        legal = spaces.sample_legal(space, key_legal, mask)
    except InvalidArgumentError:
        return anything
    return jnp.where(random.uniform(key_which) < _SHARE_OF_ANY, anything, legal)
