"""Generated code as functions of numpy arrays, compiled for the CPU."""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from envcore_fused.source import prelude

_FOLDER = Path(tempfile.mkdtemp())


def compiled(text):
    """The library of a source; a kernel takes numpy arrays and integers."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    source = _FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cc"
    source.write_text(prelude() + "\n" + text)
    command = "g++ -O1 -ffp-contract=off -fwrapv -fno-strict-aliasing -shared -fPIC -w -o"
    subprocess.run([*command.split(), source.with_suffix(".so"), source], check=True)
    library = ctypes.CDLL(str(source.with_suffix(".so")))

    def call(name, *args):
        library[name](*(x.ctypes.data_as(ctypes.c_void_p) if isinstance(x, np.ndarray) else x for x in args))

    return call
