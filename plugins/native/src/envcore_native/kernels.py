"""Compiles generated code to Warp kernels that JAX calls, on a CPU and on CUDA."""

from __future__ import annotations

import functools
import hashlib
import linecache
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from envcore_native import c

_FEW = 16_384  # environments: smaller blocks spread them over more of the GPU's processors


def play(
    text: str,
    count: int,
    num_steps: int,
    state: Sequence[jax.Array],
    fixed: Sequence[jax.Array],
    stacked: Sequence[Any],
) -> tuple[list[jax.Array], list[jax.Array]]:
    """Calls the `rollout` function of generated code for each environment. `trace.rollout_function` writes the code.

    Args:
      text: the code.
      count: number of environments.
      num_steps: number of steps.
      state: arrays with an axis of environments.
      fixed: arrays that all environments share.
      stacked: types of the values that one environment stores per step.

    Returns:
      The last state, and the stored values with axes of steps and environments.
    """
    inputs = [*(x.ravel() for x in fixed), *(x.reshape(count, -1) for x in state)]
    outputs = [*((x.shape, x.dtype) for x in inputs[len(fixed) :])]
    outputs += [((num_steps, count, math.prod(x.shape)), x.dtype) for x in stacked]
    types = [(np.dtype(dtype).name, len(shape)) for shape, dtype in (*((x.shape, x.dtype) for x in inputs), *outputs)]
    block = 32 if count <= _FEW else 128
    function = kernel(text, tuple(types), len(outputs), block)
    dims = {f"array{i}": shape for i, (shape, _) in enumerate(outputs, len(inputs))}
    made = list(function(count, num_steps, *inputs, output_dims=dims, launch_dims=-(-count // block) * block))
    last = [made.pop(0).reshape(x.shape) for x in state]
    return last, [x.reshape(num_steps, count, *s.shape) for x, s in zip(made, stacked, strict=True)]


@functools.lru_cache(maxsize=256)
def kernel(text: str, types: tuple[tuple[str, int], ...], num_outputs: int, block: int) -> Any:
    """Builds a Warp kernel that JAX can call. Its attribute `kernel` is the Warp kernel.

    Args:
      text: the code.
      types: dtype and number of axes of each array.
      num_outputs: number of results, which are the last arrays.
      block: threads per block.
    """
    import warp as wp

    wp.config.log_level = wp.LOG_ERROR  # by default Warp prints every module that it loads
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    names = ["count", "num_steps", *(f"array{i}" for i in range(len(types)))]
    kinds = ["wp.int32", "wp.int32", *(f"wp.array(dtype=wp.{dtype}, ndim={n})" for dtype, n in types)]
    typed = ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
    snippet = f"envcore_native::rollout(thread, count, num_steps, {', '.join(f'{name}.data' for name in names[2:])});"
    # Warp reads the source of a kernel through `inspect`, which looks in `linecache`.
    python = "\n".join(
        [
            "@wp.func_native(snippet)",
            f"def call_{digest}(thread: wp.int32, {typed}): ...",
            "",
            "@wp.kernel(enable_backward=False, module='unique', module_options=options)",
            f"def rollout_{digest}({typed}):",
            f"    call_{digest}(wp.tid(), {', '.join(names)})",
        ]
    )
    headers = f"#define BLOCK {block}\n{c.header('arithmetic.h')}\n{c.header('memory.h')}"
    code = f"{headers}\n{text}\n}}  // namespace\n#undef FN\n"
    options = {
        "fuse_fp": False,
        "extra_build_options": wp.ModuleBuildOptions(extra_cuda_preamble=code, extra_cpu_preamble=code),
    }
    file = f"<envcore_native {digest}>"
    linecache.cache[file] = (len(python), None, python.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"wp": wp, "snippet": snippet, "options": options, "__name__": __name__}
    exec(compile(python, file, "exec"), scope)
    made = scope[f"rollout_{digest}"]
    return wp.jax_kernel(made, num_outputs=num_outputs, vmap_method="sequential", block_dim=block)
