"""The environment of a run: an id, with options and params. Imports no JAX before `make`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envcore import registry
from envcore.errors import EnvcoreError, InvalidArgumentError, InvalidParamsError, one_line
from envcore.registration import Registration, entry_point_of
from envcore.specs import EnvSpec

from envcore_runs import user_modules

if TYPE_CHECKING:
    from envcore.environment import Environment


@dataclasses.dataclass(frozen=True)
class Choice:
    """The environment that a user chose, with options and params.

    Attributes:
      title: the id as the user gave it.
      found: its registration.
      options: constructor options.
      params: params, which replace its defaults.
      randomize: params that are drawn anew for each episode, each with its lowest and its highest value.
    """

    title: str
    found: Registration
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    randomize: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])

    @property
    def is_changed(self) -> bool:
        """Whether any options or params were given."""
        return bool(self.options or self.params)

    def make(self) -> tuple[Any, Any]:
        """Returns the environment and its params.

        Raises:
          InvalidArgumentError: the environment does not have an option, or refuses its value, or with them would
            not fit into memory.
          InvalidParamsError: the environment does not have a param, or a value has the wrong shape or dtype, or a range
            is malformed.
          EnvcoreError: as for `envcore.make`.
        """
        from envcore.engine.arguments import device_params

        try:
            env = self.found.construct(dict(self.options))
            params = device_params(env)
            if self.options:
                self._check_options(env)
        except EnvcoreError:
            raise
        except Exception as error:  # an environment may fail in any way on an unexpected value
            if not self.options:
                raise
            problem = f"does not work with {self._given_options()}: {one_line(error)}"
            raise InvalidArgumentError(f"{self.title} {problem}") from error
        params = with_params(self.title, env, params, self.params)
        return _randomized(env, params, self.randomize) if self.randomize else (env, params)

    def _check_options(self, env: Any) -> None:
        import jax
        from envcore.engine.arguments import default_params, state_struct

        from envcore_runs import memory

        for name, value in self.options.items():
            if isinstance(getattr(type(env), name, None), bool) and not isinstance(value, bool):
                raise InvalidArgumentError(f"{self.title}'s option {name!r} must be True or False, got {value!r}.")
        params = default_params(env)
        state_bytes = memory.tree_bytes(state_struct(env))
        self._check_fits(state_bytes)  # before spaces, which may hold arrays of this size
        env.action_space(params)
        space = env.observation_space(params)
        structs = jax.tree.map(lambda dtype, shape: jax.ShapeDtypeStruct(shape, dtype), space.dtype, space.shape)
        self._check_fits(state_bytes + memory.tree_bytes(structs))

    def _check_fits(self, total: int) -> None:
        """Raises `InvalidArgumentError` if one environment takes more bytes than are free."""
        from envcore_runs import memory

        free = memory.device_bytes()
        if free is not None and total > free:
            needed, left = memory.shown_bytes(total), memory.shown_bytes(free)
            raise InvalidArgumentError(
                f"{self.title} with {self._given_options()} would take about {needed} of memory for each environment, "
                f"but only {left} are free."
            )

    def _given_options(self) -> str:
        return f"options={dict(self.options)!r}"


def choose(env_id: str, options: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None) -> Choice:
    """Looks up an id, or a class of the user's as `MODULE:CLASS`, before anything heavy is imported.

    Raises:
      UnknownEnvironmentError: as for `envcore.make`; the module may be in the working directory.
    """
    if isinstance(env_id, str) and user_modules.is_reference(env_id):
        user_modules.find_in_working_directory()
    return Choice(env_id, registry.find(env_id), dict(options or {}), dict(params or {}))


def choice_of(
    env: str | Environment, options: Mapping[str, Any] | None, params: Mapping[str, Any] | None, *, is_saved: bool
) -> Choice:
    """`choose`, or the choice of an environment that a user has made.

    Args:
      env: as for `choose`, or the environment, whose fields are its options.
      options: constructor options, if it is not made yet.
      params: params that differ from the default ones.
      is_saved: whether another process has to make it again by what a file says.

    Raises:
      UnknownEnvironmentError: as for `choose`.
      InvalidArgumentError: it is neither; an environment that is made is given options; or it is saved, and has no name
        by which it can be found, or a field that JSON cannot hold.
    """
    if isinstance(env, str):
        return choose(env, options, params)
    from envcore.environment import Environment

    if not isinstance(env, Environment):
        of_make = ": of what envcore.make returns, give the first" if isinstance(env, tuple) else ""
        raise InvalidArgumentError(f"env must be an id or an environment, got {env!r}{of_make}.")
    if options:
        raise InvalidArgumentError("options are those of an id: make the environment with them.")
    kind = type(env)
    fields = {field.name: getattr(env, field.name) for field in dataclasses.fields(env) if field.init}
    title = user_modules.reference_to("the environment", kind) if is_saved else entry_point_of(kind)
    for name, value in fields.items():
        if is_saved and not _is_plain(value):
            raise InvalidArgumentError(
                f"the environment {title} cannot be saved with {name} = {value!r}: give instead the 'MODULE:NAME' of a "
                "function that is annotated to return it."
            )
    found = Registration("local", EnvSpec(kind.__name__, entry_point_of(kind)), kind)
    return Choice(title, found, fields, dict(params or {}))


def _is_plain(value: Any) -> bool:
    """Whether JSON holds a value, of which tuples may be a part, as it is."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def with_params(title: str, env: Any, params: Any, changes: Mapping[str, Any]) -> Any:
    """The params of an environment with some of them replaced.

    Args:
      title: what the errors call the environment.
      env: the environment.
      params: its params.
      changes: numbers or arrays by name.

    Raises:
      InvalidParamsError: it does not have a param, or a value has the wrong shape or dtype.
    """
    import numpy as np
    from envcore import suggestions
    from envcore.engine.arguments import checked_params, param_names

    known, values = param_names(params), dict[str, Any]()
    for name, value in changes.items():
        if name not in known:
            hint = f" {name!r} is an option of its constructor." if name in _options(env) else ""
            raise InvalidParamsError(suggestions.unknown_param(title, name, known) + hint)
        if isinstance(value, str) or value is None:
            raise InvalidParamsError(f"{title}'s param {name!r} must be a number, got {value!r}.")
        try:
            given = np.asarray(value)
        except ValueError:  # rows of different lengths
            given = np.asarray(None)
        if given.dtype.kind not in "biuf":
            raise InvalidParamsError(f"{title}'s param {name!r} must be a number or an array, got {value!r}.")
        # A scalar stays a Python number, so that its value is checked.
        values[name] = value if given.ndim == 0 else given
    return checked_params(env, params.replace(**values)) if values else params  # at once: one may need another


def _randomized(env: Any, params: Any, ranges: Mapping[str, Any]) -> tuple[Any, Any]:
    from envcore.engine.arguments import checked_params
    from envcore.wrappers import RandomizeParams

    env = RandomizeParams(env, {name: tuple(ends) if isinstance(ends, list) else ends for name, ends in ranges.items()})
    env.check_params(params)
    # The algorithms take the time limit from the params.
    limit = ranges.get("max_steps_in_episode")
    return env, checked_params(env, params.replace(max_steps_in_episode=limit[1])) if limit else params


def _options(env: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(env) if field.init}
