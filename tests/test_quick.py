"""The quick tier of tests, in sessions of pytest beside a record of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
RECORD: dict[str, dict[str, float]] = json.loads((SUPPORT / "seconds.json").read_text())
FILES = {
    "pytest.ini": "[pytest]\npythonpath = tests/support\nmarkers = slow\n",
    "conftest.py": "pytest_plugins = ['quick']\n",
    "test_short.py": "import pytest\ndef test_a(): pass\n@pytest.mark.slow\ndef test_b(): pass\ndef test_f(): pass\n",
    "test_long.py": "raise RuntimeError('imported')\n",
    "test_rules.py": "import pytest\nrules = pytest.mark.quick\n@rules()\ndef test_c(): pass\ndef test_d(): pass\n",
}
EACH_HALF_A_SECOND = "@pytest.mark.parametrize('n', range(4))\ndef test_i(n): time.sleep(0.5)\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    support = tmp_path / "tests" / "support"
    support.mkdir(parents=True)
    (support / "quick.py").write_text((SUPPORT / "quick.py").read_text())
    record = {
        "files": {"test_long.py": 3.0, "test_rules.py": 3.0, "test_gone.py": 9.0},
        "tests": {"test_short.py::test_f": 2.0, "test_gone.py::test_g": 2.0, "test_long.py::test_e": 9.0},
    }
    (support / "seconds.json").write_text(json.dumps(record))
    return tmp_path


def session(checkout: Path, *options: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
def test_files_that_take_long_are_left_out_but_for_rules(checkout: Path, workers: str) -> None:
    found = session(checkout, "-m", "quick", workers)
    assert "2 passed" in found, found
    assert "test_short.py::test_a" in found
    assert "test_rules.py::test_c" in found


def test_tests_that_take_long_are_slow(checkout: Path) -> None:
    found = session(checkout, "-m", "slow", "-n0", "test_short.py")
    assert "2 passed, 1 deselected" in found
    assert "test_short.py::test_f" in found


def test_the_record_is_of_what_exists_and_takes_long(checkout: Path) -> None:
    (checkout / "test_long.py").write_text("import time\ndef test_e(): time.sleep(1.1)\ndef test_h(): pass\n")
    (checkout / "test_longer.py").write_text("import time, pytest\n" + EACH_HALF_A_SECOND)
    assert "11 passed" in session(checkout, "--record-seconds", "-n1")
    record = json.loads((checkout / "tests" / "support" / "seconds.json").read_text())
    assert list(record["files"]) == ["test_longer.py"]
    assert 2 <= record["files"]["test_longer.py"] < 60
    assert list(record["tests"]) == ["test_long.py::test_e"]
    (checkout / "test_long.py").write_text("def test_e(): pass\n")
    session(checkout, "--record-seconds", "-n0", "test_short.py")
    assert json.loads((checkout / "tests" / "support" / "seconds.json").read_text()) == record


def test_the_record_here_is_of_files_that_exist() -> None:
    assert RECORD["files"]
    assert RECORD["tests"]
    names = {*RECORD["files"], *(test.partition("::")[0] for test in RECORD["tests"])}
    assert all((SUPPORT.parents[1] / name).exists() for name in names)
