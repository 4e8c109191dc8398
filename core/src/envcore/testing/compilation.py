"""Compiling fast, and counting compilations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

_QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


def quick_jit(fun: Callable[..., Any]) -> Any:
    """`jax.jit` for programs that run for milliseconds: on CPU it compiles in 40% of the time, to slower code."""
    return jax.jit(fun, compiler_options=_quick_options() if jax.default_backend() == "cpu" else None)


@functools.cache
def _quick_options() -> dict[str, Any]:
    """The options that this jaxlib knows: XLA adds and drops some from one version to the next."""
    known: dict[str, Any] = {}
    for name, value in _QUICK.items():
        try:
            jax.jit(lambda: np.int32(0), compiler_options={name: value}).lower().compile()
        except jax.errors.JaxRuntimeError:
            continue
        known[name] = value
    return known


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
    """Kept up by one listener for good: JAX has no public way to take a listener out again."""
    total = [0]

    def listen(event: str, *_: Any, **__: Any) -> None:
        total[0] += event == "/jax/core/compile/jaxpr_to_mlir_module_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    return total
