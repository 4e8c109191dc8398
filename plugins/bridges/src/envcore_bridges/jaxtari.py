"""`FromJaxtari`: use JAXtari's Atari games in envcore."""

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

from envcore_bridges.base.environment import ForeignEnvironment, ForeignState, as_dicts
from envcore_bridges.base.loading import default_numerics, layers, unknown_name
from envcore_bridges.base.pictures import resized

_FRAMES = 108_000  # the limit of JAXtari's `AtariWrapper`
_SPRITES = (
    "JAXtari needs sprites to make a game, and {problem}. Install them with `python -m jaxtari.install_sprites`, which "
    "asks whether you own a license to the original ROMs and downloads replacements if you do not. Or put your own "
    "sprites into {folder}."
)


def from_jaxtari(source: str | Callable[..., Any], **options: Hashable) -> FromJaxtari:
    """Makes a JAXtari game.

    Args:
      source: the name of a game, such as "pong", or a class or function that makes a `JaxEnvironment`.
      **options: options of `jaxtari.make`, such as `mods=("lazy_enemy",)`, or of the class or function.

    Raises:
      DatasetError: JAXtari's sprites are not installed.
      InvalidArgumentError: JAXtari does not have this game, or an option is not hashable.
    """
    return FromJaxtari.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromJaxtari(ForeignEnvironment):
    """A JAXtari game, which is an Atari 2600 game written in JAX. A step is one frame.

    Observation: a nested dict. It has the objects on the screen, each with x, y, width, height, active, visual_id,
      state and orientation, and numbers such as score and lives. Dtypes follow the actual observations, which often
      differ from JAXtari's spaces. There are no bounds, because observations exceed JAXtari's. For example, enemies of
      Alien are far off the screen, and a timer of Beamrider goes past its end. `render` returns the screen.
    Action: one of the game's actions, such as "noop", "fire" and "upright".
    Reward: the game's reward.
    Termination: when the game is over, including by the game's clock, which Boxing and Freeway show on the screen.
      Truncation: after 108,000 frames, as in JAXtari's `AtariWrapper`. The step limits of Skiing (18,000) and Surround
      (15,000) terminate.
    Info: the game's info entries, by name.

    For frame skipping, sticky actions or episodes that end with a life, use wrappers.
    """

    render_fps: ClassVar[float] = 60
    refused_wrappers: ClassVar[tuple[str, ...]] = ("AtariWrapper",)  # which JAXtari's observation wrappers need

    def load(self) -> Any:
        import jaxtari  # late, so that envcore lists environments without it
        import jaxtari.paths

        problem = "none are installed"
        if not isinstance(self.source, str) or jaxtari.paths.ownership_or_alt_markers_present():
            try:
                return self._made(jaxtari)
            except (EOFError, FileNotFoundError, ImportError) as error:  # some are wrapped by JAXtari
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

    expensive_reset = False  # games start from constants, and this takes a third off Pong's step time

    @property
    def time_limit(self) -> int:
        return _FRAMES

    action_names = computed(lambda self: self._action_names())

    def _action_names(self) -> tuple[str, ...]:
        """Returns the names of the game's actions."""
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
    """Describes the problem if sprites caused the error. Returns None for other errors."""
    while error is not None:
        if isinstance(error, EOFError):
            return "it asks to update them, but cannot read an answer (set JAXTARI_SKIP_SPRITE_UPDATE=1 to skip this)"
        if isinstance(error, FileNotFoundError):
            return f"{error.filename or error} is missing"
        error = error.__cause__ or error.__context__
    return None
