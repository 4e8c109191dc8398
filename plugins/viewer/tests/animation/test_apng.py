"""What other readers find in an animated PNG; what it shows is in `test_files`."""

from __future__ import annotations

import numpy as np
from clips import confetti
from envcore_viewer.animation import save_animation
from PIL import Image


def test_readers_without_animated_png_show_the_first_frame(tmp_path):
    save_animation(tmp_path / "a.png", confetti(3))
    data = (tmp_path / "a.png").read_bytes()
    assert data.index(b"IHDR") < data.index(b"acTL") < data.index(b"IDAT") < data.index(b"fdAT")
    with Image.open(tmp_path / "a.png") as image:
        np.testing.assert_array_equal(np.asarray(image), confetti(3)[0])
