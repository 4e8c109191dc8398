"""The quick tier of tests, in sessions of pytest beside a record of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
RECORD: dict[str, float] = json.loads((SUPPORT / "seconds.json").read_text())
FILES = {
    "pytest.ini": "[pytest]\npythonpath = tests/support\nmarkers = slow\n",
    "conftest.py": "pytest_plugins = ['quick']\n",
    "test_short.py": "import pytest\ndef test_a(): pass\n@pytest.mark.slow\ndef test_b(): pass\n",
    "test_long.py": "raise RuntimeError('imported')\n",
    "test_rules.py": "import pytest\nrules = pytest.mark.quick\n@rules()\ndef test_c(): pass\ndef test_d(): pass\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    support = tmp_path / "tests" / "support"
    support.mkdir(parents=True)
    (support / "quick.py").write_text((SUPPORT / "quick.py").read_text())
    (support / "seconds.json").write_text(json.dumps({"test_long.py": 3.0, "test_rules.py": 3.0, "test_gone.py": 9.0}))
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


def test_the_record_is_of_files_that_exist_and_take_long(checkout: Path) -> None:
    (checkout / "test_long.py").write_text("import time\ndef test_e(): time.sleep(1.6)\n")
    assert "5 passed" in session(checkout, "--record-seconds", "-n1")
    record = json.loads((checkout / "tests" / "support" / "seconds.json").read_text())
    assert list(record) == ["test_long.py"]
    assert 1.6 <= record["test_long.py"] < 60


def test_the_record_here_is_of_files_that_exist() -> None:
    assert RECORD
    assert all((SUPPORT.parents[1] / name).exists() for name in RECORD)
