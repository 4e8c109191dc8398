"""The picture of a rollout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import pytest
from envcore.suggestions import how_to_install
from toy import Counter

if TYPE_CHECKING:
    from command_line import Run


def test_a_picture_without_the_viewer_is_an_error_before_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "envcore_viewer.animation", None)
    code, out, err = run("rollout", "Counter-v0", "--gif", str(tmp_path / "a.gif"))
    assert (code, out) == (1, "")
    assert err == f"error: --gif needs envcore-viewer, which is not installed: {how_to_install('envcore-viewer')}.\n"


def test_rollout_writes_a_picture(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "counter.gif"
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "2", "--steps", "25", "--gif", str(path))
    assert code == 0
    assert "25 steps" in out
    with Image.open(path) as image:
        height, width, _ = Counter().render(Counter().reset(jax.random.key(0))[1], Counter().default_params).shape
        assert image.size == (width, height)
        assert image.info["duration"] % (1000 / Counter.render_fps) == 0
