"""What an author is told about a method that is missing, and about a field."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import pytest
from envcore.environment import Environment
from envcore.errors import EnvironmentDefinitionError
from envcore.wrappers import Batched
from toy import Counter

KEY = jax.random.key(0)
REQUIRED = ("default_params", "init_state", "transition", "observe", "action_space", "observation_space")


@pytest.mark.parametrize("method", REQUIRED)
def test_a_missing_method_is_named(method: str) -> None:
    with pytest.raises(TypeError, match=rf"Can't instantiate abstract class Walk .*{method}"):
        type("Walk", (Counter,), {method: getattr(Environment, method)})()


@dataclasses.dataclass(frozen=True)
class Sized(Counter):
    sizes: Any = dataclasses.field(default_factory=lambda: [1, 2])


@pytest.mark.parametrize("env", [Sized(), Batched(Sized(), 3)], ids=["alone", "wrapped"])
def test_a_field_that_cannot_be_hashed_is_named(env: Environment) -> None:
    message = r"Sized\(.*sizes=\[1, 2\]\).* must be hashable, .*: use tuples instead of lists\.$"
    with pytest.raises(EnvironmentDefinitionError, match=message):
        env.reset(KEY)
