"""The libraries that envcore is compared with, with gymnax's API.

They are in the dependency group `peers`, which tests do not install, so each is imported only when needed.
"""

from __future__ import annotations

from typing import Any

import jax

_PGX = {
    "Asterix-MinAtar": "minatar-asterix",
    "Breakout-MinAtar": "minatar-breakout",
    "Freeway-MinAtar": "minatar-freeway",
    "Seaquest-MinAtar": "minatar-seaquest",
    "SpaceInvaders-MinAtar": "minatar-space_invaders",
}


class Pgx:
    """A game of pgx with gymnax's `reset` and `step`."""

    def __init__(self, env_id: str):
        import pgx  # pyright: ignore[reportMissingImports]
        from pgx.experimental import auto_reset  # pyright: ignore[reportMissingImports]

        self._env = pgx.make(_PGX[env_id])  # pyright: ignore[reportArgumentType]
        self._step = auto_reset(self._env.step, self._env.init)
        self.num_actions = self._env.num_actions

    def reset(self, key: jax.Array, params: None) -> tuple[Any, Any]:
        state = self._env.init(key)
        return state.observation, state

    def step(self, key: jax.Array, state: Any, action: jax.Array, params: None) -> tuple[Any, Any, jax.Array]:
        state = self._step(state, action, key)
        return state.observation, state, state.rewards


def make_pgx(env_id: str) -> tuple[Pgx, None]:
    return Pgx(env_id), None


def make_gymnax(env_id: str) -> tuple[Any, Any]:
    import gymnax  # pyright: ignore[reportMissingImports]

    return gymnax.make(env_id)


def has_gymnax(env_id: str) -> bool:
    import gymnax  # pyright: ignore[reportMissingImports]

    return env_id in gymnax.registered_envs


def has_pgx(env_id: str) -> bool:
    return env_id in _PGX
