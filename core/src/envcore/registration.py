"""`envcore.registry`, the environments of this process, with `envcore.make` and `envcore.register`.

Importing this module discovers nothing and imports no JAX. The first use of the registry discovers the plugins, once;
`make` then imports the module of one environment.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import threading
import warnings
from collections.abc import Callable, Hashable, ItemsView, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING

from envcore.catalogue import Catalogue, Registration, is_factory, of_module
from envcore.errors import InvalidArgumentError, PluginError, PluginWarning, UnknownEnvironmentError
from envcore.plugins import PluginRecord, discover, problems
from envcore.specs import EnvSpec

if TYPE_CHECKING:
    from envcore.environment import Environment
    from envcore.typing import PyTree

_LOCAL = "local"  # stands for a distribution's name in ids that were added by `register`


class Registry(Mapping[str, Registration]):
    """The environments that can be made, by the ids that `make` takes, in natural order.

        "CartPole-v1" in envcore.registry
        envcore.registry["CartPole-v1"].spec.summary
        [env_id for env_id in envcore.registry if env_id.startswith("bsuite/deep_sea/")]
        {plugin.distribution: plugin.status for plugin in envcore.registry.plugins}

    Where several distributions announce one id, the keys are `"distribution:id"`; every id is found when written so.
    The first use discovers the installed plugins, and may warn or raise as `plugins` does.
    """

    def __init__(self) -> None:
        # Two locks: a thread may be importing a module that calls `register` while another one discovers it.
        self._register_lock = threading.Lock()
        self._discovery_lock = threading.RLock()
        self._is_discovering = False
        self._plugins: tuple[PluginRecord, ...] | None = None
        self._local: dict[str, Registration] = {}
        self._catalogue: Catalogue | None = None

    def __repr__(self) -> str:
        num_plugins = len(self.plugins)
        plugins = f"{num_plugins} plugin{'s' * (num_plugins != 1)}"
        return f"<envcore.registry: {len(self):,} environment{'s' * (len(self) != 1)}, {plugins}>"

    @property
    def plugins(self) -> tuple[PluginRecord, ...]:
        """Every plugin found, also the broken and the disabled ones.

        Warns:
          PluginWarning: at the first use, for each broken plugin and for a disabled name that no plugin has.

        Raises:
          PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`, or a plugin uses the registry while it is
            being loaded.
        """
        with self._discovery_lock:
            if self._plugins is None:
                if self._is_discovering:
                    raise PluginError("a plugin may not make or list environments while it is being loaded")
                self._is_discovering = True
                try:
                    self._plugins = discover()
                finally:
                    self._is_discovering = False
                # Warned of only now, so that a filter that turns warnings into errors does not lose the discovery.
                for problem in problems(self._plugins):
                    warnings.warn(problem, PluginWarning, stacklevel=_stacklevel_outside())
            return self._plugins

    def __getitem__(self, env_id: str) -> Registration:
        """Looks an id up without importing its environment.

        Raises:
          UnknownEnvironmentError: nothing has this id, and the message names the nearest ids, the distribution to
            install and the plugins that are left out; or several distributions have it, and the message names them.
        """
        if not isinstance(env_id, str):
            raise UnknownEnvironmentError(f"an environment's id is a string such as 'CartPole-v1', got {env_id!r}")
        found = self._snapshot().find(env_id)
        if not found:
            from envcore.suggestions import unknown_environment

            raise UnknownEnvironmentError(unknown_environment(env_id, self._snapshot(), self.plugins))
        if len(found) > 1:
            choices = " or ".join(f"make({each.qualified_id!r})" for each in found)
            raise UnknownEnvironmentError(f"{env_id!r} is announced by several distributions: use {choices}.")
        return found[0]

    def find(self, env_id: str) -> Registration:
        """Looks up what `make` takes, without importing it: an id, or `MODULE:CLASS`, which no distribution announces.

        Raises:
          UnknownEnvironmentError: as for `registry[env_id]`, and there is no such module either.
        """
        is_announced = not isinstance(env_id, str) or self._snapshot().find(env_id)
        return self[env_id] if is_announced else of_module(env_id) or self[env_id]

    def __contains__(self, env_id: object) -> bool:  # Mapping's would look for the nearest ids
        return isinstance(env_id, str) and len(self._snapshot().find(env_id)) == 1

    def __iter__(self) -> Iterator[str]:
        return iter(self._snapshot().entries)

    def __len__(self) -> int:
        return len(self._snapshot().entries)

    def items(self) -> ItemsView[str, Registration]:
        return self._snapshot().entries.items()

    def values(self) -> ValuesView[Registration]:
        return self._snapshot().entries.values()

    def make(self, env_id: str, **options: object) -> tuple[Environment, PyTree]:
        """Makes an environment: an installed one, or one of yours.

        Args:
          env_id: `"CartPole-v1"`, or `"distribution:id"` where several distributions announce one id; or
            `"my_module:MyEnv"`, a subclass of `Environment`, or a function that is annotated to return one.
          **options: the environment's constructor options (its static fields: grid size, action set, ...).

        Returns:
          The environment and its default parameters, the pair that `reset` and `step` need. Two environments made
          with equal options are equal and share one compilation. The parameters are arrays on JAX's default device: as
          Python numbers (`env.default_params`), each call of a compiled function would take them there again.

        Raises:
          UnknownEnvironmentError: the id is not installed and is not that of a module, or several distributions
            announce it.
          EnvironmentLoadError: the class cannot be imported, or is not one of environments.
          InvalidArgumentError: an option is unknown or refused.
        """
        env = self.find(env_id).construct(options)  # looked up before JAX is imported
        from envcore.engine.arguments import device_params

        return env, device_params(env)

    def register(
        self,
        id: str,  # noqa: A002
        entry_point: str | Callable[..., Environment],
        *,
        kwargs: Mapping[str, Hashable] | None = None,
        summary: str = "",
        source: str = "",
        family: str = "",
    ) -> None:
        """Adds an environment to this process without a plugin, in a notebook, say, as `"local:id"`.

            envcore.register("Walk-v0", Walk)
            envcore.register("LongWalk-v0", Walk, kwargs={"length": 100}, summary="Walk to the end of a long line.")
            envcore.register("Run-v0", "my_module:Run")

        A class or function that is given itself need not be importable: it may be a notebook's, or local to a function.
        Registering it again under its id replaces what was there, if its name and module are the same, as when a
        notebook's cell is run again. A string may only be repeated with the same fields.

        Args:
          id: as in `EnvSpec`.
          entry_point: a subclass of `Environment`, a function that takes options and returns an environment, or a
            string as in `EnvSpec`.
          kwargs: as in `EnvSpec`; so are `summary`, `source` and `family`.

        Raises:
          InvalidArgumentError: an argument is malformed, or the id is taken.
        """
        factory = None
        if not isinstance(entry_point, str):
            if not is_factory(entry_point):
                is_class = isinstance(entry_point, type)
                got = f"the class {entry_point.__name__}" if is_class else f"an object of {type(entry_point).__name__}"
                raise InvalidArgumentError(
                    "register takes a subclass of envcore.Environment, a function that returns an environment, or a "
                    f"string 'package.module:Class', got {got}"
                )
            factory, entry_point = entry_point, entry_point_of(entry_point)
        spec = EnvSpec(id, entry_point, {} if kwargs is None else kwargs, summary, source, family)
        row = Registration(_LOCAL, spec, factory)
        with self._register_lock:
            _check_clash(row, self._local.get(row.spec.id))
            self._local[row.spec.id] = row
            self._catalogue = None

    def _snapshot(self) -> Catalogue:
        plugins = self.plugins
        with self._register_lock:
            if self._catalogue is None:
                announced = (Registration(plugin.distribution, spec) for plugin in plugins for spec in plugin.specs)
                self._catalogue = Catalogue([*announced, *self._local.values()])
            return self._catalogue


def _stacklevel_outside() -> int:
    """The `stacklevel` with which the caller's warning points at the user's line: outside envcore and `Mapping`."""
    level, frame = 0, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in ("envcore", "collections"):
        level, frame = level + 1, frame.f_back
    return level


def _check_clash(new: Registration, known: Registration | None) -> None:
    """Raises `InvalidArgumentError` unless a registration may replace the one with the same id."""
    if known is None or new == known or (new.factory is not None and new.definition == known.definition):
        return
    message = f"{new.spec.id!r} is registered already, as {known.definition!r}"
    if new.definition == known.definition:
        names = [field.name for field in dataclasses.fields(EnvSpec)]
        other = [name for name in names if getattr(new.spec, name) != getattr(known.spec, name)]
        message += f" with another {' and '.join(other)}" if other else ", without the class or function itself"
    raise InvalidArgumentError(f"{message}: choose another id")


def entry_point_of(factory: Callable[..., object]) -> str:
    """What an `EnvSpec` says of a class or function that nothing has to import: `"__main__:Walk"`."""
    names = [*(factory.__module__ or "__main__").split("."), factory.__name__]
    *module, name = (re.sub(r"\W|^(?=\d)", "_", each) or "_" for each in names)
    return f"{'.'.join(module)}:{name}"


registry = Registry()
make = registry.make
register = registry.register
