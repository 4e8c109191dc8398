"""The environment of a run: an id, with options and params. Imports no JAX before `make`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from envcore import registry
from envcore.catalogue import Registration
from envcore.errors import EnvcoreError, InvalidArgumentError, InvalidParamsError
from envcore.text import one_line

from envcore_runs import naming


@dataclasses.dataclass(frozen=True)
class Choice:
    """The environment that a user chose, with options and params.

    Attributes:
      title: the id as the user gave it.
      found: its registration.
      options: constructor options.
      params: params, which replace its defaults.
    """

    title: str
    found: Registration
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])

    @property
    def is_changed(self) -> bool:
        """Whether any options or params were given."""
        return bool(self.options or self.params)

    def make(self) -> tuple[Any, Any]:
        """Returns the environment and its params.

        Raises:
          InvalidArgumentError: the environment does not have an option, or refuses its value, or with them would
            not fit into memory.
          InvalidParamsError: the environment does not have a param, or a value has the wrong shape or dtype.
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
        return env, with_params(self.title, env, params, self.params)

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
        return " ".join(naming.option(*each) for each in self.options.items())


def choose(env_id: str, options: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None) -> Choice:
    """Looks up an id, before anything heavy is imported.

    Raises:
      UnknownEnvironmentError: as for `envcore.make`.
    """
    return Choice(env_id, registry[env_id], dict(options or {}), dict(params or {}))


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
    from envcore.engine.arguments import checked_params, param_names

    known, values = param_names(params), dict[str, Any]()
    for name, value in changes.items():
        if name not in known:
            hint = f" {name!r} is an option: {naming.option(name)}" if name in _options(env) else ""
            raise InvalidParamsError(f"{title} has no param {name!r}; its params: {', '.join(known)}.{hint}")
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


def _options(env: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(env) if field.init}
