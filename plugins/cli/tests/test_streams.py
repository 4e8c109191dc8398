"""Commands whose standard streams fail, each in its own process. None of them needs JAX."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = "import sys\nfrom envcore_cli import main\nsys.argv[0] = 'envcore'\n{}\nmain()"
UNDONE = "cannot write to standard output: "


def shell(line: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command line in which `envcore` is available."""
    program = f'envcore() {{ {sys.executable} -c "$CODE" "$@"; }}; {line}'
    variables = {**os.environ, "CODE": CODE.format(before), **environment}
    return subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, timeout=120, env=variables, check=False
    )


@pytest.mark.parametrize(("args", "unbuffered"), [("list", ""), ("list", "1"), ("--version", "1"), ("--help", "")])
def test_a_full_disk_is_one_line(args, unbuffered):
    process = shell(f"envcore {args} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (process.returncode, process.stderr) == (1, f"error: {UNDONE}No space left on device.\n")


def test_a_failure_at_exit_is_one_line():
    before = "from envcore_cli import app\napp.app = lambda: print('kept in the buffer')"
    process = shell("envcore > /dev/full", before)
    assert (process.returncode, process.stderr) == (1, f"error: {UNDONE}No space left on device.\n")


SWALLOWED = """
import io, sys
from envcore_cli import app
def careless():
    stream = sys.stdout
    for each in ("one", "two"):
        try:
            stream.write(each)
            stream.flush()
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__} is ignored. ")
app.app = careless
"""


def test_a_failure_that_a_command_ignores_is_reported_all_the_same():
    process = shell("envcore > /dev/full", SWALLOWED)
    message = f"{2 * 'OutputError is ignored. '}error: {UNDONE}No space left on device.\n"
    assert (process.returncode, process.stderr) == (1, message)


def test_a_closed_pipe_that_a_command_ignores_ends_it_all_the_same():
    process = shell("exec 3> >(exit 0); sleep 0.2; envcore >&3", SWALLOWED)
    assert (process.returncode, process.stderr) == (141, 2 * "SystemExit is ignored. ")


@pytest.mark.parametrize("how", ["sys.__stdout__.close()", "sys.stdout.buffer.close()"])
@pytest.mark.parametrize("printed", ["", "print('lost')"])
def test_a_stream_that_other_code_has_closed_is_one_line(how, printed):
    before = f"from envcore_cli import app\ndef close():\n {how}\n {printed}\napp.app = close"
    process = shell("envcore", before)
    assert (process.returncode, process.stderr) == (1, f"error: {UNDONE}Bad file descriptor.\n")


def test_errors_are_lost_where_other_code_has_closed_their_stream():
    before = (
        "from envcore_cli import app\ndef close():\n sys.__stderr__.close()\n raise OSError('odd')\napp.app = close"
    )
    process = shell("envcore", before)
    assert (process.returncode, process.stderr) == (1, "")


@pytest.mark.parametrize("args", ["list", "--help"])
def test_a_closed_output_is_one_line(args):
    process = shell(f"envcore {args} >&-")
    assert (process.returncode, process.stderr) == (1, f"error: {UNDONE}Bad file descriptor.\n")


@pytest.mark.parametrize(
    ("args", "unbuffered"),
    [("list", ""), *(pytest.param(*each, marks=pytest.mark.slow) for each in (("list", "1"), ("--help", "")))],
)
def test_a_closed_pipe_is_quiet(args, unbuffered):
    # The descriptor is a pipe whose reader is gone: `head` might be slower than the whole list.
    process = shell(f"exec 3> >(exit 0); sleep 0.2; envcore {args} >&3", PYTHONUNBUFFERED=unbuffered)
    assert (process.returncode, process.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["/dev/full", "&-"])
@pytest.mark.parametrize(("args", "status"), [("list", 0), ("list nope", 1), ("nope", 2)])
def test_errors_that_cannot_be_printed_keep_their_status(args, status, where):
    process = shell(f"envcore {args} 2>{where} >/dev/null")
    assert (process.returncode, process.stderr) == (status, "")


def test_closed_descriptors_are_not_taken_by_files(tmp_path: Path):
    file = tmp_path / "file"
    before = f"import os\nfrom envcore_cli import app, streams\nstreams.prepare()\nfile = open({str(file)!r}, 'w')"
    before += "\nassert file.fileno() > 2\nos.write(2, b'a warning of XLA')\nfile.write('own'); file.close()"
    process = shell("envcore list nope <&- >&- 2>&-", before)
    assert process.returncode == 1
    assert file.read_text() == "own"


def test_a_listing_at_zero_width_is_printed():
    assert shell("envcore list", COLUMNS="0").stdout.startswith("id ")


@pytest.mark.parametrize(
    "columns",
    [
        "0",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("00", "garbage", "-1", "\N{SUPERSCRIPT TWO}", "9" * 20, "")
        ),
    ],
)
def test_an_invalid_width_is_80(columns):
    process = shell("envcore --help", COLUMNS=columns, LINES=columns)
    assert process.returncode == 0
    assert max(map(len, process.stdout.splitlines())) == 80


def test_characters_that_the_terminal_cannot_encode_are_escaped():
    before = "from envcore_cli import app\napp.app = lambda: print('3 \\N{PLUS-MINUS SIGN} 1')"
    assert shell("envcore", before, PYTHONIOENCODING="ascii").stdout == "3 \\xb1 1\n"


def test_other_system_errors_are_one_line():
    for raised, message in (
        ("PermissionError(13, 'Permission denied', '/secret')", "/secret: Permission denied."),
        ("OSError('odd')", "odd."),
        ("MemoryError", "there is not enough memory."),
    ):
        before = f"from envcore_cli import app\ndef fail(): raise {raised}\napp.app = fail"
        process = shell("envcore", before)
        assert (process.returncode, process.stderr) == (1, f"error: {message}\n")
