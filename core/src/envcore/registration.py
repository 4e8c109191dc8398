"""`envcore.make`, `envcore.register` and `envcore.registry`, which lists the available environments.

Importing this module doesn't import JAX or look for plugins. The first use of the registry discovers the plugins, once.
`make` then imports only the module of the environment that you ask for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import inspect
import re
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from envcore.errors import (
    EnvironmentLoadError,
    InvalidArgumentError,
    PluginError,
    PluginWarning,
    UnknownEnvironmentError,
)
from envcore.plugins import Announced, Catalogue, PluginRecord, Spec, discover
from envcore.specs import ENTRY_POINT, EnvSpec, NamedSpec
from envcore.suggestions import unknown_environment

if TYPE_CHECKING:
    from envcore.environment import Environment
    from envcore.typing import PyTree

_Named = TypeVar("_Named", bound=NamedSpec)
_Spec = TypeVar("_Spec", bound=Spec)


@dataclasses.dataclass(frozen=True)
class Registration(Announced[EnvSpec]):
    """A registered environment.

    Attributes:
      distribution: canonical name of the distribution, or `"local"` for `envcore.register` and for your own modules.
      spec: the announced spec.
      factory: the class or function passed to `register`. None if `spec.entry_point` has to be imported.
    """

    factory: Callable[..., Environment] | None = None

    @property
    def definition(self) -> str:
        """`"module:name"` of the class or function, even for a local one that can't be imported."""
        if self.factory is None:
            return self.spec.entry_point
        return f"{self.factory.__module__}:{self.factory.__qualname__}"

    def construct(self, options: Mapping[str, Any]) -> Environment:
        """Creates the environment. Like `envcore.make`, but returns no params.

        Raises:
          EnvironmentLoadError: the entry point cannot be imported, or is neither a subclass of `Environment` nor a
            function that returns one.
          EnvironmentDefinitionError: an option is not hashable, such as a list.
          InvalidArgumentError: the environment has no such option, or does not accept its value.
        """
        from envcore.engine.arguments import check_hashable
        from envcore.environment import Environment

        factory: Any = self.factory or self.load(EnvironmentLoadError)
        if not _is_factory(factory):
            raise EnvironmentLoadError(f"{self.pointer}, which is neither a class of environments nor a function.")
        if inspect.isabstract(factory):
            raise EnvironmentLoadError(f"{self.pointer}, which lacks {', '.join(sorted(factory.__abstractmethods__))}.")
        self._check_names(factory, options)
        try:
            env = factory(**{**self.spec.kwargs, **options})
        except (TypeError, ValueError, LookupError, ArithmeticError) as error:
            what = "got invalid options" if options else "cannot be made"
            raise InvalidArgumentError(f"{self.spec.id} {what}: {error}") from error
        if not isinstance(env, Environment):
            raise EnvironmentLoadError(f"{self.pointer}, which returns {env!r} instead of an Environment.")
        check_hashable(env)
        return env

    def _check_names(self, factory: Callable[..., Environment], options: Mapping[str, Any]) -> None:
        parameters = inspect.signature(factory).parameters
        for name, value in options.items():
            if isinstance(value, str) and isinstance(getattr(parameters.get(name), "default", None), bool):
                raise InvalidArgumentError(f"{self.spec.id}'s option {name} must be True or False, got {value!r}.")
        kinds = {each.kind for each in parameters.values()}
        unknown = min(set(options) - set(parameters), default=None)
        if unknown is None or inspect.Parameter.VAR_KEYWORD in kinds:
            return
        message = f"{self.spec.id} has no option {unknown!r}; its options: {', '.join(parameters) or 'none'}."
        with contextlib.suppress(Exception):  # some options may be required
            from envcore.engine.arguments import param_names

            if unknown in param_names(factory(**self.spec.kwargs).default_params):
                message += f" It is a param: params.replace({unknown}=...)."
        raise InvalidArgumentError(message)


class Registry(Mapping[str, Registration]):
    """The available environments, by id and in natural order.

        "CartPole-v1" in envcore.registry
        envcore.registry["CartPole-v1"].spec.summary
        [env_id for env_id in envcore.registry if env_id.startswith("bsuite/deep_sea/")]
        {plugin.distribution: plugin.status for plugin in envcore.registry.plugins}

    If several distributions announce the same id, the keys are `"distribution:id"`. You can look up every id this way.
    The first use discovers the installed plugins, and can warn or raise as described at `plugins`.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._is_discovering = False
        self._plugins: tuple[PluginRecord, ...] | None = None
        self._local: dict[str, Registration] = {}
        self._cached: tuple[dict[str, Registration], Catalogue[Registration]] | None = None

    @property
    def plugins(self) -> tuple[PluginRecord, ...]:
        """All plugins that were found, including broken and disabled ones.

        Warns:
          PluginWarning: at the first use, for each broken plugin.

        Raises:
          PluginError: a plugin is broken and `ENVCORE_STRICT_PLUGINS=1`, or a plugin uses the registry while it is
            being loaded.
        """
        with self._lock:
            if self._plugins is None:
                if self._is_discovering:
                    raise PluginError("a plugin may not make or list environments while it is being loaded")
                self._is_discovering = True
                try:
                    self._plugins = discover()
                finally:
                    self._is_discovering = False
                # Warn only now, so that a filter that turns warnings into errors doesn't lose the discovered plugins.
                for plugin in self._plugins:
                    if plugin.status == "broken":
                        message = (
                            f"plugin {plugin.distribution} {plugin.version} is left out: {plugin.error.rstrip('.')}. "
                            f"Fix or uninstall it, or set ENVCORE_DISABLE_PLUGINS={plugin.distribution}. "
                            "ENVCORE_STRICT_PLUGINS=1 shows the traceback."
                        )
                        warnings.warn(message, PluginWarning, stacklevel=2)
            return self._plugins

    def announced(self, kind: type[_Named]) -> Catalogue[Announced[_Named]]:
        """Returns what plugins announce with one class of specs: commands, policies or algorithms."""
        return Catalogue(Announced(*row) for row in self._rows(kind))

    def _rows(self, kind: type[_Spec]) -> Iterator[tuple[str, _Spec]]:
        return ((each.distribution, spec) for each in self.plugins for spec in each.specs if isinstance(spec, kind))

    def __getitem__(self, env_id: str) -> Registration:
        """Looks up an id without importing the environment.

        Raises:
          UnknownEnvironmentError: no environment has this id, or several distributions announce it. The message
            suggests similar ids and the distribution to install, and lists the plugins that were left out.
        """
        if not isinstance(env_id, str):
            raise UnknownEnvironmentError(f"an environment's id is a string such as 'CartPole-v1', got {env_id!r}")
        found = self._catalogue.find(env_id, UnknownEnvironmentError)
        if found is None:
            raise UnknownEnvironmentError(unknown_environment(env_id, self._catalogue, self.plugins))
        return found

    def find(self, env_id: str) -> Registration:
        """Looks up an id, or `MODULE:CLASS` for a class of your own, without importing it.

        Raises:
          UnknownEnvironmentError: no environment has this id, or several do, and there is no such module.
        """
        if isinstance(env_id, str) and not self._catalogue.matching(env_id) and ENTRY_POINT.fullmatch(env_id):
            module, _, name = env_id.partition(":")
            top = module.partition(".")[0]
            if top in sys.modules or importlib.util.find_spec(top):
                return Registration("local", EnvSpec(name, env_id))
        return self[env_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._catalogue)

    def __len__(self) -> int:
        return len(self._catalogue)

    def make(self, env_id: str, **options: object) -> tuple[Environment, PyTree]:
        """Creates an environment and its default params.

        Args:
          env_id: an id such as `"CartPole-v1"`, or `"distribution:id"` if several distributions announce the id. For
            your own environment, `"my_module:MyEnv"`: a subclass of `Environment`, or a function that returns one.
          **options: options of the environment's constructor, such as the grid size or the action set.

        Returns:
          The environment and its default params, which you pass to `reset` and `step`. Environments made with equal
          options are equal and share one compilation. The params are arrays on JAX's default device, unlike the Python
          numbers in `env.default_params`, which would be transferred on every call of a compiled function.

        Raises:
          UnknownEnvironmentError: there is no such id or module, or several distributions announce the id.
          EnvironmentLoadError: the class cannot be imported, or is not an `Environment`.
          EnvironmentDefinitionError: an option is not hashable, such as a list.
          InvalidArgumentError: the environment has no such option, or does not accept its value.
        """
        env = self.find(env_id).construct(options)  # unknown ids fail before JAX is imported
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
        """Registers an environment in this process only, for example in a notebook.

            envcore.register("Walk-v0", Walk)
            envcore.register("LongWalk-v0", Walk, kwargs={"length": 100}, summary="Walk to the end of a long line.")
            envcore.register("Run-v0", "my_module:Run")

        You can register a class or function again under the same id, so you can rerun a notebook cell. The qualified
        name of the environment is `"local:id"`.

        Args:
          id: as in `EnvSpec`.
          entry_point: a subclass of `Environment`, a function that takes options and returns an environment, or a
            string as in `EnvSpec`.
          kwargs: as in `EnvSpec`.
          summary: as in `EnvSpec`.
          source: as in `EnvSpec`.
          family: as in `EnvSpec`.

        Raises:
          InvalidArgumentError: an argument is malformed, or the id belongs to another class or function.
        """
        factory = None
        if not isinstance(entry_point, str):
            if not _is_factory(entry_point):
                raise InvalidArgumentError(
                    "register takes a subclass of envcore.Environment, a function that returns an environment, or a "
                    f"string 'package.module:Class', got {entry_point!r}"
                )
            factory, entry_point = entry_point, entry_point_of(entry_point)
        spec = EnvSpec(id, entry_point, {} if kwargs is None else kwargs, summary, source, family)
        new = Registration("local", spec, factory)
        known = self._local.get(id)
        if known and known.definition != new.definition:
            raise InvalidArgumentError(f"{id!r} is registered already, as {known.definition!r}: choose another id")
        self._local = {**self._local, id: new}

    @property
    def _catalogue(self) -> Catalogue[Registration]:
        # Plugins first, because they may call `register` while they are imported.
        _, local, cached = self.plugins, self._local, self._cached
        if cached is None or cached[0] is not local:
            announced = [Registration(*row) for row in self._rows(EnvSpec)]
            self._cached = cached = local, Catalogue([*announced, *local.values()])
        return cached[1]


def _is_factory(value: object) -> bool:
    """Whether `value` can create environments: a subclass of `Environment`, or a function."""
    if not isinstance(value, type):
        return inspect.isfunction(value)
    from envcore.environment import Environment

    return issubclass(value, Environment)


def entry_point_of(factory: Callable[..., object]) -> str:
    """Returns the entry point of a class or function, such as `"__main__:Walk"`."""
    names = [*(factory.__module__ or "__main__").split("."), factory.__name__]  # None inside `exec`
    *module, name = (re.sub(r"\W|^(?=\d)", "_", each) for each in names)
    return f"{'.'.join(module)}:{name}"


registry = Registry()
make = registry.make
register = registry.register
