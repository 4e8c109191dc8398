"""Specs: the strings with which plugins announce environments, commands, policies and algorithms. No JAX import."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from envcore.errors import InvalidArgumentError

ENTRY_POINT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
"""An entry point: `"package.module:object"`."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/-]*")
_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")


@dataclasses.dataclass(frozen=True)
class EnvSpec:
    """Announces an environment.

    Attributes:
      id: the id to pass to `envcore.make`, for example `"CartPole-v1"`.
      entry_point: `"package.module:Class"`, imported only when the environment is made. Or a function that takes
        options as keyword arguments and returns an `Environment`.
      kwargs: constructor options for this id, with hashable values. Options passed to `make` take precedence.
      summary: one-line description of the task, shown by `envcore list`.
      source: paper or original implementation of the rules.
      family: prefix that groups many settings of one experiment. Their ids are `"family/..."`, and `envcore list` shows
        the family in one line. Empty for a single environment.

    Raises:
      InvalidArgumentError: `id`, `entry_point` or `family` is malformed.
    """

    kind: ClassVar[str] = "environment"

    id: str
    entry_point: str
    kwargs: Mapping[str, Hashable] = dataclasses.field(default_factory=dict[str, Hashable], hash=False)
    summary: str = ""
    source: str = ""
    family: str = ""

    def __post_init__(self) -> None:
        is_id = isinstance(self.id, str) and _ID.fullmatch(self.id)  # pyright: ignore[reportUnnecessaryIsInstance]
        _check(self, is_id, "id", "must start with a letter or digit and contain only a-z, A-Z, 0-9, . _ + / -")
        _check(self, ENTRY_POINT.fullmatch(self.entry_point), "entry_point", "must be 'package.module:Class'")
        is_prefix = not self.family or self.id.startswith(f"{self.family}/")
        _check(self, is_prefix, "family", "must be the part of the id before a '/'")
        object.__setattr__(self, "kwargs", dict(self.kwargs))

    @property
    def name(self) -> str:
        """The id."""
        return self.id


@dataclasses.dataclass(frozen=True)
class NamedSpec:
    """Base class of specs with a name: commands, policies and algorithms.

    Attributes:
      name: the name that users type.
      summary: one-line description.
      entry_point: `"package.module:object"`, imported only when it is used.

    Raises:
      InvalidArgumentError: `name` or `entry_point` is malformed.
    """

    kind: ClassVar[str]

    name: str
    summary: str
    entry_point: str

    def __post_init__(self) -> None:
        _check(self, _NAME.fullmatch(self.name), "name", "must be words of a-z and 0-9, joined by - or _")
        _check(self, ENTRY_POINT.fullmatch(self.entry_point), "entry_point", "must be 'package.module:object'")


@dataclasses.dataclass(frozen=True)
class CommandSpec(NamedSpec):
    """Announces a subcommand of `envcore`, the command line of the distribution envcore-cli.

    `name` follows `envcore` on the command line, for example `"render"`. `envcore --help` shows the summary. The object
    is a `typer.Typer` with subcommands, or a function whose parameters become options.
    """

    kind = "command"


@dataclasses.dataclass(frozen=True)
class PolicySpec(NamedSpec):
    """Announces a policy, for use as in `--policy trained`.

    The object is a function with four arguments: the environment's id, the environment, its params, and the text after
    a colon that follows the name ("" if there is none). For its return value, see `envcore_runs.policies` of the
    distribution envcore-runs.
    """

    kind = "policy"


@dataclasses.dataclass(frozen=True)
class AlgorithmSpec(NamedSpec):
    """Announces a training algorithm, for use as in `envcore train ppo` of the distribution envcore-baselines.

    The object is a class that implements `envcore_baselines.learner.Learner` and has a `Config`, the dataclass of its
    settings.
    """

    kind = "algorithm"


def _check(spec: Any, holds: object, field: str, must: str) -> None:
    if not holds:
        place = f"{type(spec).__name__} {spec.name!r}"
        raise InvalidArgumentError(f"the {field} of {place} {must}, got {getattr(spec, field)!r}")
