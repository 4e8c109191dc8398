"""What all commands of the viewer share: an empty path, and Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from ctrl_c import SOON, ends, envcore, interrupt, interrupt_at_any_moment
from terminal import Terminal

if TYPE_CHECKING:
    from command_line import Run


def test_an_empty_path_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for args in (("gallery", "--out", ""), ("render", "Counter-v0", "--out", "")):
        code, out, err = run(*args)
        assert (code, out) == (2, "")
        assert "the path is empty." in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_no_partial_picture_is_left(tmp_path):
    slow = """
        import time
        from envcore_viewer.animation import files
        def write(file, *args):
            file.write(b"half")
            print("writing", flush=True)
            time.sleep(100)
        files.write = write
    """
    args = ("render", "Counter-v0", "--steps", "2", "--height", "8", "--out", str(tmp_path / "a.gif"))
    with envcore(*args, before=slow) as terminal:
        terminal.wait_for("writing")
        assert list(tmp_path.iterdir())
        assert interrupt(terminal) < SOON
    assert not list(tmp_path.iterdir())


def begins(terminal: Terminal) -> None:
    """Waits until the game is running."""
    terminal.wait_for("press any key to start")
    terminal.press(b"1")
    terminal.wait_for("step 5")


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "options", "finish"),
    [("render", ("--out", "{tmp}/b.webp"), ends), ("gallery", ("--out", "{tmp}/gallery"), ends), ("play", (), begins)],
)
def test_at_any_moment(command, options, finish, tmp_path):
    interrupt_at_any_moment((command, "Counter-v0", *options), 4, tmp_path, finish)
