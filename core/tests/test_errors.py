"""Which errors a program can catch, and as which built-in exceptions."""

from __future__ import annotations

import inspect

import pytest
from envcore import errors
from envcore.errors import EnvcoreError

CLASSES = {name: each for name, each in vars(errors).items() if inspect.isclass(each)}

PYTHONS = {
    "EnvironmentDefinitionError": (TypeError,),
    "EnvironmentLoadError": (ImportError,),
    "InvalidActionError": (TypeError, ValueError),
    "InvalidArgumentError": (TypeError, ValueError),
    "InvalidParamsError": (TypeError, ValueError),
    "NoPictureError": (NotImplementedError,),
    "UnknownEnvironmentError": (KeyError, LookupError),
}
"""The built-in exceptions as which each of envcore's errors can be caught, too."""


@pytest.mark.parametrize("name", CLASSES)
def test_what_an_error_can_be_caught_as(name: str) -> None:
    each = CLASSES[name]
    assert issubclass(each, UserWarning if name.endswith("Warning") else EnvcoreError)
    bases = (ImportError, KeyError, LookupError, NotImplementedError, TypeError, ValueError)
    assert tuple(base for base in bases if issubclass(each, base)) == PYTHONS.get(name, ())


def test_a_message_is_shown_as_it_is() -> None:
    assert str(errors.UnknownEnvironmentError("no 'X'")) == "no 'X'"
