"""Ctrl-C in the viewer's commands."""

from __future__ import annotations

import pytest
from ctrl_c import SOON, ends, envcore, interrupt, interrupt_at_any_moment
from terminal import Terminal


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
@pytest.mark.parametrize(
    ("command", "options", "finish"),
    [("render", ("--out", "{tmp}/b.webp"), ends), ("gallery", ("--out", "{tmp}/gallery"), ends), ("play", (), begins)],
)
def test_at_any_moment(command, options, finish, tmp_path):
    interrupt_at_any_moment((command, "Counter-v0", *options), 4, tmp_path, finish)
