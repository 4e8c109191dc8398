"""Generated functions as Warp kernels that JAX calls, on a CPU and on CUDA."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import linecache
from collections.abc import Generator, Sequence
from typing import Any

import jax
import numpy as np

from envcore_native import source


def call(
    name: str,
    text: str,
    scalars: dict[str, int],
    inputs: Sequence[jax.Array | np.ndarray],
    outputs: Sequence[tuple[tuple[int, ...], Any]],
    *,
    threads: int,
    block: int,
) -> list[jax.Array]:
    """Calls the function `name` of generated code, `name(thread, *scalars, *inputs, *outputs)`, in every thread.

    Args:
      name: of the function.
      text: the code.
      scalars: static integers by name.
      inputs: arrays.
      outputs: shapes and dtypes of the results.
      threads: number of threads.
      block: number of threads of a block.
    """
    function = kernel(name, text, tuple(scalars), array_types(inputs, outputs), len(outputs), block)
    dims = {f"array{i}": shape for i, (shape, _) in enumerate(outputs, len(inputs))}
    with quiet():
        return list(function(*scalars.values(), *inputs, output_dims=dims, launch_dims=threads))


def array_types(inputs: Sequence[Any], outputs: Sequence[tuple[tuple[int, ...], Any]]) -> tuple[tuple[str, int], ...]:
    """Dtypes and numbers of axes, as `kernel` takes them."""
    shapes = [*((x.shape, x.dtype) for x in inputs), *outputs]
    return tuple((np.dtype(dtype).name, len(shape)) for shape, dtype in shapes)


@functools.lru_cache(maxsize=256)
def kernel(
    name: str,
    text: str,
    scalars: tuple[str, ...],
    types: tuple[tuple[str, int], ...],
    num_outputs: int,
    block: int,
) -> Any:
    """What JAX calls; its attribute `kernel` is Warp's. The arguments are those of `call`."""
    import warp as wp

    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    arrays = [f"array{i}" for i in range(len(types))]
    typed = [f"{each}: wp.int32" for each in scalars]
    typed += [f"{each}: wp.array(dtype=wp.{dtype}, ndim={n})" for each, (dtype, n) in zip(arrays, types, strict=True)]
    passed = ", ".join(["thread", *scalars, *(f"{each}.data" for each in arrays)])
    snippet = f"envcore_native::{name}({passed});"
    # Warp reads the source of a kernel: it is kept where Python looks for source.
    python = "\n".join(
        [
            "@wp.func_native(snippet)",
            f"def call_{name}_{digest}(thread: wp.int32, {', '.join(typed)}): ...",
            "",
            "@wp.kernel(enable_backward=False, module='unique', module_options=options)",
            f"def {name}_{digest}({', '.join(typed)}):",
            f"    call_{name}_{digest}(wp.tid(), {', '.join((*scalars, *arrays))})",
        ]
    )
    code = f"{source.prelude(block)}\n{text}\n}}  // namespace\n#undef FN\n"
    options = {
        "fuse_fp": False,
        "extra_build_options": wp.ModuleBuildOptions(extra_cuda_preamble=code, extra_cpu_preamble=code),
    }
    file = f"<envcore_native {name} {digest}>"
    linecache.cache[file] = (len(python), None, python.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"wp": wp, "snippet": snippet, "options": options, "__name__": __name__}
    with quiet():
        exec(compile(python, file, "exec"), scope)
        return wp.jax_kernel(
            scope[f"{name}_{digest}"], num_outputs=num_outputs, vmap_method="sequential", block_dim=block
        )


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Warp prints what it loads."""
    import warp as wp

    before, wp.config.log_level = wp.config.log_level, wp.LOG_ERROR
    try:
        yield
    finally:
        wp.config.log_level = before
