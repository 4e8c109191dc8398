"""What a command was asked to do and with what, so that several processes can see whether they do the same."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from envcore import registry
from envcore.version import __version__

from envcore_cli.choice import parse_value

if TYPE_CHECKING:
    import typer

_OF_ONE = {"--coordinator", "--process-id", "--connect-timeout", "--cache"}
"""Options that each process may have of its own."""
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

Request = Mapping[str, Mapping[str, str]]
"""Texts by name, of each kind of `_KINDS`."""


def described(context: typer.Context) -> Request:
    """What a command was asked to do: its options with their defaults, the versions, and JAX's settings."""
    import jax

    versions = {name: importlib.metadata.version(name) for name in ("jax", "jaxlib")}
    plugins = {each.distribution: each.version for each in registry.plugins if each.status == "loaded"}
    found = {"envcore": __version__, **plugins, **versions}
    return {
        "given": {"command": str(context.info_name), **_given(context)},
        "versions": {name: f"{name} {version}" for name, version in found.items()},
        "settings": {name: f"{name.upper()}={getattr(jax.config, name, None)}" for name in _SETTINGS},
    }


def difference(requests: Sequence[Request]) -> str:
    """The first difference between the request of process 0 and that of another process; empty if there is none."""
    for kind, (verb, advice) in _KINDS.items():
        first = requests[0][kind]
        for number, other in enumerate(requests):
            for name in {**first, **other[kind]}:
                theirs, ours = (each.get(name, f"no {name}") for each in (other[kind], first))
                if theirs != ours:
                    return f"process {number} {verb} {theirs}, and process 0 {ours}: {advice}."
    return ""


def _given(context: typer.Context) -> dict[str, str]:
    """What was given for each parameter, or is its default, as one would type it."""
    found: dict[str, str] = {}
    for parameter in context.command.params:
        value, name = context.params.get(parameter.name or ""), parameter.opts[0]
        if _OF_ONE.intersection(parameter.opts) or value is None or value is False:
            continue
        texts = [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]
        shown = "" if parameter.param_type_name == "argument" else f"{name} "
        if value is True:
            found[name] = name
        elif isinstance(value, list | tuple) and all("=" in text for text in texts):
            pairs = ([part.strip() for part in text.split("=", 1)] for text in texts)
            found |= {f"{name} {key}": f"{shown}{key}={_canonical(text)}" for key, text in pairs}
        else:
            found[name] = shown + " ".join(texts)
    return found


def _canonical(text: str) -> str:
    """The text of a value, however it was spelled."""
    value = parse_value(text)
    return value if isinstance(value, str) else repr(value)
