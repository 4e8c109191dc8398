"""A pytest plugin that makes JAX unforgiving.

Mixed dtypes and mixed ranks raise instead of being promoted, and the CPU appears as two devices, so that code that
works by luck fails in the tests. Suites elsewhere do not need it: the conformance kit is strict by itself, and shows
every line to change.
"""

from __future__ import annotations


def pytest_configure() -> None:
    """Sets JAX's switches before any test module is imported."""
    import jax

    jax.config.update("jax_num_cpu_devices", 2)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
