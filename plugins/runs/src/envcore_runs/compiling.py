"""Compiling in less time, for programs that people wait for."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax


class quicker_jit:  # noqa: N801  # used as a function, as `jax.jit` is
    """`jax.jit` that asks LLVM for fewer optimizations on a CPU, unless `XLA_FLAGS` has a level.

    It compiles training in 0.8 of the time. PPO's results in CartPole, Breakout and Seaquest were the same, bit for
    bit, and its programs as fast. A backend starts with the first call.
    """

    def __init__(self, fun: Callable[..., Any], static_argnums: Sequence[int] = ()):
        self._fun, self._static_argnums = fun, static_argnums

    def __call__(self, *args: Any) -> Any:
        return self._program(*args)

    def trace(self, *args: Any) -> Any:
        """The program for such arguments, of which arrays may be `jax.ShapeDtypeStruct`: a `jax.stages.Traced`.

        A call with such arguments does not trace it again.
        """
        return self._program.trace(*args)

    @functools.cached_property
    def _program(self) -> Any:
        is_given = "xla_backend_optimization_level" in os.environ.get("XLA_FLAGS", "")
        options = {"xla_backend_optimization_level": 1} if jax.default_backend() == "cpu" and not is_given else None
        return jax.jit(self._fun, static_argnums=self._static_argnums, compiler_options=options)
