"""Generated CUDA, played on a CPU: what a GPU's warps share and when they meet is tested without a GPU."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import jax
import numpy as np
from envcore_native import source

COMPILER = shutil.which("g++")


def caller(folder):
    """What takes the place of `kernels.call`; it needs g++."""

    def call(name, text, scalars, inputs, outputs, *, threads, block, warps=1):
        types = [np.dtype(x.dtype).name for x in inputs] + [np.dtype(dtype).name for _, dtype in outputs]
        passed = ["thread", *map(str, scalars.values()), *(f"({each}*)arrays[{i}]" for i, each in enumerate(types))]
        lines = [
            Path(__file__).with_name("cuda_on_cpu.h").read_text(),
            f"{source.prelude(block, warps)}\n{text}\n}}",
            'extern "C" void play(void** arrays) { using namespace envcore_native;',
            f"launch({threads}, {block}, [=](int thread) {{ {name}({', '.join(passed)}); }}); }}",
        ]
        code, library = folder / f"{name}.cc", folder / f"{name}.so"
        code.write_text("\n".join(lines))
        options = ["-std=c++17", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC", "-pthread"]
        subprocess.run([str(COMPILER), *options, str(code), "-o", str(library)], check=True)

        def play(*arrays):
            results = [_aligned(np.zeros(*output)) for output in outputs]
            arrays = [*map(_aligned, arrays), *results]
            pointers = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
            ctypes.CDLL(str(library)).play(pointers)
            return results

        return list(jax.pure_callback(play, [jax.ShapeDtypeStruct(*output) for output in outputs], *inputs))

    return call


def _aligned(x):
    """A copy that begins where a GPU could read 16 bytes."""
    memory = np.empty(x.nbytes + 16, np.uint8)
    start = -memory.ctypes.data % 16
    result = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    result[...] = x
    return result
