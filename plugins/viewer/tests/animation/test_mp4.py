"""MP4s, if the extra is installed."""

from __future__ import annotations

import io
import re
import stat
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest
from clips import COLORS, ball, confetti
from envcore_viewer.animation import check_writable, files, save_animation
from envcore_viewer.errors import AnimationError, MissingExtraError


def decode(path, height, width):
    """The frames, the duration in seconds, and ffmpeg's description of the video."""
    program = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    command = [program, "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, check=True, capture_output=True)
    ((hours, minutes, seconds),) = re.findall(r"Duration: (\d+):(\d+):([\d.]+),", done.stderr.decode())
    (about,) = re.findall(r"Stream #0.*Video: (h264.*)", done.stderr.decode())
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)
    return frames, int(hours) * 3600 + int(minutes) * 60 + float(seconds), about


@pytest.mark.parametrize(("fps", "count"), [(30, 30), (7.5, 9), (120, 5), (0.01, 2), (24000 / 1001, 12), (10, 1)])
def test_mp4_has_the_right_duration(tmp_path, fps, count):
    pytest.importorskip("imageio_ffmpeg")
    save_animation(tmp_path / "a.mp4", ball(count), fps)
    frames, seconds, about = decode(tmp_path / "a.mp4", 64, 64)
    assert len(frames) == count
    assert seconds == pytest.approx(count / fps, abs=0.011)
    assert "yuv420p(tv, bt709, progressive)" in about
    data = (tmp_path / "a.mp4").read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")  # it plays while it loads


def test_mp4_needs_no_name():
    pytest.importorskip("imageio_ffmpeg")
    file = io.BytesIO()  # where others can write, they could put a link under a name
    files.write(file, ".mp4", ball(2), 10)
    assert file.getvalue()[4:8] == b"ftyp"


@pytest.mark.parametrize(("height", "width"), [(64, 48), (63, 48), (64, 47), (63, 47), (1, 1)])
def test_mp4_is_near_the_frames_and_repeats_the_edge_of_odd_sizes(tmp_path, height, width):
    pytest.importorskip("imageio_ffmpeg")
    frames = ball(6)[:, :height, :width]
    save_animation(tmp_path / "a.mp4", frames)
    back = decode(tmp_path / "a.mp4", height + height % 2, width + width % 2)[0].astype(int)
    padding = ((0, 0), (0, height % 2), (0, width % 2), (0, 0))
    expected = np.pad(frames, padding, "edge").astype(int)
    assert back.shape == expected.shape
    assert np.abs(back - expected).mean() < 3
    for color in COLORS[:3]:
        inside = (expected == color).all(-1)
        inside &= np.roll(inside, 3, 1) & np.roll(inside, -3, 1) & np.roll(inside, 3, 2) & np.roll(inside, -3, 2)
        errors = np.abs(back - color)[inside]
        assert errors.max(initial=0) <= 16
        assert errors.sum() <= 2 * max(1, errors.size)  # they are larger if two standards for colors are mixed up


def test_mp4_replaces_an_older_file_and_nothing_else_appears(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "a.mp4"
    path.write_bytes(b"old")
    save_animation(path, jnp.asarray(confetti(2)[:, ::-1]))
    assert path.read_bytes()[4:8] == b"ftyp"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a program without a compiler")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "says exit status 3"),
        ("echo first >&2; echo no space >&2; exit 1", "says no space"),
        ("cat | exit 1", "says "),
        ("echo working >&2; kill -KILL $$", "was ended by SIGKILL"),
    ],
)
def test_ffmpeg_fails(tmp_path, monkeypatch, script, reason):
    pytest.importorskip("imageio_ffmpeg")
    program = tmp_path / "ffmpeg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(stat.S_IRWXU)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "a.mp4").write_bytes(b"old")
    with pytest.raises(AnimationError, match=rf"cannot write .*a\.mp4: ffmpeg {reason}.*; choose") as caught:
        save_animation(folder / "a.mp4", confetti(200, height=100))
    assert "\n" not in str(caught.value)
    assert list(folder.iterdir()) == [folder / "a.mp4"]
    assert (folder / "a.mp4").read_bytes() == b"old"


@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_mp4_without_its_extra(tmp_path, monkeypatch, attempt):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"to write an MP4, install 'envcore-viewer\[video\]'"):
        attempt(tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())
    assert issubclass(MissingExtraError, AnimationError)
    assert issubclass(MissingExtraError, ImportError)
