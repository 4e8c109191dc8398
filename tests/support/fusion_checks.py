"""What the tests of fusion boundaries share: a program, JAX with and without XLA's metadata, and a comparison."""

from __future__ import annotations

import contextlib

import chex
import jax.numpy as jnp
import pytest
from envcore_testing.trees import type_differences

X = jnp.linspace(-2.0, 3.0, 6)
TREE = {"scale": jnp.float32(1.5)}


def plain(x, tree):
    return {"product": jnp.sin(x) * tree["scale"], "sums": (x.sum(), jnp.cumsum(x))}


@pytest.fixture(params=["with XLA's metadata", "without"])
def metadata(request, monkeypatch):
    """Runs a test twice, the second time without the metadata."""
    if request.param == "without":
        monkeypatch.setattr("envcore.fusion.set_xla_metadata", lambda **_: contextlib.nullcontext())
    return request.param


def assert_same(actual, expected):
    assert type_differences(actual, expected) == []
    chex.assert_trees_all_close(actual, expected)
