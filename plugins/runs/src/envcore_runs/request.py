"""What a run was asked to do and with what, so that several processes can see whether they do the same."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from envcore import registry
from envcore.errors import EnvcoreError
from envcore.version import __version__

from envcore_runs.errors import ProcessError
from envcore_runs.records import File

_LIBRARIES = ("jax", "jaxlib", "numpy", "flax", "optax")
"""Whose versions decide results, where they are installed."""
_SETTINGS = (
    "jax_enable_x64",
    "jax_default_prng_impl",
    "jax_enable_custom_prng",
    "jax_threefry_partitionable",
    "jax_default_matmul_precision",
)
"""Of JAX: those that decide results."""
_KINDS = {
    "given": ("was given", "give all processes the same command"),
    "versions": ("has", "install the same versions for all processes"),
    "settings": ("has", "set the same variables for all processes"),
}
"""How the message of a difference names it, and what it advises."""


@dataclasses.dataclass(frozen=True)
class Request:
    """Texts by name, of each kind of `_KINDS`.

    Attributes:
      given: what the process was asked to do.
      versions: of what decides the results.
      settings: of JAX.
    """

    given: dict[str, str]
    versions: dict[str, str]
    settings: dict[str, str]

    def text(self) -> str:
        """What another process is sent."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def of_process(cls, number: int, text: str) -> Request:
        """What process `number` has sent.

        Raises:
          ProcessError: it is no request.
        """
        return _Message(Path(f"the request of process {number}")).parsed(text, cls)


class _Message(File):
    def damaged(self, what: str) -> EnvcoreError:
        return ProcessError(f"{self.path} cannot be read: {what}. Install the same versions for all processes.")


def described(given: Mapping[str, str]) -> Request:
    """What a process was asked to do, as texts by name; with the versions, and JAX's settings."""
    import jax

    versions: dict[str, str] = {}
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    plugins = {each.distribution: each.version for each in registry.plugins if each.status == "loaded"}
    found = {"envcore": __version__, **plugins, **versions}
    return Request(
        dict(given),
        {name: f"{name} {version}" for name, version in found.items()},
        {name: f"{name.upper()}={getattr(jax.config, name, None)}" for name in _SETTINGS},
    )


def difference(requests: Sequence[Request]) -> str:
    """The first difference between the request of process 0 and that of another process; empty if there is none."""
    for kind, (verb, advice) in _KINDS.items():
        first: dict[str, str] = getattr(requests[0], kind)
        for number, request in enumerate(requests):
            other: dict[str, str] = getattr(request, kind)
            for name in {**first, **other}:
                theirs, ours = (each.get(name, f"no {name}") for each in (other, first))
                if theirs != ours:
                    return f"process {number} {verb} {theirs}, and process 0 {ours}: {advice}."
    return ""
