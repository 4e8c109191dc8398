"""Captions under pictures, and animations side by side."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from clips import confetti
from envcore import painting
from envcore_viewer.animation import caption, mosaic
from envcore_viewer.animation.compose import _columns, mosaic_size, strip_height
from envcore_viewer.errors import AnimationError

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
