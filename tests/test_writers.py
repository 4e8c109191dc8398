"""Every file that the project writes goes through `envcore.files`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WRITER = ROOT / "core/src/envcore/files.py"
SOURCES = [path for group in ("core", "packages/*", "plugins/*") for path in ROOT.glob(f"{group}/src/**/*.py")]
ALWAYS = {"write_bytes", "write_text", "copyfile", "copy2", "copytree", "tofile", "mkstemp", "save_file"}


def writes(source: str) -> Iterator[int]:
    """The lines that write a file themselves; one that opens a descriptor (`closefd`) only wraps it."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        given = [*call.args, *(each.value for each in call.keywords)]
        texts = {each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        is_for_writing = any({*text} <= {*"rwxabt+"} and {*text} & {*"wxa+"} for text in texts)
        is_wrapper = any(each.arg == "closefd" for each in call.keywords)
        if name in ALWAYS or (name in ("open", "fdopen") and is_for_writing and not is_wrapper):
            yield call.lineno


def test_no_module_writes_files_itself() -> None:
    assert WRITER in SOURCES
    assert len(SOURCES) > 200
    found = {path.relative_to(ROOT): [*writes(path.read_text())] for path in SOURCES if path != WRITER}
    assert {path: lines for path, lines in found.items() if lines} == {}
    assert [*writes(WRITER.read_text())]


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ('path.write_text("a")', True),
        ('open("b", "ab")', True),
        ('path.open(mode="x")', True),
        ("path.open(newline='')", False),
        ('open("/proc/self/maps")', False),
        ('open(3, "wb", closefd=False)', False),
        ("replace(path, b'')", False),
    ],
)
def test_what_counts_as_writing(line: str, is_found: bool) -> None:
    assert bool([*writes(line)]) == is_found
