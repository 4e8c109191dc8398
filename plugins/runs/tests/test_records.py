"""Records in files: what a description allows, and that an error names the place."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import hostile_files
import pytest
from envcore.errors import DatasetError, FileError
from envcore_runs.records import File, Natural, Positive, Range


class Pair(NamedTuple):
    name: str
    number: Natural


@dataclasses.dataclass(frozen=True)
class Part:
    rate: Annotated[float, Range(0, 1)]
    values: list[Annotated[float, Range(-9, 9)] | None]

    def __post_init__(self) -> None:
        if len(self.values) > 3:
            raise ValueError("has more than 3 values")


@dataclasses.dataclass(frozen=True)
class Record:
    count: Positive
    is_on: bool
    parts: list[Part]
    pairs: dict[str, Pair]
    anything: Any = None
    maybe: str | None = None
    extra: dict[str, int] = dataclasses.field(default_factory=dict[str, int])


VALID: dict[str, Any] = {
    "count": 3,
    "is_on": False,
    "parts": [{"rate": 1, "values": [0.5, None, 1]}, {"rate": 0.5, "values": []}],
    "pairs": {"a": ["b", 0]},
    "anything": {"x": [[math.inf]]},
}


def with_(place: tuple[Any, ...], value: Any) -> Any:
    found = json.loads(json.dumps(VALID))
    inside = found
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    return found


def read(path: Path, value: Any, kind: Any = Record) -> Any:
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return File(path).read(kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


def test_what_is_described_comes_back(path: Path) -> None:
    found = read(path, VALID)
    assert repr(found) == repr(
        Record(3, False, [Part(1, [0.5, None, 1]), Part(0.5, [])], {"a": Pair("b", 0)}, {"x": [[math.inf]]})
    )
    assert read(path, {name: value for name, value in VALID.items() if name != "anything"}).anything is None


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("count",), 0, "its count is 0, not an integer from 1 to 9,223,372,036,854,775,807"),
        (("count",), True, "its count is True, not an integer"),
        (("count",), 1.0, "its count is 1.0, not an integer"),
        pytest.param(("count",), 10**400, "its count is 1000", id="a huge integer"),
        (("is_on",), 0, "its is_on is 0, not true or false"),
        (("parts", 0, "rate"), 1.5, "its parts[0].rate is 1.5, not a number from 0 to 1"),
        (("parts", 0, "rate"), math.nan, "its parts[0].rate is nan, not a number from 0 to 1"),
        pytest.param(("parts", 0, "values", 2), 10**400, "its parts[0].values[2] is 1000", id="a huge number"),
        pytest.param(("parts", 0, "values", 2), "x" * 1000, "its parts[0].values[2] is 'xxx", id="a long string"),
        (("parts", 0, "values"), [0, 0, 0, 0], "its parts[0] has more than 3 values"),
        (("parts", 1), {"rate": 0}, "its parts[1].values is missing"),
        (("parts",), {}, "its parts is {}, not a list"),
        (("pairs", "a", 1), -1, "its pairs.a.number is -1, not an integer from 0"),
        (("pairs", "a"), ["b"], "its pairs.a is ['b'], not a list of name, number"),
        (("pairs", "\n"), 1, r"its pairs['\n'] is 1, not a list"),
        (("more",), 1, "its more is unknown to this version"),
    ],
)
def test_the_error_names_the_place(path: Path, place: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(FileError) as caught:
        read(path, with_(place, value))
    assert str(caught.value).startswith(f"{path} is damaged: {message}")
    assert str(caught.value).endswith(". Restore it, or choose another folder.")
    assert len(str(caught.value)) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is damaged: Expecting value"),
        (b"[" * 200_000, "is damaged: it is nested too deeply"),
        (b"[" * 100 + b"]" * 100, "is damaged: it is nested too deeply"),
        (b'{"a": 1, "a": 2}', "is damaged: an object has two values of the same name"),
        (b"\xff\xfe1", "is damaged: 'utf-8' codec"),
        (b"1" * 5_000, "is damaged: Exceeds the limit"),
        (b"[]", "is damaged: its content is [], not an object"),
    ],
)
def test_what_is_no_record(path: Path, content: bytes, message: str) -> None:
    with pytest.raises(FileError) as caught:
        read(path, content)
    assert str(caught.value).startswith(f"{path} {message}")
    assert "\n" not in str(caught.value)


def test_toml(tmp_path: Path) -> None:
    assert read(tmp_path / "a.toml", b"[x]\ny = 1", dict[str, dict[str, Any]]) == {"x": {"y": 1}}
    with pytest.raises(FileError, match=r"a.toml is damaged: Expected ']' at the end"):
        read(tmp_path / "a.toml", b"[x", dict)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="none does not exist"):
        File(tmp_path / "none", error=DatasetError).content()
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        File(tmp_path).content()


@pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)
@pytest.mark.parametrize("name", ["a.json", "a.toml"])
def test_hostile_files(tmp_path: Path, name: str, mutations: int) -> None:
    contents = hostile_files.of_json(VALID)
    if name == "a.toml":
        contents = hostile_files.of_bytes(b"count = 1\nis_on = true\nparts = []\n[pairs]\na = ['b', 1]\n")

    def checked(content: bytes) -> None:
        found = read(tmp_path / name, content)
        assert type(found.count) is int
        assert all(0 <= part.rate <= 1 for part in found.parts)

    hostile_files.check(checked, contents, mutations)


@pytest.mark.parametrize("part", ["a", '"a"', "'='", '"\\""', "a-1", '"." '])
@pytest.mark.parametrize("line", ["{key} = 1", "[{key}]", "x = {{{key} = 1}}", "x = 1\n[[ {key} ]]"])
def test_keys_of_thousands_of_parts_are_refused_at_once(tmp_path: Path, part: str, line: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(line.format(key=".".join([part] * 20_000)))
    began = time.process_time()
    with pytest.raises(FileError, match="it is nested too deeply"):
        File(path).read(dict[str, Any])
    assert time.process_time() - began < 1


def test_toml_without_deep_keys_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    numbers = ", ".join(["0.5"] * 1_000)
    path.write_text(f"a.b.'c.d' = [{numbers}]\n# {'long' * 100}\n")
    assert File(path).read(dict[str, Any]) == {"a": {"b": {"c.d": [0.5] * 1_000}}}
    for content in ("x" * 999_999, '"' * 999_999, "a." * 499_999):
        began = time.process_time()
        path.write_text(content)
        with pytest.raises(FileError, match="is damaged"):
            File(path).read(dict[str, Any])
        assert time.process_time() - began < 5


def test_numbers_that_python_does_not_print_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(f"x = 0x1{'0' * 20_000}")
    with pytest.raises(FileError, match="its x is a number of 80,001 bits, not an integer from 0 to"):
        File(path).read(dict[str, Natural])
