"""What a plugin announces, as strings, so that listing it imports nothing. No JAX."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from envcore.errors import InvalidArgumentError

ENTRY_POINT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
"""The form of an entry point: `"package.module:object"`."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/-]*")
_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")


@dataclasses.dataclass(frozen=True)
class EnvSpec:
    """An environment that a plugin announces.

    Attributes:
      id: what a user passes to `envcore.make`, for example `"CartPole-v1"`.
      entry_point: `"package.module:Class"`, imported only when the environment is made; or a function that takes
        options as keyword arguments and returns an `Environment`.
      kwargs: constructor options that belong to this id, with hashable values; options given to `make` win over them.
      summary: one line on the task, shown by `envcore list`.
      source: where the rules come from (paper or original implementation).
      family: groups many settings of one experiment. Their ids are `"family/..."`, and `envcore list` shows the family
        in one line. Empty for an environment that belongs to no family.

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
        _check(
            self,
            _ID.fullmatch(self.id),
            "id",
            "must start with a letter or digit and hold only a-z, A-Z, 0-9, . _ + / -",
        )
        _check(self, ENTRY_POINT.fullmatch(self.entry_point), "entry_point", "must read 'package.module:Class'")
        is_prefix = not self.family or self.id.startswith(f"{self.family}/")
        _check(self, is_prefix, "family", "must be the part of the id before a '/'")
        object.__setattr__(self, "kwargs", dict(self.kwargs))

    @property
    def name(self) -> str:
        """The id, which is the name of an environment."""
        return self.id


@dataclasses.dataclass(frozen=True)
class NamedSpec:
    """Base of what a plugin announces by a name: commands, policies and algorithms.

    Attributes:
      name: what a user types.
      summary: one line on what it does.
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
        _check(self, ENTRY_POINT.fullmatch(self.entry_point), "entry_point", "must read 'package.module:object'")


@dataclasses.dataclass(frozen=True)
class CommandSpec(NamedSpec):
    """A command that a plugin adds to `envcore`, the command line of the distribution envcore-cli.

    `name` is what follows `envcore`, for example `"render"`, and `envcore --help` shows the summary. The object is a
    `typer.Typer` with commands of its own, or a function whose parameters become options.
    """

    kind = "command"


@dataclasses.dataclass(frozen=True)
class PolicySpec(NamedSpec):
    """A policy that plays under a name, for example with `--policy trained`.

    The object is a function of the environment's id, the environment, its params and what follows a colon after the
    name ("" for nothing). `envcore_runs.policies` of the distribution envcore-runs says what it returns.
    """

    kind = "policy"


@dataclasses.dataclass(frozen=True)
class AlgorithmSpec(NamedSpec):
    """An algorithm that trains agents, for example with `envcore train ppo`, of the distribution envcore-baselines.

    The object is a class with the members of `envcore_baselines.learner.Learner`, and `Config`, the dataclass of its
    settings.
    """

    kind = "algorithm"


def _check(spec: Any, holds: object, field: str, must: str) -> None:
    if not holds:
        place = f"{type(spec).__name__} {spec.name!r}"
        raise InvalidArgumentError(f"the {field} of {place} {must}, got {getattr(spec, field)!r}")
