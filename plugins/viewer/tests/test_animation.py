from __future__ import annotations

import io
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting
from envcore.errors import EnvcoreError
from envcore_viewer.animation import caption, check_writable, files, mosaic, save_animation
from envcore_viewer.animation.compose import _columns, mosaic_size, strip_height
from envcore_viewer.errors import AnimationError, MissingExtraError
from PIL import Image, ImageSequence

COLORS = np.array([[246, 244, 239], [208, 66, 61], [0, 0, 0], [255, 255, 255], [0, 0, 1]], np.uint8)

EXACT = ["webp", "apng", "png"]
NOISE = np.random.default_rng(0).integers(0, 256, (3, 200, 200, 3)).astype(np.uint8)


def confetti(count, height=12, width=20):
    """Frames of few colors in which everything changes."""
    return COLORS[np.random.default_rng(0).integers(0, len(COLORS), (count, height, width))]


def ball(count, size=64):
    """A soft-edged red ball that crosses a background of two colors: far more than 256 colors in all."""
    y, x = np.mgrid[:size, :size] / size
    ground = np.where(y[..., None] < 0.6, COLORS[0], COLORS[2]).astype(float)
    places = np.linspace(0.2, 0.8, count)
    coverage = [np.clip(4 - 20 * np.hypot(x - place, y - 0.5), 0, 1)[..., None] for place in places]
    return np.stack([ground + share * (COLORS[1] - ground) for share in coverage]).astype(np.uint8)


def read(path):
    """The frames as (time, height, width, 3), and their durations in milliseconds."""
    with Image.open(path) as image:
        frames = [(np.asarray(frame.convert("RGB")), frame.info["duration"]) for frame in ImageSequence.Iterator(image)]
    return np.stack([pixels for pixels, _ in frames]), [duration for _, duration in frames]


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray, list])
def test_frames_of_few_colors_come_back_exactly(tmp_path, convert):
    save_animation(tmp_path / "a.gif", convert(confetti(5)), fps=25)
    frames, durations = read(tmp_path / "a.gif")
    np.testing.assert_array_equal(frames, confetti(5))
    assert durations == [40] * 5


def test_255_colors_are_few(tmp_path):
    frames = np.stack([np.arange(255), np.arange(255)[::-1], np.full(255, 9)], -1).astype(np.uint8)[None, :, None]
    frames = np.concatenate([frames, frames[:, ::-1]])
    save_animation(tmp_path / "a.gif", frames)
    np.testing.assert_array_equal(read(tmp_path / "a.gif")[0], frames)


def test_many_colors_stay_near_and_flat_ones_exact(tmp_path):
    frames = ball(12)
    assert len(np.unique(frames.reshape(-1, 3), axis=0)) > 300
    save_animation(tmp_path / "a.gif", frames)
    back = read(tmp_path / "a.gif")[0].astype(int)
    assert np.abs(back - frames).max() <= 12
    flat = (frames[..., None, :] == COLORS[:3]).all(-1).any(-1)
    assert flat.mean() > 0.5
    np.testing.assert_array_equal(back[flat], frames[flat])


def test_unchanged_pixels_do_not_flicker(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (1, 24, 24, 3)).astype(np.uint8)
    frames = np.repeat(noise, 6, axis=0)
    for time, frame in enumerate(frames):
        frame[time, :4] = COLORS[1]
    save_animation(tmp_path / "a.gif", frames)
    still = read(tmp_path / "a.gif")[0][:, 6:]
    assert (still == still[0]).all()


def test_all_kinds_of_frames_are_possible(tmp_path):
    save_animation(tmp_path / "a.gif", NOISE)
    frames, _ = read(tmp_path / "a.gif")
    assert np.abs(frames.astype(int) - NOISE).mean() < 12


def stored_images(gif):
    """Width, height and palette size in bytes of each image in a GIF."""

    def palette_size(flags):
        return 3 << (flags & 7) + 1 if flags & 128 else 0

    at = 13 + palette_size(gif[10])
    while gif[at] != ord(";"):
        if gif[at] == ord(","):
            width, height = np.frombuffer(gif[at + 5 : at + 9], "<u2")
            yield width, height, palette_size(gif[at + 9])
            at += 11 + palette_size(gif[at + 9])
        else:
            at += 2
        while gif[at]:  # the length of a block of data
            at += 1 + gif[at]
        at += 1


def test_one_palette_serves_all_frames_and_only_what_changes_is_stored(tmp_path):
    save_animation(tmp_path / "a.gif", ball(12, size=64))
    widths, heights, palettes = zip(*stored_images((tmp_path / "a.gif").read_bytes()), strict=True)
    assert len(palettes) == 12
    assert set(palettes) == {0}
    assert max(widths[2:]) < 48
    assert max(heights[2:]) < 48


@pytest.mark.parametrize(("fps", "count"), [(30, 30), (50, 7), (7.5, 9), (24, 48), (0.01, 2)])
def test_the_total_duration_is_right(tmp_path, fps, count):
    save_animation(tmp_path / "a.gif", confetti(count), fps)
    frames, durations = read(tmp_path / "a.gif")
    assert len(frames) == count
    assert sum(durations) == pytest.approx(1000 * count / fps, abs=5.1)
    assert max(durations) - min(durations) <= 10
    assert min(durations) >= 20


def test_frames_without_change_last_longer(tmp_path):
    frames = np.concatenate([np.repeat(confetti(1), 5, axis=0), confetti(2)[1:]])
    save_animation(tmp_path / "a.gif", frames, fps=10)
    back, durations = read(tmp_path / "a.gif")
    ends = np.cumsum(durations)
    assert ends[-1] == 600
    for time, frame in enumerate(frames):
        np.testing.assert_array_equal(back[np.searchsorted(ends, 100 * time, side="right")], frame)


def test_a_single_frame_is_an_animation(tmp_path):
    save_animation(tmp_path / "a.gif", confetti(1))
    with Image.open(tmp_path / "a.gif") as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), confetti(1)[0])


def test_it_loops_forever(tmp_path):
    save_animation(tmp_path / "a.GIF", confetti(3))
    with Image.open(tmp_path / "a.GIF") as image:
        assert image.info["loop"] == 0


def test_an_older_file_is_replaced_and_nothing_else_appears(tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    check_writable(path)
    assert path.read_bytes() == b"old"
    save_animation(str(path), confetti(2))
    assert len(read(path)[0]) == 2
    assert os.listdir(tmp_path) == ["a.gif"]  # noqa: PTH208
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


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


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    path = tmp_path / ("a" * 251 + ".gif")
    save_animation(path, confetti(2))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_a_read_only_file_stays(tmp_path, monkeypatch, attempt):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda name, mode: not (name == path and mode == os.W_OK))
    with pytest.raises(AnimationError, match=r"a\.gif: the file is read-only; choose another name"):
        attempt(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions")
@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_an_older_files_permissions_stay(tmp_path, mode):
    path = tmp_path / "a.gif"
    path.write_bytes(b"old")
    path.chmod(mode)
    save_animation(path, confetti(2))
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert len(read(path)[0]) == 2


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


def test_readers_without_animated_png_show_the_first_frame(tmp_path):
    save_animation(tmp_path / "a.png", confetti(3))
    data = (tmp_path / "a.png").read_bytes()
    assert data.index(b"IHDR") < data.index(b"acTL") < data.index(b"IDAT") < data.index(b"fdAT")
    with Image.open(tmp_path / "a.png") as image:
        np.testing.assert_array_equal(np.asarray(image), confetti(3)[0])


# MP4, if its extra is installed.


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


# Captions.

TEXT = "step 12  left  reward 1.00  return 12.00"


def ink(frames, height):
    """A mask of the text in the strips under pictures of a height: bool (time, strip, width)."""
    return (np.abs(frames[:, height + 1 :].astype(int) - painting.PAPER) > 60).any(-1)


def test_a_caption_is_under_the_picture():
    frames = confetti(3, height=60, width=200)
    out = caption(jnp.asarray(frames), [TEXT] * 3)
    assert out.dtype == np.uint8
    assert out.shape[0] == 3
    assert 60 + 10 < out.shape[1] < 60 + 45
    assert out.shape[2:] == (200, 3)
    np.testing.assert_array_equal(out[:, :60], frames)
    np.testing.assert_array_equal(out[:, 60], np.broadcast_to(painting.SHADE, (3, 200, 3)))
    assert (out[:, 61:] == painting.PAPER).all(-1).mean() > 0.5
    assert np.abs(out[:, 61:].astype(int) - painting.INK).sum(-1).min() < 60
    assert ink(out, 60).any((1, 2)).all()


def test_a_caption_grows_with_the_picture_and_takes_lines_where_it_is_narrow():
    strips = {}
    for size in (64, 128, 400):
        frames = np.zeros((1, size, size, 3), np.uint8)
        strips[size] = [caption(frames, [text]).shape[1] - size for text in ("step", TEXT)]
    assert strips[64][0] == strips[128][0] >= 12  # a smaller font could not be read
    assert 1.6 < strips[400][0] / strips[128][0] < 2.6
    heights = [several / one for one, several in strips.values()]
    assert heights[0] > heights[1] > heights[2] == 1


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
    columns = list(_columns(texts, 8, len, ("  ", " ")))
    assert columns[:4] == [("step 7", "step 12"), ("return", "uncommon"), ("", "ly"), ("-12.00", "good")]
    assert columns[4:] == [("", "and"), ("", "so"), ("", "on")]


def test_only_changing_parts_move():
    texts = [f"step {i}  {'left' if i % 2 else 'right'}  reward {'-' * (i == 2)}1.00  return 3.00" for i in range(12)]
    dark = ink(caption(np.zeros((12, 100, 400, 3), np.uint8), texts), 100)
    assert dark[0, :, 140:].sum() > 50  # the return
    assert (dark[:, :, 140:] == dark[0, :, 140:]).all()
    changes = (dark[1] != dark[3]).any(0)
    assert changes.any()
    assert not changes[50:].any()  # after the step
    np.testing.assert_array_equal(dark[0, :, :20], dark[11, :, :20])


def test_the_strip_has_one_height_on_all_frames():
    texts = ["step 1  reward 1.00", "step 1  reward -10000.00"]
    heights = [caption(confetti(2, 64, 100), [text] * 2).shape[1] for text in texts]
    assert heights[0] < heights[1] == caption(confetti(2, 64, 100), texts).shape[1]


@pytest.mark.parametrize("texts", [["", ""], ["a", ""], ["one\ntwo", "three"], ["  ", "é ü 漢"]])
def test_any_text_is_a_caption(texts):
    out = caption(confetti(2, height=64, width=64), texts)
    assert out.shape[1] - 64 in (caption(confetti(1, height=64, width=64), ["x"]).shape[1] - 64,)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_each_frame_needs_a_caption(count):
    with pytest.raises(AnimationError, match=f"each frame needs a caption: got 2 frames and {count} captions"):
        caption(confetti(2), ["x"] * count)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (400, 31)])
def test_a_picture_needs_a_minimum_width_for_a_caption(height, width):
    with pytest.raises(
        AnimationError, match=f"a width of 32 pixels for a caption, this one has {width}: render it larg"
    ):
        caption(np.zeros((1, height, width, 3), np.uint8), [TEXT])
    out = caption(np.zeros((1, height, 32, 3), np.uint8), [TEXT])
    assert out.shape[1] - height < 200


def test_a_strip_s_height_is_known_before_it_is_painted():
    for size in (40, 90, 300):
        out = caption(np.zeros((1, size, size, 3), np.uint8), [TEXT])
        assert strip_height([TEXT], size, size) == out.shape[1] - size


# Mosaics.


def test_a_mosaic_has_each_animation_in_its_cell():
    videos = [np.full((3, 4, 6, 3), level, np.uint8) for level in range(5)]
    out = mosaic(videos, gap=2)
    assert out.dtype == np.uint8
    expected = np.empty((3, 10, 22, 3), np.uint8)
    expected[:] = painting.PAPER
    for level in range(5):
        row, column = divmod(level, 3)
        expected[:, 6 * row : 6 * row + 4, 8 * column : 8 * column + 6] = level
    np.testing.assert_array_equal(out, expected)


def test_sizes_and_lengths_may_differ():
    small, large = confetti(2, height=2, width=3), jnp.asarray(confetti(4, height=6, width=5))
    out = mosaic([small, large], columns=1, gap=0)
    assert out.shape == (4, 12, 5, 3)
    np.testing.assert_array_equal(out[:, 2:4, 1:4], small[[0, 1, 1, 1]])
    np.testing.assert_array_equal(out[:, 6:], large)
    rest = np.ones(out.shape[1:3], bool)
    rest[2:4, 1:4] = rest[6:] = False
    assert (out[:, rest] == painting.PAPER).all()


@pytest.mark.parametrize(
    ("count", "columns", "cells"),
    [
        (1, None, (1, 1)),
        (2, None, (1, 2)),
        (4, None, (2, 2)),
        (7, None, (3, 3)),
        (7, 2, (4, 2)),
        (3, 9, (1, 3)),
        (3, 1, (3, 1)),
    ],
)
def test_the_cells_of_a_mosaic(count, columns, cells):
    out = mosaic([confetti(1, height=8, width=8)] * count, columns, gap=1)
    assert out.shape[1:3] == (9 * cells[0] - 1, 9 * cells[1] - 1)
    assert mosaic_size(count, 8, 8, columns, gap=1) == out.shape[1:3]


def test_more_than_fits_into_memory():
    frames = np.broadcast_to(np.uint8(0), (2, 64, 64, 3))
    with pytest.raises(
        AnimationError, match=r"^2 frames of 64 x \d+ pixels need [\d.]+ GiB, more than is available: use few"
    ):
        mosaic([frames] * 2, columns=1, gap=2**50)


@pytest.mark.parametrize(
    ("videos", "options", "message"),
    [
        ([], {}, "no animations to show together"),
        ([confetti(1)], {"columns": 0}, "at least one column and a gap of at least 0, got 0 and 8"),
        ([confetti(1)], {"columns": 1.5}, "got 1.5 and 8"),
        ([confetti(1)], {"gap": -1}, "got 1 and -1"),
        ([confetti(1), confetti(2)[0]], {}, r"must have shape \(time, height, width, 3\)"),
        ([confetti(0)], {}, "no frames"),
    ],
)
def test_bad_mosaics(videos, options, message):
    with pytest.raises(AnimationError, match=message):
        mosaic(videos, **options)


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
