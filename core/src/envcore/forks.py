"""Processes that were forked after JAX had started, in which it hangs.

A fork copies none of the threads with which JAX compiles and computes, so what waits for one of them never ends.
Nothing can repair that, but the functions that a user calls outside `jit` can say so. A process that was forked before
JAX started its first backend, which `envcore.make` does but importing envcore does not, is a process like any other.

Importing envcore imports this module, so that every later fork is seen.
"""

from __future__ import annotations

import os
import sys

_is_after_start = False


def check() -> None:
    """Raises `EnvcoreError` where this process was forked after JAX had started."""
    if _is_after_start:
        from envcore.errors import EnvcoreError

        raise EnvcoreError(
            "this process was forked after JAX had started, and JAX hangs in it: start processes with the method "
            "'spawn' or 'forkserver' of multiprocessing (Gymnasium's AsyncVectorEnv: context='spawn'), "
            "or fork before anything runs, envcore.make included."
        )


def _in_child() -> None:
    # JAX has no public function that tells without starting one, and those that it has for itself take a lock, which
    # another thread of the parent may have held. Without the dictionary, nothing is known, and nothing raised.
    global _is_after_start
    if getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None):
        _is_after_start = True


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_in_child)
