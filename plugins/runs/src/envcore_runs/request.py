"""What a run was asked to do and with what, so that several processes can see whether they do the same."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence

from envcore import registry
from envcore.version import __version__

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


def described(given: Mapping[str, str]) -> Request:
    """What a process was asked to do, as texts by name; with the versions, and JAX's settings."""
    import jax

    versions = {name: importlib.metadata.version(name) for name in ("jax", "jaxlib")}
    plugins = {each.distribution: each.version for each in registry.plugins if each.status == "loaded"}
    found = {"envcore": __version__, **plugins, **versions}
    return {
        "given": dict(given),
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
