from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import jax.numpy as jnp
import numpy as np
import pytest
from envcore.animation import check_writable, save_animation
from envcore.errors import AnimationError, EnvcoreError
from PIL import Image, ImageSequence

COLOURS = np.array([[246, 244, 239], [208, 66, 61], [0, 0, 0], [255, 255, 255], [0, 0, 1]], np.uint8)


def confetti(count, height=12, width=20):
    """Frames of few colours in which all changes."""
    return COLOURS[np.random.default_rng(0).integers(0, len(COLOURS), (count, height, width))]


def ball(count, size=64):
    """A soft-edged red ball that crosses a background of two colours: far more than 256 colours in all."""
    y, x = np.mgrid[:size, :size] / size
    ground = np.where(y[..., None] < 0.6, COLOURS[0], COLOURS[2]).astype(float)
    places = np.linspace(0.2, 0.8, count)
    coverage = [np.clip(4 - 20 * np.hypot(x - place, y - 0.5), 0, 1)[..., None] for place in places]
    return np.stack([ground + share * (COLOURS[1] - ground) for share in coverage]).astype(np.uint8)


def read(path):
    """The frames as (time, height, width, 3), and their durations in milliseconds."""
    with Image.open(path) as image:
        frames = [(np.asarray(frame.convert("RGB")), frame.info["duration"]) for frame in ImageSequence.Iterator(image)]
    return np.stack([pixels for pixels, _ in frames]), [duration for _, duration in frames]


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray, list])
def test_frames_of_few_colours_come_back_exactly(tmp_path, convert):
    save_animation(tmp_path / "a.gif", convert(confetti(5)), fps=25)
    frames, durations = read(tmp_path / "a.gif")
    np.testing.assert_array_equal(frames, confetti(5))
    assert durations == [40] * 5


def test_255_colours_are_few(tmp_path):
    frames = np.stack([np.arange(255), np.arange(255)[::-1], np.full(255, 9)], -1).astype(np.uint8)[None, :, None]
    frames = np.concatenate([frames, frames[:, ::-1]])
    save_animation(tmp_path / "a.gif", frames)
    np.testing.assert_array_equal(read(tmp_path / "a.gif")[0], frames)


def test_many_colours_stay_near_and_flat_ones_exact(tmp_path):
    frames = ball(12)
    assert len(np.unique(frames.reshape(-1, 3), axis=0)) > 300
    save_animation(tmp_path / "a.gif", frames)
    back = read(tmp_path / "a.gif")[0].astype(int)
    assert np.abs(back - frames).max() <= 12
    flat = (frames[..., None, :] == COLOURS[:3]).all(-1).any(-1)
    assert flat.mean() > 0.5
    np.testing.assert_array_equal(back[flat], frames[flat])


def test_pixels_that_stand_still_do_not_flicker(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (1, 24, 24, 3)).astype(np.uint8)
    frames = np.repeat(noise, 6, axis=0)
    for time, frame in enumerate(frames):
        frame[time, :4] = COLOURS[1]
    save_animation(tmp_path / "a.gif", frames)
    still = read(tmp_path / "a.gif")[0][:, 6:]
    assert (still == still[0]).all()


def test_all_kinds_of_frames_are_possible(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (3, 200, 200, 3)).astype(np.uint8)
    save_animation(tmp_path / "a.gif", noise)
    frames, _ = read(tmp_path / "a.gif")
    assert np.abs(frames.astype(int) - noise).mean() < 12


def stored_images(gif):
    """Width, height and number of bytes of the own palette of each image in a GIF."""

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
def test_the_whole_lasts_as_long_as_it_should(tmp_path, fps, count):
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


def test_it_loops_for_ever(tmp_path):
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
    "a.png": r"cannot write .*a\.png: the name must end in \.gif",
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


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that refuses also the superuser")
@pytest.mark.parametrize("attempt", [check_writable, lambda path: save_animation(path, confetti(2))])
def test_a_folder_that_refuses_new_files(attempt):
    with pytest.raises(AnimationError, match=r"cannot write /proc/a\.gif: .*; choose another place"):
        attempt("/proc/a.gif")


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


@pytest.mark.parametrize("fps", [0, -1, 51, 0.001, np.nan, np.inf])
def test_bad_frame_rates(tmp_path, fps):
    with pytest.raises(AnimationError, match=f"from 0.01 to 50 frames per second, got {fps}"):
        save_animation(tmp_path / "a.gif", confetti(2), fps)
    assert not list(tmp_path.iterdir())


def test_its_errors_are_of_the_library():
    assert issubclass(AnimationError, EnvcoreError)
    assert issubclass(AnimationError, ValueError)


def test_it_needs_neither_jax_nor_pillow_to_check_a_path():
    program = (
        "import sys, tempfile; from envcore.animation import check_writable; "
        "check_writable(tempfile.gettempdir() + '/a.gif'); "
        "assert not {'jax', 'PIL'} & set(sys.modules), 'imported too much'"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "TMPDIR": tempfile.gettempdir()})
