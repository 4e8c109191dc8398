"""The environment of a run: an id, with options and params. Imports no JAX before `make`."""

from __future__ import annotations

import dataclasses
import json
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

    def make(self) -> tuple[Any, Any]:
        """Returns the environment and its params.

        Raises:
          InvalidArgumentError: the environment does not have an option, or refuses its value.
          InvalidParamsError: the environment does not have a param, or a value has the wrong shape or dtype, or a range
            is malformed.
          EnvcoreError: as for `envcore.make`.
        """
        from envcore.engine.arguments import device_params

        try:
            env = self.found.construct(dict(self.options))
            params = device_params(env)
            for name, value in self.options.items():
                if isinstance(getattr(type(env), name, None), bool) and not isinstance(value, bool):
                    raise InvalidArgumentError(f"{self.title}'s option {name!r} must be True or False, got {value!r}.")
            if self.options:
                _ = env.action_space(params), env.observation_space(params)  # which such a value may break
        except EnvcoreError:
            raise
        except Exception as error:  # an environment may fail in any way on an unexpected value
            if not self.options:
                raise
            problem = f"does not work with options={dict(self.options)!r}: {one_line(error)}"
            raise InvalidArgumentError(f"{self.title} {problem}") from error
        params = with_params(self.title, env, params, self.params)
        return _randomized(env, params, self.randomize) if self.randomize else (env, params)


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
        raise InvalidArgumentError(f"env must be an id or an environment, without params, got {env!r}.")
    if options:
        raise InvalidArgumentError("options are those of an id: make the environment with them.")
    kind = type(env)
    fields = {field.name: getattr(env, field.name) for field in dataclasses.fields(env) if field.init}
    title = user_modules.reference_to("the environment", kind) if is_saved else entry_point_of(kind)
    if is_saved:
        try:
            json.dumps(fields)
        except TypeError as error:
            instead = "give instead the 'MODULE:NAME' of a function that is annotated to return it"
            raise InvalidArgumentError(f"the environment {title} cannot be saved, {error}: {instead}.") from None
    found = Registration("local", EnvSpec(kind.__name__, entry_point_of(kind)), kind)
    return Choice(title, found, fields, dict(params or {}))


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
    from envcore import suggestions
    from envcore.engine.arguments import checked_params, param_names

    known = param_names(params)
    for name in changes:
        if name not in known:
            is_option = name in {field.name for field in dataclasses.fields(env) if field.init}
            hint = f" {name!r} is an option of its constructor." if is_option else ""
            raise InvalidParamsError(suggestions.unknown_param(title, name, known) + hint)
    values = {name: _row(value) for name, value in changes.items()}
    return checked_params(env, params.replace(**values)) if values else params  # at once: one may need another


def _row(value: Any) -> Any:
    """A list of numbers as an array."""
    import numpy as np

    try:
        return np.asarray(value) if isinstance(value, list | tuple) else value
    except ValueError:  # rows of different lengths
        return value


def _randomized(env: Any, params: Any, ranges: Mapping[str, Any]) -> tuple[Any, Any]:
    from envcore.engine.arguments import checked_params
    from envcore.wrappers import RandomizeParams

    env = RandomizeParams(env, {name: tuple(ends) if isinstance(ends, list) else ends for name, ends in ranges.items()})
    env.check_params(params)
    # The algorithms take the time limit from the params.
    limit = ranges.get("max_steps_in_episode")
    return env, checked_params(env, params.replace(max_steps_in_episode=limit[1])) if limit else params
