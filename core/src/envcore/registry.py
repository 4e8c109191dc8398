"""The catalogue: which environments are installed, and `make`.

Importing this module discovers nothing and imports no JAX. The first `make` or listing discovers the plugins,
once; `make` then imports the module of one environment.
"""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, overload

from packaging.utils import canonicalize_name

from envcore.catalogue import Catalogue
from envcore.catalogue import Registration as Registration
from envcore.errors import PluginError, PluginWarning, UnknownEnvironmentError
from envcore.local import LOCAL as LOCAL
from envcore.local import check_clash, rows
from envcore.making import construct
from envcore.plugins import PluginRecord, discover, is_autoload_on, problems
from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment

_SHOWN_FAMILIES = 30  # in the error of an unknown one


class Registry:
    """All registrations of one process. `envcore.make` and its siblings use one shared instance."""

    def __init__(self) -> None:
        # Two locks: a thread may be importing a module that calls `register` while another one discovers it.
        self._register_lock = threading.Lock()
        self._discovery_lock = threading.RLock()
        self._discovering = False
        self._plugins: tuple[PluginRecord, ...] | None = None
        self._autoload = True
        self._announced: tuple[Registration, ...] = ()
        self._local: dict[str, Registration] = {}
        self._catalogue: Catalogue | None = None

    def plugins(self) -> tuple[PluginRecord, ...]:
        """Every plugin found, also the broken and the disabled ones. The first call discovers.

        Warns:
          PluginWarning: in the first call, for each broken plugin and for a disabled name that no plugin has.

        Raises:
          PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`, or a plugin looks at the catalogue while it
            is being loaded.
        """
        with self._discovery_lock:
            if self._plugins is None:
                self._plugins = self._discover()
                # Warned of only now, so that a filter that turns warnings into errors does not lose the discovery.
                for problem in problems(self._plugins):
                    warnings.warn(problem, PluginWarning, stacklevel=_stacklevel_outside())
            return self._plugins

    def register(self, *args: Any, **fields: Any) -> None:
        """Adds environments under the distribution name `"local"`, all or none. See `envcore.register`."""
        added, new = rows(args, fields), dict[str, Registration]()
        with self._register_lock:
            for row in added:
                check_clash(row, new.get(row.spec.id) or self._local.get(row.spec.id))
                new[row.spec.id] = row
            self._local.update(new)
            self._catalogue = None

    def registrations(self, family: str = "") -> tuple[Registration, ...]:
        """The environments that belong to no family, or those of one family; see `list_envs`."""
        families = self._everything().families
        if family not in families:
            names = [name for name in families if name]
            more = f" and {len(names) - _SHOWN_FAMILIES:,} more" if len(names) > _SHOWN_FAMILIES else ""
            known = f"there are: {', '.join(names[:_SHOWN_FAMILIES]) or 'none'}{more}."
            raise UnknownEnvironmentError(
                f"{self._autoload_off()}no family of environments is called {family!r}; {known}"
            )
        return families[family]

    def families(self) -> tuple[str, ...]:
        """The families of environments, in alphabetical order."""
        return tuple(filter(None, self._everything().families))

    def find(self, env_id: str) -> Registration:
        """Looks up `"id"` or `"distribution:id"`.

        Raises:
          UnknownEnvironmentError: nothing has this id; the message names the nearest ids, the distribution to
            install and the plugins that are left out. Or several distributions announce the id.
        """
        if not isinstance(env_id, str):
            raise UnknownEnvironmentError(f"an environment's id is a string such as 'CartPole-v1', got {env_id!r}")
        qualifier, colon, name = env_id.rpartition(":")
        found = self._everything().named(name)
        if colon:
            found = [each for each in found if each.distribution == canonicalize_name(qualifier)]
        if not found:
            from envcore.suggestions import unknown_environment

            raise UnknownEnvironmentError(unknown_environment(env_id, self._everything(), self.plugins()))
        if len(found) != 1:
            choices = " or ".join(f"make({each.qualified_id!r})" for each in found)
            raise UnknownEnvironmentError(f"{name!r} is announced by several distributions: use {choices}.")
        return found[0]

    def make(self, env_id: str, **kwargs: Any) -> tuple[Environment[Any, Any], Any]:
        """See `envcore.make`."""
        env = construct(self.find(env_id), kwargs)  # looked up before JAX is imported
        from envcore.engine.arguments import device_params

        return env, device_params(env)

    def _discover(self) -> tuple[PluginRecord, ...]:
        if self._discovering:
            raise PluginError("a plugin may not make or list environments while it is being loaded")
        self._discovering = True
        try:
            self._autoload, plugins = is_autoload_on(), discover()
        finally:
            self._discovering = False
        self._announced = tuple(Registration(each.distribution, spec) for each in plugins for spec in each.specs)
        return plugins

    def _everything(self) -> Catalogue:
        self.plugins()
        with self._register_lock:
            if self._catalogue is None:
                self._catalogue = Catalogue([*self._announced, *self._local.values()])
            return self._catalogue

    def _autoload_off(self) -> str:
        return (
            "" if self._autoload else "ENVCORE_PLUGIN_AUTOLOAD is off, so no plugin is loaded; unset it to load them: "
        )


def _stacklevel_outside() -> int:
    """The `stacklevel` with which the caller's warning points at the line outside envcore that led to it."""
    level, frame = 1, inspect.currentframe()
    frame = frame and frame.f_back
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "envcore":
        level, frame = level + 1, frame.f_back
    return level


_SHARED = Registry()


def make(env_id: str, **kwargs: Any) -> tuple[Environment[Any, Any], Any]:
    """Makes an installed environment.

    Args:
      env_id: `"CartPole-v1"`, or `"distribution:id"` where two distributions announce one id.
      **kwargs: the environment's constructor options (its static fields: grid size, action set, ...).

    Returns:
      The environment and its default parameters, the pair that `reset` and `step` need. Two environments made
      with equal options are equal and share one compilation. The parameters are arrays on JAX's default device: as
      Python numbers (`env.default_params`), each call of a compiled function would take them there again.

    Raises:
      UnknownEnvironmentError: the id is not installed, or several distributions announce it.
      EnvironmentLoadError: the announced class cannot be imported.
      InvalidArgumentError: an option is unknown or refused.
    """
    return _SHARED.make(env_id, **kwargs)


@overload
def register(*specs: EnvSpec) -> None: ...
@overload
def register(
    id: str,
    entry_point: str | Callable[..., Environment[Any, Any]],
    *,
    kwargs: Mapping[str, Hashable] | None = None,
    summary: str = "",
    source: str = "",
    family: str = "",
) -> None: ...
def register(*args: Any, **fields: Any) -> None:
    """Adds environments to this process without a plugin, in a notebook, say, under the distribution name `"local"`.

        envcore.register("Walk-v0", Walk)
        envcore.register("LongWalk-v0", Walk, kwargs={"length": 100}, summary="Walk to the end of a long line.")
        envcore.register(EnvSpec("Walk-v0", "my_module:Walk"), EnvSpec("Run-v0", "my_module:Run"))

    A class or function that is given itself need not be importable: it may be a notebook's, or local to a function.
    Registering it again under its id takes the place of what was there, if its name and module are the same, as
    when a notebook's cell is run again. An `EnvSpec` may only be repeated as it was. Several are added all or none.

    Args:
      *args: `EnvSpec` rows; or the fields of one, `id` and `entry_point`, where `entry_point` is a subclass of
        `Environment`, a function that takes options and returns an environment, or a string as in `EnvSpec`.
      **fields: with `id` and `entry_point`: `kwargs`, `summary`, `source`, `family`, as in `EnvSpec`.

    Raises:
      InvalidArgumentError: an argument is none of these, a field is malformed, or the id stands for something else.
    """
    _SHARED.register(*args, **fields)


def find(env_id: str) -> Registration:
    """Looks an id up without importing its environment. See `Registry.find`."""
    return _SHARED.find(env_id)


def list_envs(family: str = "") -> tuple[Registration, ...]:
    """The environments that can be made, in the order of ids, clashing ids with each of their distributions.

    Args:
      family: one of `list_families()`, for its members; by default the environments that belong to no family.

    Raises:
      UnknownEnvironmentError: there is no such family.
    """
    return _SHARED.registrations(family)


def list_families() -> tuple[str, ...]:
    """The families of environments, such as `"bsuite/deep_sea"`, whose members `list_envs(family)` lists."""
    return _SHARED.families()


def list_plugins() -> tuple[PluginRecord, ...]:
    """Every plugin that was found, also the broken and the disabled ones."""
    return _SHARED.plugins()
