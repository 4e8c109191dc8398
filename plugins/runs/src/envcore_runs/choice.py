"""Chooses the environment of a run: an id, with options and params. Imports no JAX before `make`."""

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
    """The chosen environment, with options and params.

    Attributes:
      title: the id as the user wrote it.
      found: its registration.
      options: constructor options.
      params: params to replace in the default ones.
      randomize: params to randomize in each episode, each with its lowest and highest value.
    """

    title: str
    found: Registration
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    randomize: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])

    def make(self) -> tuple[Any, Any]:
        """Creates the environment and its params.

        Raises:
          InvalidArgumentError: the environment has no such option, or does not accept its value.
          InvalidParamsError: the environment has no such param, a value has the wrong shape or dtype, or a range is
            malformed.
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
                _ = env.action_space(params), env.observation_space(params)  # an unexpected value may break these
        except EnvcoreError:
            raise
        except Exception as error:  # an environment can raise anything for an unexpected value
            if not self.options:
                raise
            problem = f"does not work with options={dict(self.options)!r}: {one_line(error)}"
            raise InvalidArgumentError(f"{self.title} {problem}") from error
        params = with_params(self.title, env, params, self.params)
        return _randomized(env, params, self.randomize) if self.randomize else (env, params)


def choose(env_id: str, options: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None) -> Choice:
    """Looks up an id, or `MODULE:CLASS` for a class of your own, before importing anything heavy.

    Raises:
      UnknownEnvironmentError: as for `envcore.make`. The module can be in the working directory.
    """
    if isinstance(env_id, str) and user_modules.is_reference(env_id):
        user_modules.find_in_working_directory()
    return Choice(env_id, registry.find(env_id), dict(options or {}), dict(params or {}))


def choice_of(
    env: str | Environment, options: Mapping[str, Any] | None, params: Mapping[str, Any] | None, *, is_saved: bool
) -> Choice:
    """Like `choose`, but also accepts an environment.

    Args:
      env: an id as for `choose`, or an environment, whose fields are its options.
      options: constructor options, if `env` is an id.
      params: params to replace in the default ones.
      is_saved: whether another process has to recreate the environment from a file.

    Raises:
      UnknownEnvironmentError: as for `choose`.
      InvalidArgumentError: `env` is neither an id nor an environment, or is an environment but `options` are given.
        `options` or `params` are not a dict. Or the environment has to be saved, but cannot be imported by a name, or
        has a field that JSON does not support.
    """
    for name, given in (("options", options), ("params", params)):
        if not isinstance(given, Mapping | None):
            raise InvalidArgumentError(f"{name} must be a dict of the values to change, got {given!r}.")
    if isinstance(env, str):
        return choose(env, options, params)
    from envcore.environment import Environment

    if not isinstance(env, Environment):
        raise InvalidArgumentError(f"env must be an id or an environment, got {env!r}. Pass params as params=.")
    if options:
        raise InvalidArgumentError("options are only for an id: create the environment with them instead.")
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
    """Returns the params of an environment with some of them replaced.

    Args:
      title: name of the environment in error messages.
      env: the environment.
      params: its params.
      changes: numbers or arrays by name.

    Raises:
      InvalidParamsError: the environment has no such param, or a value has the wrong shape or dtype.
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
    return checked_params(env, params.replace(**values)) if values else params  # together: one may require another


def _row(value: Any) -> Any:
    """Converts a list of numbers to an array."""
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
    # Algorithms read the time limit from the params.
    limit = ranges.get("max_steps_in_episode")
    return env, checked_params(env, params.replace(max_steps_in_episode=limit[1])) if limit else params
