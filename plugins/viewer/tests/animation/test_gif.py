"""GIFs: colors, durations, and what is stored."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from clips import COLORS, NOISE, ball, confetti, read
from envcore_viewer.animation import save_animation
from PIL import Image


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
