"""Files that anything may have happened to, for the tests of what reads them.

    @pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)
    def test_run_json(mutations, tmp_path):
        hostile_files.check(read, hostile_files.of_json(valid), mutations)

`read` writes the content that it is given to a file, and calls the reader as a command does.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from envcore.errors import EnvcoreError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MUTATIONS = [50, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.long])]
"""How many mutations of a file a test tries."""

_PIECES = [
    b"[" * 200_000,
    b'{"a":' * 50_000,
    b"\xff\xfe",
    b"\x00",
    b"NaN",
    b"-1",
    b"1e400",
    b"9" * 5_000,
    b'"',
    b"\n",
    b",",
]
_NUMBERS: list[Any] = [-1, 0, 1, 2, 3, 10_000, 2**31, 2**63, 10**400, 0.5, -1e308, math.inf, math.nan]
_TEXTS: list[Any] = ["", "1", "CartPole-v1", "../../x", "\ud800", "\x1b[2J\n", "x" * 10_000]
_NESTED: list[Any] = [[], [[]], [1, "2"], [0] * 10_000, {}, {"": {}}, {"file": 3}, json.loads("[" * 100 + "]" * 100)]
_VALUES = [None, True, False, *_NUMBERS, *_TEXTS, *_NESTED]


def check(read: Callable[[Any], object], hostile: st.SearchStrategy[Any], mutations: int) -> None:
    """Checks that a reader returns, or says in one line what is wrong. The mutations are the same in every run."""
    refused: list[str] = []

    @settings(
        max_examples=mutations,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(hostile)
    def survives(content: Any) -> None:
        try:
            read(content)
        except EnvcoreError as error:
            refused.append(str(error))

    with pytest.MonkeyPatch.context() as patch:  # options of many gigabytes are refused, not tried
        patch.setattr("envcore_runs.memory.device_bytes", lambda *_: 10**8)
        survives()
    assert refused
    for message in refused:
        assert message.splitlines() == [message]


@st.composite
def of_bytes(draw: st.DrawFn, valid: bytes) -> bytes:
    """The content with bytes flipped, cut out, inserted or repeated, up to three times."""
    content = bytearray(valid)
    for _ in range(draw(st.integers(1, 3))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        match draw(st.sampled_from(["flip", "cut", "end", "insert", "repeat"])):
            case "flip" if start < len(content):
                content[start] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del content[start:end]
            case "end":
                del content[start:]
            case "insert":
                content[start:start] = draw(st.sampled_from(_PIECES) | st.binary(min_size=1, max_size=8))
            case _:
                content[end:end] = content[start:end]
    return bytes(content)


@st.composite
def of_value(draw: st.DrawFn, valid: Any) -> Any:
    """A JSON value with parts replaced, removed or added, up to three times."""
    holder = [copy.deepcopy(valid)]
    for _ in range(draw(st.integers(1, 3))):
        places = _places(holder)
        inside, key = places[draw(st.integers(0, len(places) - 1))]
        value = copy.deepcopy(_VALUES[draw(st.integers(0, len(_VALUES) - 1))])
        match draw(st.sampled_from(["replace", "remove", "add"])):
            case "remove" if inside is not holder:
                del inside[key]
            case "add" if isinstance(inside[key], dict):
                inside[key][draw(st.sampled_from(["more", "file", "steps", "", "\n", "x" * 1_000]))] = value
            case "add" if isinstance(inside[key], list):
                inside[key].insert(0, copy.deepcopy(draw(st.sampled_from([value, *inside[key][:5]]))))
            case _:
                inside[key] = value
    return holder[0]


def of_json(valid: Any) -> st.SearchStrategy[bytes]:
    """A JSON file of a hostile value, or with hostile bytes."""
    return of_value(valid).map(lambda value: json.dumps(value).encode()) | of_bytes(
        json.dumps(valid, indent=1).encode()
    )


@st.composite
def of_arrays(draw: st.DrawFn, valid: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays by name, of which one is missing, or has another name, dtype, shape or other numbers."""
    found = dict(valid)
    name = draw(st.sampled_from(sorted(found)))
    array = found.pop(name)
    match draw(st.sampled_from(["missing", "name", "dtype", "shape", "numbers", "valid"])):
        case "name":
            found[name + "x"] = array
        case "dtype":
            found[name] = np.zeros(
                array.shape, draw(st.sampled_from([np.float16, np.float64, np.int8, np.uint32, np.bool_]))
            )
        case "shape":
            found[name] = draw(
                st.sampled_from([array[None], array.reshape(-1), array.reshape(-1)[:-1], array[..., None]])
            )
        case "numbers":
            found[name] = np.full_like(array, draw(st.sampled_from([0, 1, 100])))
        case "valid":
            found[name] = array
        case _:
            pass
    return found


def _places(holder: Any) -> list[tuple[Any, Any]]:
    """Every place in a value: what it is in, and its name or number there."""
    places: list[tuple[Any, Any]] = []
    left = [holder]
    while left:
        inside = left.pop()
        keys = list(inside) if isinstance(inside, dict) else range(min(len(inside), 50))
        places += [(inside, key) for key in keys]
        left += [inside[key] for key in keys if isinstance(inside[key], dict | list) and len(places) < 1_000]
    return places


def sealed(arrays: dict[str, np.ndarray], about: Any) -> bytes:
    """A checkpoint of envcore-runs with a digest that fits, whatever it says."""
    from envcore_runs.checkpoint import _digest
    from safetensors.numpy import save

    facts = json.dumps(about)
    return save(arrays, {"envcore": json.dumps({"about": facts, "sha256": _digest(arrays, facts)})})
