"""MP4: H.264 that every player supports, written by ffmpeg."""

from __future__ import annotations

import importlib
import signal
import subprocess
from fractions import Fraction
from typing import BinaryIO

import numpy as np

from envcore_viewer.errors import MissingExtraError

FPS = (0.01, 1000)
SIDE = 16384


def write(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """Overwrites the file by its name: ffmpeg needs to seek in it, so a stream is not enough.

    Raises:
      OSError: ffmpeg could not write it.
    """
    height, width = frames.shape[1:3]
    if height % 2 or width % 2:  # colors are stored for blocks of 2 x 2 pixels
        frames = np.pad(frames, ((0, 0), (0, height % 2), (0, width % 2), (0, 0)), "edge")
        height, width = frames.shape[1:3]
    options = {
        "-f": "rawvideo",
        "-pix_fmt": "rgb24",
        "-video_size": f"{width}x{height}",
        "-framerate": str(Fraction(fps).limit_denominator(10000)),
        "-i": "-",
    }
    # Players guess the color space from the size of the picture if the file does not declare it.
    encoding = {
        "-vf": "scale=out_color_matrix=bt709:out_range=tv",
        "-c:v": "libx264",
        "-x264-params": "colorprim=bt709:transfer=bt709:colormatrix=bt709",
        "-crf": "16",
        "-pix_fmt": "yuv420p",
        "-movflags": "+faststart",
        "-f": "mp4",
    }
    arguments = [word for pairs in (options, encoding) for pair in pairs.items() for word in pair]
    command = [ffmpeg(), "-y", "-loglevel", "error", *arguments, f"file:{file.name}"]
    pixels = np.ascontiguousarray(frames).data.cast("B")
    done = subprocess.run(command, input=pixels, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode < 0:
        raise OSError(f"ffmpeg was ended by {_signal_name(-done.returncode)}")
    if done.returncode:
        lines = done.stderr.decode(errors="replace").split("\n")
        reason = next((line.strip() for line in reversed(lines) if line.strip()), f"exit status {done.returncode}")
        raise OSError(f"ffmpeg says {reason}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ffmpeg() -> str:
    """Returns the path of ffmpeg, which the extra installs.

    Raises:
      MissingExtraError: the extra is not installed.
    """
    try:
        return importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe()
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            "to write an MP4, install 'envcore-viewer[video]'; GIF, WebP and animated PNG need no extra."
        ) from error
