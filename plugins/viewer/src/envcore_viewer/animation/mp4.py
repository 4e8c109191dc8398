"""MP4: H.264 that every player supports, written by ffmpeg."""

from __future__ import annotations

import importlib
import shutil
import signal
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import numpy as np

from envcore_viewer.errors import MissingExtraError

FPS = (0.01, 1000)
SIDE = 16384


def write(file: BinaryIO, frames: np.ndarray, fps: float) -> None:
    """Writes into a file, through a temporary one: ffmpeg opens a file by its name, and seeks in it.

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
    pixels = np.ascontiguousarray(frames).data.cast("B")
    with tempfile.TemporaryDirectory() as folder:  # of this user alone: nobody puts a link under the name
        path = Path(folder) / "animation.mp4"
        command = [ffmpeg(), "-loglevel", "error", *arguments, f"file:{path}"]
        done = subprocess.run(command, input=pixels, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        _check(done)
        with path.open("rb") as written:
            shutil.copyfileobj(written, file)


def _check(done: subprocess.CompletedProcess[bytes]) -> None:
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
