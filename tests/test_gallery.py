"""`envcore gallery` in a real browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from envcore import painting
from PIL import Image

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None and "CI" not in os.environ, reason="no Chromium or Chrome is installed")
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    assert BROWSER is not None, "CI needs Chromium: see .ci/run"
    ids = ["CartPole-v1", "FrozenLake-misc", "bsuite/catch/0"]
    envcore = Path(sys.executable).with_name("envcore")
    subprocess.run([envcore, "gallery", *ids, "--out", tmp_path / "g", "--height", "100"], check=True)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1000,1800"]
    shot = tmp_path / "shot.png"
    command = [BROWSER, *options, f"--screenshot={shot}", (tmp_path / "g" / "index.html").as_uri()]
    subprocess.run(command, check=True, timeout=120, capture_output=True)
    pixels = np.asarray(Image.open(shot).convert("RGB")).reshape(-1, 3)
    for what, color in {
        "cart": painting.BLUE,
        "rail": painting.STONE,
        "holes": painting.INK,
        "ball": painting.ORANGE,
    }.items():
        assert (pixels == np.array(color)).all(-1).sum() > 20, what
