"""Compiling fast, and counting compilations."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import jax


def quick_jit(fun: Callable[..., Any]) -> Any:
    """`jax.jit` for programs that run for milliseconds: on CPU it compiles in 40% of the time, to slower code."""
    return jax.jit(fun, compiler_options=_quick_options() if jax.default_backend() == "cpu" else None)


def compile_quickly() -> None:
    """Compiles all programs of this process and its children like `quick_jit`, if no backend has started yet.

    It extends `XLA_FLAGS`; flags that are already set take precedence.
    """
    given = os.environ.get("XLA_FLAGS", "").split()
    names = {flag.partition("=")[0] for flag in given}
    flags = {f"--{name}": str(value).lower() for name, value in _quick_options().items()}
    added = [f"{name}={value}" for name, value in flags.items() if name not in names]
    os.environ["XLA_FLAGS"] = " ".join([*given, *added])


def _quick_options() -> dict[str, Any]:
    """Options of XLA, which rejects those that it does not know."""
    # Compiling the parts of a program in parallel takes 10% more CPU time, and the other cores run tests.
    options: dict[str, Any] = {"xla_backend_optimization_level": 0, "xla_cpu_parallel_codegen_split_count": 1}
    if jax.__version_info__ < (0, 11):
        options["xla_cpu_use_fusion_emitters"] = False
    return options


class CompilationCount:
    """Counts the programs that JAX hands to its compiler inside a `with` block.

    Attributes:
      count: the number, once the block is left.
    """

    def __enter__(self) -> CompilationCount:
        self._before = programs_compiled()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.count = programs_compiled() - self._before


def programs_compiled() -> int:
    """The number of programs that JAX has handed to its compiler since the first call of this function."""
    return _total()[0]


@functools.cache
def _total() -> list[int]:
    """Updated by one permanent listener: JAX has no public way to remove one."""
    total = [0]

    def listen(event: str, *_: Any, **__: Any) -> None:
        total[0] += event == "/jax/core/compile/jaxpr_to_mlir_module_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    return total
