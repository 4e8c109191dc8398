"""Docstrings are the documentation: those of classes contain the rules, and describe each field of state and params."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from typing import Any, get_args

import pytest
from envcore.engine.arguments import state_struct
from envcore.environment import EnvParams, EnvState
from envcore.registration import registry

MODULES = sorted({found.spec.entry_point for found in registry.values() if not found.spec.family})


def load(entry_point: str) -> Any:
    module, name = entry_point.split(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("entry_point", MODULES)
def test_help_shows_the_rules_of_an_environment(entry_point: str) -> None:
    cls = load(entry_point)
    text = inspect.getdoc(cls)
    assert text is not None
    for part in ("Original", "Observation", "Action", "Reward", "Termination", "Deviations"):
        assert re.search(rf"^{part}: ", text, re.MULTILINE), part
    assert re.fullmatch(r"[^\n]+\.", inspect.getmodule(cls).__doc__ or ""), "the module's docstring is one line"


@pytest.mark.parametrize("entry_point", MODULES)
def test_states_and_params_say_what_each_field_is(entry_point: str) -> None:
    cls = load(entry_point)
    (base,) = cls.__orig_bases__
    named = [each for each in get_args(base) if isinstance(each, type)]
    # A game of MinAtar names its draws there, a car its params alone.
    state = next((each for each in named if issubclass(each, EnvState)), None) or type(state_struct(cls()))
    params = next((each for each in named if issubclass(each, EnvParams)), None) or type(cls().default_params)
    for fields_of, root in ((state, EnvState), (params, EnvParams)):
        names = {field.name for field in dataclasses.fields(fields_of)} - {
            field.name for field in dataclasses.fields(root)
        }
        text = "".join(inspect.getdoc(cls) or "" for cls in fields_of.__mro__ if issubclass(cls, root))
        told = set(re.findall(r"^  (\w+): \S", text, re.MULTILINE))
        assert names <= told, f"{fields_of.__name__} does not say what {sorted(names - told)} are"
