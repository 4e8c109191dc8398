"""Files of animations: where they may be written, and what every format keeps."""

from __future__ import annotations

import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from clips import NOISE, ball, confetti, read
from envcore.errors import EnvcoreError
from envcore_viewer.animation import check_writable, save_animation
from envcore_viewer.errors import AnimationError
from PIL import Image

EXACT = ["webp", "apng", "png"]


def test_an_older_file_is_replaced_and_nothing_else_appears(tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    check_writable(path)
    assert path.read_bytes() == b"old"
    save_animation(str(path), confetti(2))
    assert len(read(path)[0]) == 2
    assert os.listdir(tmp_path) == ["a.gif"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (OSError(28, "No space left on device"), AnimationError, "No space left on device; choose another place"),
        (KeyboardInterrupt("stop"), KeyboardInterrupt, "stop"),
        (RuntimeError("broken"), RuntimeError, "broken"),
    ],
)
def test_an_attempt_that_fails_leaves_the_older_file(tmp_path, monkeypatch, error, expected, message):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")

    def fail(self, file, **options):
        file.write(b"GIF89a, the first half")
        raise error

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(expected, match=message):
        save_animation(path, confetti(2))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


BAD_PATHS = {
    "": r"\. is a folder: name a file in it, for example animation\.gif",
    "animation": r"cannot write .*animation: the name must end in \.gif",
    "a.txt": r"cannot write .*a\.txt: the name must end in \.gif, \.webp, \.apng, \.png or \.mp4",
    "missing/a.gif": "the folder .*missing does not exist; create it first",
    "folder.gif": r"folder\.gif is a folder: name a file in it, for example .*animation\.gif",
    "file/a.gif": "the folder .*file does not exist",
}


@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
@pytest.mark.parametrize(("name", "message"), BAD_PATHS.items(), ids=BAD_PATHS)
def test_bad_paths(tmp_path, monkeypatch, attempt, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.gif").mkdir()
    (tmp_path / "file").write_bytes(b"")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(AnimationError, match=message) as caught:
        attempt(name)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder to which not even the superuser can write")
@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_a_folder_that_refuses_new_files(tmp_path, attempt):
    link = tmp_path / "a.gif"
    link.symlink_to("/proc/a.gif")
    for path in ("/proc/a.gif", link):
        with pytest.raises(AnimationError, match=rf"cannot write {path}: .*; choose another place"):
            attempt(path)


@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
@pytest.mark.parametrize(
    ("path", "message"),
    [
        (None, "a path must be a string or a pathlib.Path, got NoneType"),
        (3, "got int"),
        (b"a.gif", "got bytes"),
        ("a\0.gif", r"cannot write 'a\\x00.gif': .*null.*; choose another name"),
        ("\ud800.gif", r"cannot write '\\ud800.gif': .*; choose another name"),
        ("a\nb.txt", r"cannot write 'a\\nb.txt': the name must end in"),
        ("a" * 252 + ".gif", "cannot write a*.gif: File name too long; choose another place"),
    ],
    ids=["None", "number", "bytes", "NUL", "surrogate", "newline", "long"],
)
def test_values_that_are_not_paths(tmp_path, monkeypatch, attempt, path, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AnimationError, match=message) as caught:
        attempt(path)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_a_folder_without_permission(tmp_path, monkeypatch, attempt):
    def refuse(self, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "stat", refuse)  # root has every permission
    with pytest.raises(AnimationError, match=r"cannot write .*a\.gif: Permission denied; choose another place"):
        attempt(tmp_path / "a.gif")


@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_a_read_only_file_stays(tmp_path, monkeypatch, attempt):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda name, mode: not (name == path and mode == os.W_OK))
    with pytest.raises(AnimationError, match=r"a\.gif: the file is read-only; choose another name"):
        attempt(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
@pytest.mark.parametrize("is_there", [False, True])
def test_a_link_stays_a_link(tmp_path, is_there):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "b.gif", tmp_path / "here" / "a.gif"
    if is_there:
        target.write_bytes(b"old")
    link.symlink_to("../there/b.gif")
    check_writable(link)
    save_animation(link, confetti(2))
    assert link.is_symlink()
    assert len(read(target)[0]) == 2
    assert sorted(tmp_path.rglob("*.*")) == [link, target]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
@pytest.mark.parametrize(
    ("target", "message"),
    [("a.gif", "symbolic links; choose another place"), ("missing/b.gif", "the folder .*missing does not exist")],
)
def test_links_that_lead_nowhere(tmp_path, attempt, target, message):
    link = tmp_path / "a.gif"
    link.symlink_to(target)
    with pytest.raises(AnimationError, match=message):
        attempt(link)
    assert list(tmp_path.iterdir()) == [link]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_a_pipe_is_not_a_regular_file(tmp_path, attempt):
    os.mkfifo(tmp_path / "a.gif")
    with pytest.raises(AnimationError, match=r"a\.gif: it exists and is not a regular file; choose another name"):
        attempt(tmp_path / "a.gif")
    assert stat.S_ISFIFO((tmp_path / "a.gif").stat().st_mode)


BAD_FRAMES = {
    "none": (np.zeros((0, 8, 8, 3), np.uint8), "no frames to save: an animation needs at least one"),
    "empty list": ([], "no frames to save"),
    "one picture": (np.zeros((8, 8, 3), np.uint8), r"shape \(time, height, width, 3\), got \(8, 8, 3\)"),
    "batch of animations": (np.zeros((2, 4, 8, 8, 3), np.uint8), r"got \(2, 4, 8, 8, 3\)"),
    "channels first": (np.zeros((4, 3, 8, 8), np.uint8), r"got \(4, 3, 8, 8\)"),
    "no pixels": (np.zeros((4, 0, 8, 3), np.uint8), r"got \(4, 0, 8, 3\)"),
    "floats": (np.zeros((4, 8, 8, 3), np.float32), "frames must be uint8, levels from 0 to 255, got float32"),
    "a number": (3, r"got \(\)"),
}


@pytest.mark.parametrize(("frames", "message"), BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_bad_frames(tmp_path, frames, message):
    with pytest.raises(AnimationError, match=message):
        save_animation(tmp_path / "a.gif", frames)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("attempt", [check_writable, lambda path, fps: save_animation(path, confetti(2), fps)])
@pytest.mark.parametrize("fps", [0, -1, 51, 0.001, np.nan, np.inf, np.float32(60), True, "30", None, ["two", 3]])
def test_bad_frame_rates(tmp_path, attempt, fps):
    text = re.escape(str(fps) if isinstance(fps, np.floating) else repr(fps))
    with pytest.raises(AnimationError, match=f"a GIF supports 0.01 to 50 frames per second, got {text}: choose"):
        attempt(tmp_path / "a.gif", fps)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("suffix", "name"), [("webp", "a WebP"), ("apng", "an animated PNG"), ("png", "an animated PNG")]
)
def test_browsers_slow_down_more_than_90_frames_per_second(tmp_path, suffix, name):
    with pytest.raises(AnimationError, match=f"{name} supports 0.01 to 90 frames per second, got 91"):
        check_writable(tmp_path / f"a.{suffix}", 91)


@pytest.mark.parametrize(("suffix", "side"), [("webp", 16383), ("gif", 65535)])
def test_a_picture_that_is_too_large_for_its_format(tmp_path, suffix, side):
    frames = np.zeros((2, 1, side + 1, 3), np.uint8)
    with pytest.raises(AnimationError, match=f"at most {side} pixels wide and high, the frames are {side + 1} by 1:"):
        save_animation(tmp_path / f"a.{suffix}", frames)
    with pytest.raises(AnimationError, match=f"the frames are 1 by {side + 1}: make them smaller"):
        check_writable(tmp_path / f"a.{suffix}", size=(side + 1, 1))
    assert not list(tmp_path.iterdir())
    check_writable(tmp_path / f"a.{suffix}", size=(1, side))
    save_animation(tmp_path / f"a.{suffix}", frames[:, :, 1:])


@pytest.mark.parametrize("suffix", EXACT)
@pytest.mark.parametrize("frames", [confetti(5), ball(9, size=31), NOISE, np.zeros((1, 1, 1, 3), np.uint8)], ids=len)
def test_exact_formats(tmp_path, suffix, frames):
    save_animation(tmp_path / f"a.{suffix}", frames, fps=20)
    back, durations = read(tmp_path / f"a.{suffix}")
    np.testing.assert_array_equal(back, frames)
    if len(frames) > 1:
        assert durations == [50] * len(frames)


@pytest.mark.parametrize("suffix", EXACT)
@pytest.mark.parametrize(("fps", "count"), [(30, 30), (90, 7), (7.5, 9), (24, 48), (0.01, 2), (np.float32(0.3), 4)])
def test_exact_formats_have_the_right_total_duration(tmp_path, suffix, fps, count):
    save_animation(tmp_path / f"a.{suffix}", confetti(count), fps)
    frames, durations = read(tmp_path / f"a.{suffix}")
    assert len(frames) == count
    assert sum(durations) == pytest.approx(1000 * count / fps, abs=0.6)
    assert min(durations) > 10


@pytest.mark.parametrize("suffix", ["gif", *EXACT])
def test_a_still_picture_of_hours(tmp_path, suffix):
    frames = np.concatenate([np.repeat(confetti(1), 100, axis=0), confetti(2)[1:]])
    save_animation(tmp_path / f"a.{suffix}", frames, fps=0.01)
    back, durations = read(tmp_path / f"a.{suffix}")
    ends = np.cumsum(durations)
    assert ends[-1] == 1000 * 100 * 101
    for time in (0, 1, 50, 99, 100):
        np.testing.assert_array_equal(back[np.searchsorted(ends, 100_000 * time, side="right")], frames[time])


@pytest.mark.parametrize("suffix", EXACT)
def test_a_still_picture_is_stored_once(tmp_path, suffix):
    frames = np.repeat(NOISE[:1, :64, :64], 8, axis=0)
    for time in range(1, 6):  # then nothing changes
        frames[time:, 60 - 9 * time : 64 - 9 * time, 9 * time : 9 * time + 4] = 0
    sizes = []
    for count in (1, 8):
        save_animation(tmp_path / f"{count}.{suffix}", frames[:count])
        sizes.append((tmp_path / f"{count}.{suffix}").stat().st_size)
    assert 10_000 < sizes[0] < sizes[1] < 1.1 * sizes[0]
    back, _ = read(tmp_path / f"8.{suffix}")
    np.testing.assert_array_equal(back[:6], frames[:6])
    assert (back[5:] == frames[-1]).all()


@pytest.mark.parametrize("suffix", EXACT)
def test_exact_formats_loop_forever(tmp_path, suffix):
    path = tmp_path / f"a.{suffix.upper()}"
    save_animation(path, confetti(3))
    with Image.open(path) as image:
        assert image.info["loop"] == 0
        assert getattr(image, "n_frames") == 3  # noqa: B009


def test_its_errors_are_of_the_library():
    assert issubclass(AnimationError, EnvcoreError)
    assert issubclass(AnimationError, ValueError)


def test_it_needs_neither_jax_nor_pillow_to_check_a_path():
    program = (
        "import sys, tempfile; from envcore_viewer.animation import check_writable; "
        "check_writable(tempfile.gettempdir() + '/a.gif'); "
        "assert not {'jax', 'PIL'} & set(sys.modules), 'imported too much'"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "TMPDIR": tempfile.gettempdir()})
