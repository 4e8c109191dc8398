"""Animated PNG: lossless, with frame times in any fraction of a second.

Pillow compresses the pictures. It could also write the animation, but it would hold all pictures in memory, and it
rounds frame times to milliseconds.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO

import numpy as np

FPS = (0.01, 90)  # browsers slow down frames of a hundredth of a second or less
SIDE = 2**31 - 1


def write(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """Stores the smallest rectangle of each frame that contains all changes."""
    period = Fraction(1 / fps)
    period = period.limit_denominator(65535 // max(1, math.ceil(period)))  # two 16-bit numbers
    delay = struct.pack(">HH", period.numerator, period.denominator)
    number = 0  # sequence number of the animation's chunks
    before = None
    file.write(b"\x89PNG\r\n\x1a\n")
    for frame in frames:
        rows, columns = _changes(before, frame)
        chunks = dict(_compressed(frame[rows, columns]))
        if before is None:
            _write_chunk(file, b"IHDR", chunks[b"IHDR"])
            _write_chunk(file, b"acTL", struct.pack(">II", len(frames), 0))
        place = rows.stop - rows.start, columns.start, rows.start
        size = struct.pack(">IIII", columns.stop - columns.start, *place)
        _write_chunk(
            file, b"fcTL", struct.pack(">I", number) + size + delay + b"\0\0"
        )  # replaces pixels, is not disposed of
        if before is None:
            _write_chunk(file, b"IDAT", chunks[b"IDAT"])
        else:
            number += 1
            _write_chunk(file, b"fdAT", struct.pack(">I", number) + chunks[b"IDAT"])
        number += 1
        before = frame
    _write_chunk(file, b"IEND", b"")


def _changes(before: np.ndarray | None, frame: np.ndarray) -> tuple[slice, slice]:
    """The rows and columns in which a frame differs from the one before; one pixel if it does not differ."""
    if before is None:
        return slice(0, frame.shape[0]), slice(0, frame.shape[1])
    differs = (frame != before).any(-1)
    if not differs.any():
        return slice(0, 1), slice(0, 1)
    rows, columns = np.flatnonzero(differs.any(1)), np.flatnonzero(differs.any(0))
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _compressed(picture: np.ndarray) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG with their names; the data chunks are joined into one."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG")
    png, at, data = buffer.getbuffer(), 8, b""
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        content = bytes(png[at + 8 : at + 8 + length])
        if name == b"IDAT":
            data += content
        else:
            yield name, content
        at += length + 12
    yield b"IDAT", data


def _write_chunk(file: BinaryIO, name: bytes, content: bytes) -> None:
    file.write(struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content)))
