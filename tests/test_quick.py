"""The record of what takes long, which the quick tier of tests leaves out."""

from __future__ import annotations

from pathlib import Path

import quick


def test_the_record_is_of_files_that_exist() -> None:
    files, tests = quick.record()
    assert files
    assert tests
    names = {*files, *(test.partition("::")[0] for test in tests)}
    assert [name for name in names if not (Path(__file__).parents[1] / name).exists()] == []
