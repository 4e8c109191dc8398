"""Descriptions of what decides a run: JSON can hold them, and different values have different ones."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy
from envcore.wrappers import FlattenObservation
from envcore_runs.description import described, name_of


@dataclasses.dataclass(frozen=True)
class Size:
    rows: Any


class Policy:
    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (None, None),
        ((1, "a", 0.5), [1, "a", 0.5]),
        ({"a": (True,)}, {"a": [True]}),
        (np.float32(0.5), 0.5),
        (jnp.arange(3), [0, 1, 2]),
        (jax.random.key(3), [0, 3]),
        (Size((2, Size(1))), {"class": f"{__name__}:Size", "rows": [2, {"class": f"{__name__}:Size", "rows": 1}]}),
        (toy.Counter(goal=4), {"class": "toy:Counter", "goal": 4}),
        (len, "builtins:len"),
        (functools.partial(name_of, len), "envcore_runs.description:name_of"),
        (Size, f"{__name__}:Size"),
        (b"a", "b'a'"),
        (Policy(), f"{__name__}:Policy"),
    ],
)
def test_descriptions(value: Any, expected: Any) -> None:
    assert described(value) == expected
    assert json.loads(json.dumps(described(value))) == expected


def test_a_wrapper_contains_its_environment() -> None:
    found = described(FlattenObservation(toy.Counter()))
    assert found["env"] == described(toy.Counter())
