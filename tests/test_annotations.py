"""What the annotations of states, params and draws say is what the catalogue's environments have."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import jax
import mnist_files
import pytest
from envcore import make, registry
from envcore.engine import arguments
from tool_modules import load_tool
from wheels import SUITES

_notation = load_tool("site/docstrings.py").notation


def ids() -> list[str]:
    """Of each suite, the first id of every entry point."""
    found: dict[str, str] = {}
    for each in registry.values():
        if each.distribution in (*SUITES, "envcore-example"):
            found.setdefault(each.spec.entry_point, each.spec.id)
    return sorted(found.values())


@pytest.mark.parametrize("env_id", ids())
def test_fields_have_the_types_that_they_say(env_id: str, tmp_path: Path) -> None:
    with mnist_files.published(tmp_path) if "mnist" in env_id.lower() else contextlib.nullcontext():
        env, params = make(env_id)
        draws = [jax.eval_shape(draw, jax.random.key(0), params) for draw in (env.draw_start, env.draw)]
        for value in (arguments.state_struct(env), arguments.default_params(env), *draws):
            assert not list(problems(value, None, env.unwrapped, type(value).__name__))


def problems(value: Any, hint: Any, env: Any, where: str) -> Iterator[str]:
    """Where a value is not what its annotation says; `env` has the sizes that have names."""
    if said := _notation(hint):
        if value is not None and not matches(value, said, env):
            yield f"{where} is {value.dtype} {value.shape}, not {said}"
    elif fields := fields_of(value):
        hints = get_type_hints(type(value), include_extras=True)
        for name in fields:
            yield from problems(getattr(value, name), hints[name], env, f"{where}.{name}")
    elif isinstance(value, tuple):
        inner = get_args(hint)
        for index, part in enumerate(value):
            yield from problems(part, inner[0 if inner[-1] is Ellipsis else index], env, f"{where}[{index}]")
    elif hint is not None and hint is not Any and not isinstance(hint, TypeVar):
        yield f"{where} does not say its dtype and shape"


def fields_of(value: Any) -> tuple[str, ...]:
    if dataclasses.is_dataclass(value) and not isinstance(value, jax.ShapeDtypeStruct):
        return tuple(field.name for field in dataclasses.fields(value))
    return getattr(value, "_fields", ())


def matches(value: Any, said: str, env: Any) -> bool:
    dtype, shape = said.split(" ", 1)
    sizes = [size.strip() for size in shape.strip("()").split(",") if size.strip()]
    if value.dtype.name != dtype or (sizes != ["..."] and len(sizes) != value.ndim):
        return False
    expected = [int(size) if size.isdigit() else getattr(env, size, None) for size in sizes]
    return all(wanted in (None, size) for wanted, size in zip(expected, value.shape, strict=False))
