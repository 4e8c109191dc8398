"""Files of animations, captions under pictures, and animations side by side."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest
from clips import ball, confetti, read
from envcore import painting
from envcore.errors import FileError
from envcore_viewer.animation import _columns, caption, check_writable, mosaic, save_animation
from envcore_viewer.errors import AnimationError
from PIL import Image

EXACT = ["webp", "apng", "png"]
TEXT = "step 12  left  reward 1.00  return 12.00"


# Files.


@pytest.mark.parametrize("suffix", ["gif", *EXACT])
@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray, list])
def test_frames_of_few_colors_come_back_exactly_and_loop_forever(tmp_path, suffix, convert):
    path = tmp_path / f"a.{suffix.upper()}"
    save_animation(path, convert(confetti(5)), fps=20)
    frames, durations = read(path)
    np.testing.assert_array_equal(frames, confetti(5))
    assert durations == [50] * 5
    with Image.open(path) as image:
        assert image.info["loop"] == 0


@pytest.mark.parametrize("suffix", EXACT)
def test_all_colors_are_exact_but_in_a_gif(tmp_path, suffix):
    save_animation(tmp_path / f"a.{suffix}", ball(9, size=31))
    np.testing.assert_array_equal(read(tmp_path / f"a.{suffix}")[0], ball(9, size=31))


def test_a_gif_of_many_colors_is_near_the_frames(tmp_path):
    assert len(np.unique(ball(12).reshape(-1, 3), axis=0)) > 300
    save_animation(tmp_path / "a.gif", ball(12))
    difference = np.abs(read(tmp_path / "a.gif")[0].astype(int) - ball(12))
    assert difference.max() <= 12
    assert difference.mean() < 0.5


def test_unchanged_pixels_of_a_gif_do_not_flicker(tmp_path):
    frames = np.repeat(np.random.default_rng(0).integers(0, 256, (1, 24, 24, 3)).astype(np.uint8), 6, axis=0)
    for time, frame in enumerate(frames):
        frame[time, :4] = (208, 66, 61)
    save_animation(tmp_path / "a.gif", frames)
    still = read(tmp_path / "a.gif")[0][:, 6:]
    assert (still == still[0]).all()


@pytest.mark.parametrize(
    ("name", "fps", "milliseconds"),
    [
        ("a.gif", 30, 30),
        ("a.gif", 120, 20),
        ("a.webp", 30, 33),
        ("a.png", np.float32(7.5), 133),
    ],
)
def test_frame_times_are_rounded_to_what_the_format_and_browsers_allow(tmp_path, name, fps, milliseconds):
    save_animation(tmp_path / name, confetti(3), fps)
    assert read(tmp_path / name)[1] == [milliseconds] * 3


@pytest.mark.parametrize(("height", "width", "fps"), [(64, 64, 30), (63, 47, 24000 / 1001)])
def test_mp4_has_the_colors_and_the_duration(tmp_path, height, width, fps):
    program = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    save_animation(tmp_path / "a.mp4", ball(12)[:, :height, :width], fps)
    command = [program, "-i", tmp_path / "a.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, check=True, capture_output=True)
    back = np.frombuffer(done.stdout, np.uint8).reshape(12, height + height % 2, width + width % 2, 3)
    (seconds,) = re.findall(r"Duration: 00:00:([\d.]+),", done.stderr.decode())
    assert float(seconds) == pytest.approx(12 / fps, abs=0.011)
    assert np.abs(back[:, :height, :width].astype(int) - ball(12)[:, :height, :width]).mean() < 3
    np.testing.assert_array_equal(os.listdir(tmp_path), ["a.mp4"])  # noqa: PTH208


@pytest.mark.skipif(sys.platform == "win32", reason="needs a program without a compiler")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # imageio leaves the broken pipe
def test_ffmpeg_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    pytest.importorskip("imageio_ffmpeg")
    program, folder = tmp_path / "ffmpeg", tmp_path / "out"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o700)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    folder.mkdir()
    (folder / "a.mp4").write_bytes(b"old")
    with pytest.raises(FileError, match=r"cannot write .*a\.mp4: ffmpeg stopped before the end of the video") as caught:
        save_animation(folder / "a.mp4", confetti(200, height=100))
    assert "\n" not in str(caught.value)
    assert [each.read_bytes() for each in folder.iterdir()] == [b"old"]


def test_full_disk_leaves_the_older_file(tmp_path, monkeypatch):
    (tmp_path / "a.gif").write_bytes(b"old")

    def fail(self, file, **options):
        file.write(b"GIF89a, the first half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(FileError):
        save_animation(tmp_path / "a.gif", confetti(2))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("attempt", [check_writable, lambda *args: save_animation(args[0], confetti(2), *args[1:])])
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("a.txt",), r"cannot write a\.txt: the name must end in"),
        (("missing/a.gif",), "the folder .*missing does not exist. Create it first"),
        (("a.gif",), r"cannot write a\.gif: a\.gif is read-only. Choose another place"),
        (("a.mp4",), r"to write an MP4, run .*'./plugins/viewer\[video\]'"),
        (("b.gif", np.nan), "fps must be a number"),
    ],
)
def test_bad_paths_and_frame_rates(tmp_path, monkeypatch, attempt, args, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (tmp_path / "a.gif").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: path.name != "a.gif")
    with pytest.raises(AnimationError, match=message) as caught:
        attempt(*args)
    assert "\n" not in str(caught.value)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("frames", [[], np.zeros((8, 8, 3), np.uint8), np.zeros((4, 8, 8, 3), np.float32)])
def test_bad_frames(tmp_path, frames):
    with pytest.raises(AnimationError, match=r"frames must be uint8 \(time, height, width, 3\), at least one, got "):
        save_animation(tmp_path / "a.gif", frames)
    assert not list(tmp_path.iterdir())


def test_too_large_for_a_format(tmp_path):
    with pytest.raises(AnimationError, match=r"at most 16,383 pixels\. Use a PNG"):
        save_animation(tmp_path / "a.webp", np.zeros((1, 16_384, 1, 3), np.uint8))


# Captions.


def ink(frames, height):
    """A mask of the text in the strips under pictures of a height: bool (time, strip, width)."""
    return (np.abs(frames[:, height + 1 :].astype(int) - painting.PAPER) > 60).any(-1)


def test_a_caption_is_under_the_picture():
    frames = confetti(3, height=60, width=200)
    out = caption(jnp.asarray(frames), [TEXT] * 3)
    assert out.dtype == np.uint8
    assert 60 + 10 < out.shape[1] < 60 + 45
    np.testing.assert_array_equal(out[:, :60], frames)
    np.testing.assert_array_equal(out[:, 60], np.broadcast_to(painting.SHADE, (3, 200, 3)))
    assert (out[:, 61:] == painting.PAPER).all(-1).mean() > 0.5
    assert ink(out, 60).any((1, 2)).all()


def test_no_letter_is_cut():
    long = "step 1234  supercalifragilisticexpialidocious  action -0.12 0.33 0.71  return -1234.56"
    out = caption(np.zeros((1, 64, 64, 3), np.uint8), [long])
    dark = ink(out, 64)[0]
    assert not dark[:, [0, 1, -1]].any()
    assert not dark[[0, -1]].any()
    letters = caption(np.zeros((1, 64, 4000, 3), np.uint8), [long])
    assert dark.sum() == pytest.approx(ink(letters, 64).sum() * (10 / 25) ** 2, rel=0.35)


def test_a_wide_part_is_split_between_words_first():
    texts = ["step 7  return -12.00", "step 12  uncommonly good  and so on"]
    columns = [column for column, _ in _columns(texts, 8, len)]
    assert columns[:3] == [("step 7", "step 12"), ("return", "uncommon"), ("-12.00", "ly good")]
    assert columns[3:] == [("", "and so"), ("", "on")]


def test_only_changing_parts_move_and_the_strip_has_one_height():
    texts = [f"step {i}  {'left' if i % 2 else 'right'}  reward {'-' * (i == 2)}1.00  return 3.00" for i in range(12)]
    dark = ink(caption(np.zeros((12, 100, 400, 3), np.uint8), texts), 100)
    assert dark[0, :, 140:].sum() > 50  # the return
    assert (dark[:, :, 140:] == dark[0, :, 140:]).all()
    changes = (dark[1] != dark[3]).any(0)
    assert changes.any()
    assert not changes[50:].any()  # after the step


@pytest.mark.parametrize(
    ("width", "texts", "message"),
    [
        (64, ["x"], "each frame needs a caption: got 2 frames and 1 captions"),
        (31, ["x", "y"], "a width of 32 pixels for a caption, this one has 31: render it larger"),
    ],
)
def test_bad_captions(width, texts, message):
    with pytest.raises(AnimationError, match=message):
        caption(confetti(2, width=width), texts)


# Mosaics.


@pytest.mark.parametrize("columns", [-1, 1.5])
def test_bad_columns(columns):
    with pytest.raises(AnimationError, match="columns must be a positive integer"):
        mosaic([confetti(2)], columns=columns)


def test_a_mosaic_has_each_animation_in_its_cell():
    videos = [np.full((3, 4, 6, 3), level, np.uint8) for level in range(5)]
    expected = np.empty((3, 10, 22, 3), np.uint8)
    expected[:] = painting.PAPER
    for level in range(5):
        row, column = divmod(level, 3)
        expected[:, 6 * row : 6 * row + 4, 8 * column : 8 * column + 6] = level
    np.testing.assert_array_equal(mosaic(videos, gap=2), expected)


def test_sizes_and_lengths_may_differ():
    small, large = confetti(2, height=2, width=3), jnp.asarray(confetti(4, height=6, width=5))
    out = mosaic([small, large], columns=1, gap=0)
    assert out.shape == (4, 12, 5, 3)
    np.testing.assert_array_equal(out[:, 2:4, 1:4], small[[0, 1, 1, 1]])
    np.testing.assert_array_equal(out[:, 6:], large)
    assert (out[:, :2] == painting.PAPER).all()


@pytest.mark.parametrize(
    ("count", "columns", "cells"),
    [(1, None, (1, 1)), (7, None, (3, 3)), (7, 2, (4, 2)), (3, 9, (1, 3))],
)
def test_the_cells_of_a_mosaic(count, columns, cells):
    out = mosaic([confetti(1, height=8, width=8)] * count, columns, gap=1)
    assert out.shape[1:3] == (9 * cells[0] - 1, 9 * cells[1] - 1)


def test_a_mosaic_needs_an_animation():
    with pytest.raises(AnimationError, match="no animations to show together"):
        mosaic([])
