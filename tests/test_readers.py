"""Files are read in one place: whoever reads another way would bypass its checks, and the tests with hostile files."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[1]
METHODS = {"open", "read_bytes", "read_text"}
MODULES = {
    "csv",
    "gzip",
    "json",
    "marshal",
    "np",
    "numpy",
    "pd",
    "pandas",
    "pickle",
    "safetensors",
    "tomllib",
    "zipfile",
}
FUNCTIONS = re.compile(r".*\.(load|loads|load_file|safe_open|fromfile|genfromtxt|loadtxt|memmap|read_\w+|\w*[rR]eader)")

ALLOWED = {
    # `files.read`, and what parses its bytes: the readers that have tests with hostile files.
    "envcore/files.py": {"open", "read_bytes"},
    "envcore_runs/records.py": {"json.loads", "tomllib.loads"},
    "envcore_runs/checkpoint.py": {"safetensors.numpy.load"},
    "envcore_bsuite/csv_log.py": {"csv.DictReader"},
    "envcore_bsuite/analysis/results.py": {"pd.read_csv"},
    "envcore_runs/manifest.py": {"safetensors.safe_open", "json.loads"},
    # Its bytes are only hashed.
    "envcore_runs/contents.py": {"open"},
    # Files of the system and of any distribution, and what envcore itself brings: an index, and code of kernels.
    "envcore/installed.py": {"open", "read_text"},
    "envcore_runs/program_cache.py": {"read_text"},
    "envcore/suggestions.py": {"read_text", "json.loads"},
    "envcore_runs/memory.py": {"read_text"},
    "envcore_fused/source.py": {"read_text"},
    # Files that are opened to be written, and streams.
    "envcore_runs/interrupt.py": {"open"},
    "envcore_cli/streams.py": {"open"},
    "envcore_ray/connection.py": {"open"},
    # The video that FFmpeg has just written.
    "envcore_viewer/animation/mp4.py": {"open"},
    # What the processes of a command tell each other; and a stream.
    "envcore_runs/sockets.py": {"json.loads"},
    "envcore_runs/processes.py": {"open"},
    # Values of this process, as they are after JSON or a pickle.
    "envcore_testing/rules_definition.py": {"pickle.loads"},
    "envcore_bsuite/runner.py": {"json.loads"},
    "envcore_runs/run_folder.py": {"json.loads", "open"},  # a folder is opened to be locked
}
"""By module, what opens files or parses what was in them."""


def reads(source: str) -> set[str]:
    """What a module uses that opens files or parses what was in them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in MODULES:
            found.add(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            found |= {f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Call):
            found.add(node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""))
    return {each for each in found if each in METHODS or FUNCTIONS.fullmatch(each)}


def test_nobody_reads_files_another_way() -> None:
    found: dict[str, set[str]] = {}
    for path in [
        *ROOT.glob("core/src/**/*.py"),
        *ROOT.glob("packages/*/src/**/*.py"),
        *ROOT.glob("plugins/*/src/**/*.py"),
    ]:
        if names := reads(path.read_text()):
            found[path.as_posix().partition("/src/")[2]] = names
    assert found == ALLOWED


def test_what_reads_is_recognized() -> None:
    program = """
        import json, numpy as np
        from tomllib import loads
        from safetensors.numpy import load as load_tensors
        np.load(path), json.load(file), path.read_text(), open(path), pd.read_json(path), folder.open
    """
    expected = {"tomllib.loads", "safetensors.numpy.load", "np.load", "json.load", "read_text", "open", "pd.read_json"}
    assert reads(dedent(program)) == expected
