"""What all commands of the viewer share: an empty path, and Ctrl-C."""

from __future__ import annotations

import pytest
from ctrl_c import SOON, envcore, interrupt


@pytest.mark.slow
def test_no_partial_picture_is_left(tmp_path):
    slow = """
        import time
        from envcore_viewer import animation
        def write(file, *args):
            file.write(b"half")
            print("writing", flush=True)
            time.sleep(100)
        animation.write = write
    """
    args = ("render", "Counter-v0", "--steps", "2", "--height", "8", "--out", str(tmp_path / "a.gif"))
    with envcore(*args, before=slow) as terminal:
        terminal.wait_for("writing")
        assert list(tmp_path.iterdir())
        assert interrupt(terminal) < SOON
    assert not list(tmp_path.iterdir())
