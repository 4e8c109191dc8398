"""`FromJaxtari`: JAXtari's games in envcore."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import computed
from envcore.errors import DatasetError

from envcore_bridges.base import (
    ForeignEnvironment,
    ForeignState,
    as_dicts,
    default_numerics,
    layers,
    resized,
    unknown_name,
)

_FRAMES = 108_000  # the limit of JAXtari's `AtariWrapper`
_SPRITES = (
    "JAXtari draws its games from sprites, without which no game can be made, and {problem}. Install them by `python "
    "-m jaxtari.install_sprites`, which asks whether you own a license to the original ROMs and downloads replacements "
    "if you do not; or put sprites of your own into {folder}."
)


def from_jaxtari(source: str | Callable[..., Any], **options: Hashable) -> FromJaxtari:
    """Makes a game of JAXtari.

    Args:
      source: the name of a game, such as "pong", or a class or function that makes a `JaxEnvironment`.
      **options: what `jaxtari.make` takes, such as `mods=("lazy_enemy",)`, or for a class, its own.

    Raises:
      DatasetError: JAXtari's sprites are not installed.
      InvalidArgumentError: JAXtari has no such game, or an option is not hashable.
    """
    return FromJaxtari.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromJaxtari(ForeignEnvironment):
    """A game of JAXtari: an Atari 2600 game as a JAX program, a step of which is a frame.

    Observation: a nested dict of the objects on the screen, each with x, y, width, height, active, visual_id, state
      and orientation, and of numbers such as score and lives. The dtypes are those of the observations, which often
      differ from those of JAXtari's spaces. There are no bounds, because JAXtari's do not hold: enemies of Alien are
      far off the screen, and a timer of Beamrider goes past its end. `render` returns the screen.
    Action: one of the game's own actions, such as "noop", "fire" and "upright".
    Reward: the game's.
    Termination: the game is over, by its own clock too, which Boxing and Freeway show on the screen. Truncation: after
      108,000 frames, as JAXtari's `AtariWrapper` does. Skiing and Surround count their steps too, and call their limits
      of 18,000 and 15,000 a termination.
    Info: the game's own, by its names.

    Frame skipping, sticky actions, and the end of an episode with a life are left to wrappers.
    """

    render_fps: ClassVar[float] = 60
    refused_wrappers: ClassVar[tuple[str, ...]] = ("AtariWrapper",)  # which the wrappers of observations need

    def load(self) -> Any:
        import jaxtari  # late: envcore lists environments without it
        import jaxtari.paths

        problem = "none are installed"
        if not isinstance(self.source, str) or jaxtari.paths.ownership_or_alt_markers_present():
            try:
                return self._made(jaxtari)
            except (EOFError, FileNotFoundError, ImportError) as error:  # JAXtari wraps some
                problem = _problem_of_sprites(error)
                if problem is None:
                    raise
        raise DatasetError(_SPRITES.format(problem=problem, folder=jaxtari.paths.get_base_sprite_dir()))

    def _made(self, library: Any) -> Any:
        if not isinstance(self.source, str):
            return self.source(**dict(self.options))
        options = {name: list(value) if isinstance(value, tuple) else value for name, value in self.options}
        if isinstance(mods := options.get("mods"), str):
            options["mods"] = [mods]
        try:
            return library.make(self.source, **options)
        except NotImplementedError as error:
            raise unknown_name("JAXtari", self.source, library.core.list_available_games()) from error

    expensive_reset = False  # games begin with constants: Pong's steps take two thirds of the time

    @property
    def time_limit(self) -> int:
        return _FRAMES

    action_names = computed(lambda self: self._action_names())

    def _action_names(self) -> tuple[str, ...]:
        """The words for the game's actions."""
        from jaxtari.environment import JaxtariAction

        words = {code: word.lower() for word, code in vars(JaxtariAction).items() if word.isupper()}
        *_, game = layers(self.library_env)  # `mods` adds wrappers
        codes = np.asarray(getattr(game, "ACTION_SET", getattr(game, "action_set", ()))).tolist()
        return tuple(words[code] for code in codes) if len(codes) == self.action_space(self.default_params).n else ()  # pyright: ignore

    def action_space(self, params: Any) -> spaces.Space:
        return spaces.Discrete(int(self.library_env.action_space().n))

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.unbounded_space(self.state_types.obs)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        obs, state = self.library_env.reset(key)
        return state, as_dicts(obs)

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        obs, state, reward, done, info = self.library_env.step(state, action)
        return state, as_dicts(obs), jnp.reshape(reward, ()), jnp.reshape(done, ()), as_dicts(info)

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        with default_numerics():
            picture = self.library_env.render(state.inner).astype(jnp.uint8)
        return resized(picture, height)


def _problem_of_sprites(error: BaseException | None) -> str | None:
    """What an error, or one that has caused it, says of the sprites; None where it is about something else."""
    while error is not None:
        if isinstance(error, EOFError):
            return "it asks to update them, which nobody answers (JAXTARI_SKIP_SPRITE_UPDATE=1 skips the question)"
        if isinstance(error, FileNotFoundError):
            return f"{error.filename or error} is missing"
        error = error.__cause__ or error.__context__
    return None
