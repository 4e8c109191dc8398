"""An environment of envcore for programs written for the environments of the Podracer notebook.

Instead of the notebook's `Catch()`: `PodracerEnv(*envcore.make("Catch-bsuite"))`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment


class PodracerEnv:
    """An environment whose state is one array, the bytes of the state of `env` and of the last reward and discount.

    Where `is_terminal` is true, the next episode has started already, and `render` shows its first observation. Time
    limits count as terminations.

    Args:
      env: an environment with discrete actions and one array as observation.
      params: its params.

    Attributes:
      num_actions: the number of actions.
    """

    def __init__(self, env: Environment, params: Any):
        self._env, self._params = env, params
        action_space: Any = env.action_space(params)
        self.num_actions = action_space.n
        self._structs, self._tree = jax.tree.flatten(jax.eval_shape(self._start, jax.random.key(0)))
        self._ends = np.cumsum([leaf.size * leaf.dtype.itemsize for leaf in self._structs])

    def initial_state(self, rng: jax.Array) -> jax.Array:
        """The first state of an episode: uint8 (n,)."""
        return _to_bytes(self._start(rng))

    def step(self, rng: jax.Array, state: jax.Array, action: jax.Array) -> jax.Array:
        """The next state: uint8 (n,)."""
        env_state, *_ = self._from_bytes(state)
        _, env_state, reward, done, _ = self._env.step(rng, env_state, action, self._params)
        return _to_bytes((env_state, reward, (~done).astype(jnp.float32)))

    def observation(self, state: jax.Array) -> tuple[jax.Array, ...]:
        """The observation, and the last step's reward, discount and whether it was terminal."""
        _, reward, discount = self._from_bytes(state)
        return self.render(state), reward, discount, discount == 0

    def render(self, state: jax.Array) -> jax.Array:
        """The observation as float32."""
        env_state, *_ = self._from_bytes(state)
        return self._env.observe(env_state, self._params).astype(jnp.float32)

    def _start(self, rng: jax.Array) -> tuple[Any, jax.Array, jax.Array]:
        return self._env.reset(rng, self._params)[1], jnp.float32(0), jnp.float32(1)

    def _from_bytes(self, state: jax.Array) -> tuple[Any, jax.Array, jax.Array]:
        parts = jnp.split(state, self._ends[:-1])
        leaves = [part.view(leaf.dtype).reshape(leaf.shape) for part, leaf in zip(parts, self._structs, strict=True)]
        return jax.tree.unflatten(self._tree, leaves)


def _to_bytes(tree: Any) -> jax.Array:
    return jnp.concatenate([leaf.ravel().view(jnp.uint8) for leaf in jax.tree.leaves(tree)])
