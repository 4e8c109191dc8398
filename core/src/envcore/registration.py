"""`envcore.registry`, the environments of this process, with `envcore.make` and `envcore.register`.

Importing this module discovers nothing and imports no JAX. The first use of the registry discovers the plugins, once;
`make` then imports the module of one environment.
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
    """An environment that can be made.

    Attributes:
      distribution: canonical name of the distribution; `"local"` for what `envcore.register` added, and for a module
        of yours.
      spec: the announced spec.
      factory: the class or function that was registered itself; None if `spec.entry_point` has to be imported.
    """

    factory: Callable[..., Environment] | None = None

    @property
    def definition(self) -> str:
        """`"module:name"` of the class or function, also of one inside a function, which nothing could import."""
        if self.factory is None:
            return self.spec.entry_point
        return f"{self.factory.__module__}:{self.factory.__qualname__}"

    def construct(self, options: Mapping[str, Any]) -> Environment:
        """Makes the environment, as `envcore.make` does, without its params.

        Raises:
          EnvironmentLoadError: its entry point cannot be imported, or is neither a subclass of `Environment` nor a
            function that returns one.
          EnvironmentDefinitionError: an option cannot be hashed, as a list cannot.
          InvalidArgumentError: an option is unknown or refused.
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
            raise InvalidArgumentError(f"{self.spec.id} refuses its options: {error}") from error
        if not isinstance(env, Environment):
            raise EnvironmentLoadError(f"{self.pointer}, which returns {env!r} instead of an Environment.")
        check_hashable(env)
        return env

    def _check_names(self, factory: Callable[..., Environment], options: Mapping[str, Any]) -> None:
        parameters = inspect.signature(factory).parameters
        kinds = {each.kind for each in parameters.values()}
        unknown = min(set(options) - set(parameters), default=None)
        if unknown is None or inspect.Parameter.VAR_KEYWORD in kinds:
            return
        message = f"{self.spec.id} has no option {unknown!r}; its options: {', '.join(parameters) or 'none'}."
        with contextlib.suppress(Exception):  # without the options that it requires
            from envcore.engine.arguments import param_names

            if unknown in param_names(factory(**self.spec.kwargs).default_params):
                message += (
                    f" {unknown!r} is a parameter: params = params.replace({unknown}=...), "
                    f"or --set {unknown}=... on the command line."
                )
        raise InvalidArgumentError(message)


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
        self._lock = threading.RLock()
        self._is_discovering = False
        self._plugins: tuple[PluginRecord, ...] | None = None
        self._local: dict[str, Registration] = {}
        self._cached: tuple[dict[str, Registration], Catalogue[Registration]] | None = None

    @property
    def plugins(self) -> tuple[PluginRecord, ...]:
        """Every plugin found, also the broken and the disabled ones.

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
                # Warned of only now, so that a filter that turns warnings into errors does not lose the discovery.
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
        """The commands, policies or algorithms of plugins: those whose specs are of a class."""
        return Catalogue(Announced(*row) for row in self._rows(kind))

    def _rows(self, kind: type[_Spec]) -> Iterator[tuple[str, _Spec]]:
        return ((each.distribution, spec) for each in self.plugins for spec in each.specs if isinstance(spec, kind))

    def __getitem__(self, env_id: str) -> Registration:
        """Looks an id up without importing its environment.

        Raises:
          UnknownEnvironmentError: nothing has this id, and the message names the nearest ids, the distribution to
            install and the plugins that are left out; or several distributions have it, and the message names them.
        """
        if not isinstance(env_id, str):
            raise UnknownEnvironmentError(f"an environment's id is a string such as 'CartPole-v1', got {env_id!r}")
        found = self._catalogue.find(env_id, UnknownEnvironmentError)
        if found is None:
            raise UnknownEnvironmentError(unknown_environment(env_id, self._catalogue, self.plugins))
        return found

    def find(self, env_id: str) -> Registration:
        """Looks up what `make` takes, without importing it: an id, or `MODULE:CLASS`, which no distribution announces.

        Raises:
          UnknownEnvironmentError: as for `registry[env_id]`, and there is no such module either.
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
        """Makes an environment: an installed one, or one of yours.

        Args:
          env_id: `"CartPole-v1"`, or `"distribution:id"` where several distributions announce one id; or
            `"my_module:MyEnv"`, a subclass of `Environment` or a function that returns one.
          **options: the environment's constructor options (its static fields: grid size, action set, ...).

        Returns:
          The environment and its default parameters, the pair that `reset` and `step` need. Two environments made
          with equal options are equal and share one compilation. The parameters are arrays on JAX's default device: as
          Python numbers (`env.default_params`), each call of a compiled function would take them there again.

        Raises:
          UnknownEnvironmentError: the id is not installed and is not that of a module, or several distributions
            announce it.
          EnvironmentLoadError: the class cannot be imported, or is not one of environments.
          EnvironmentDefinitionError: an option cannot be hashed, as a list cannot.
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
        """Adds an environment to this process without a plugin, for example in a notebook, as `"local:id"`.

            envcore.register("Walk-v0", Walk)
            envcore.register("LongWalk-v0", Walk, kwargs={"length": 100}, summary="Walk to the end of a long line.")
            envcore.register("Run-v0", "my_module:Run")

        You can register a class or function again under its id, as when a notebook's cell is run again.

        Args:
          id: as in `EnvSpec`.
          entry_point: a subclass of `Environment`, a function that takes options and returns an environment, or a
            string as in `EnvSpec`.
          kwargs: as in `EnvSpec`; so are `summary`, `source` and `family`.

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
        # The plugins come first: while they are imported, they may call `register`.
        _, local, cached = self.plugins, self._local, self._cached
        if cached is None or cached[0] is not local:
            announced = [Registration(*row) for row in self._rows(EnvSpec)]
            self._cached = cached = local, Catalogue([*announced, *local.values()])
        return cached[1]


def _is_factory(value: object) -> bool:
    """Whether the value can make environments: a subclass of `Environment`, or a function."""
    if not isinstance(value, type):
        return inspect.isfunction(value)
    from envcore.environment import Environment

    return issubclass(value, Environment)


def entry_point_of(factory: Callable[..., object]) -> str:
    """What an `EnvSpec` says of a class or function that was given itself: `"__main__:Walk"`."""
    names = [*(factory.__module__ or "__main__").split("."), factory.__name__]  # `exec` gives no module
    *module, name = (re.sub(r"\W|^(?=\d)", "_", each) for each in names)
    return f"{'.'.join(module)}:{name}"


registry = Registry()
make = registry.make
register = registry.register
