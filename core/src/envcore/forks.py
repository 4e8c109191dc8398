"""Reports the use of JAX in a process that was forked after JAX had started, where JAX would hang.

A fork doesn't copy the threads with which JAX compiles and computes, so anything that waits for them never returns. The
functions that you call outside `jit` therefore raise an error. Forking before JAX starts its first backend is safe.
Importing envcore doesn't start one, but `envcore.make` does.

envcore imports this module at once, so that it notices every later fork.
"""

from __future__ import annotations

import os
import sys

_is_after_start = False


def check() -> None:
    """Raises `EnvcoreError` if this process was forked after JAX had started."""
    if _is_after_start:
        from envcore.errors import EnvcoreError

        raise EnvcoreError(
            "this process was forked after JAX had started, so JAX would hang in it. Start processes with the "
            "multiprocessing method 'spawn' or 'forkserver' (Gymnasium's AsyncVectorEnv: context='spawn'), "
            "or fork before anything runs, envcore.make included."
        )


def _in_child() -> None:
    # JAX has no public function that checks this without starting a backend, and its private ones take a lock that
    # another thread of the parent may have held. If the dictionary is missing, no error is raised.
    global _is_after_start
    if getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None):
        _is_after_start = True


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_in_child)
