"""`FromPgx`: use Pgx's single-player games in envcore."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT, computed
from envcore.errors import InvalidArgumentError, NoPictureError

from envcore_bridges.base.environment import ForeignEnvironment, ForeignState
from envcore_bridges.base.loading import default_numerics, unknown_name

# `pgx.make` takes no options, so look up the classes of single-player games here.
_CLASSES = {
    "2048": "pgx.play2048:Play2048",
    "minatar-asterix": "pgx.minatar.asterix:MinAtarAsterix",
    "minatar-breakout": "pgx.minatar.breakout:MinAtarBreakout",
    "minatar-freeway": "pgx.minatar.freeway:MinAtarFreeway",
    "minatar-seaquest": "pgx.minatar.seaquest:MinAtarSeaquest",
    "minatar-space_invaders": "pgx.minatar.space_invaders:MinAtarSpaceInvaders",
}
_FREEWAY_STEPS = 2501  # its timer starts at 2,500 and ends the game below 0


def from_pgx(source: str | Callable[..., Any], **options: Hashable) -> FromPgx:
    """Makes a single-player game of Pgx.

    Args:
      source: a name that Pgx knows, or a class or function that makes a `pgx.core.Env`.
      **options: options of the game's constructor, such as `sticky_action_prob=0.0` for MinAtar's games.

    Raises:
      InvalidArgumentError: the game or an option is unknown, or the game has several players.
    """
    return FromPgx.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromPgx(ForeignEnvironment):
    """A single-player game of Pgx.

    Observation: Pgx's, with the same shape and dtype. For 2048 this is bool (4, 4, 31), one of 31 powers of two for
      each cell. For MinAtar's games it is bool (10, 10, channels).
    Action: `Discrete`. 2048: slide left, up, right or down. MinAtar: the game's minimal action set, or all six actions
      with `use_minimal_action_set=False`.
    Legal actions: `info["action_mask"]` and `action_mask(state, params)`. As in Pgx, an illegal action ends the episode
      with a reward of -1. In 2048, a slide that moves no tile is illegal. At the end of a game all actions are legal.
    Reward: Pgx's reward of the only player.
    Termination: when the game is over. Freeway also terminates after 2,501 steps, as in Pgx and MinAtar. This limit is
      `params.max_steps_in_episode`.
    Truncation: at `params.max_steps_in_episode`, by default never. Your own game may also truncate by itself.
    Randomness: the key of a step is passed to Pgx. MinAtar's games repeat the last action with probability 0.1, which
      you can change with the option `sticky_action_prob`.

    Pgx's state is `state.inner`, without its observation, which is `state.obs`. Games for several players are refused.
    """

    def load(self) -> Any:
        make = _named_class(self.source) if isinstance(self.source, str) else self.source
        return make(**dict(self.options))

    def check_support(self) -> None:
        players = self.library_env.num_players
        if players != 1:
            raise InvalidArgumentError(
                f"{self.name} is a game for {players} players, but envcore-bridges supports single-player games only."
            )

    @property
    def time_limit(self) -> int:
        return _FREEWAY_STEPS if self._is_freeway else NO_TIME_LIMIT

    time_limit_terminates = computed(lambda self: self._is_freeway)

    def action_space(self, params: Any) -> spaces.Discrete:
        return spaces.Discrete(_num_actions(self))

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.unbounded_space(self.state_types.obs)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return _split(self.library_env.init(key))

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        if self._is_freeway:
            state = state.replace(_terminate_timer=jnp.int32(_FREEWAY_STEPS))
        after = self.library_env.step(state, action, key)
        return *_split(after), after.rewards[0], after.terminated, {"truncated": after.truncated}

    def library_action_mask(self, state: Any, obs: Any, params: Any) -> Any:
        return state.legal_action_mask

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        raise NoPictureError(
            f"{self.name} cannot be rendered: Pgx only draws SVG files. To write one, call "
            "`state.inner.replace(observation=state.obs).save_svg(path)`."
        )

    @property
    def _is_freeway(self) -> bool:
        return self.library_env.id == "minatar-freeway"


@functools.lru_cache(maxsize=512)
def _num_actions(env: FromPgx) -> int:
    """Number of actions. Pgx's property of this name would start a game to find it."""
    with default_numerics():
        start = jax.eval_shape(lambda: env.library_env.init(jax.random.PRNGKey(0)))
    return start.legal_action_mask.shape[0]


def _named_class(name: str) -> Any:
    import pgx  # late, so that envcore lists games without it

    if name in _CLASSES:
        module, _, attribute = _CLASSES[name].partition(":")
        return getattr(importlib.import_module(module), attribute)
    if name in pgx.available_envs():
        return lambda: pgx.make(name)
    raise unknown_name("Pgx", name, _CLASSES)


def _split(state: Any) -> tuple[Any, Any]:
    """Splits a state into the state without its observation and the observation, so that it is stored once."""
    return state.replace(observation=None), state.observation
