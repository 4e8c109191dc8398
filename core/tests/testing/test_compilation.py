from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.testing import compilation
from envcore.testing.compilation import CompilationCount, quick_jit


def test_compilations_are_counted() -> None:
    double = jax.jit(lambda x: 2 * x)
    with CompilationCount() as first:
        double(np.float32(1))
    with CompilationCount() as second:
        double(np.float32(2))
    with CompilationCount() as third:
        double(np.ones(3, np.float32))
    assert (first.count, second.count, third.count) == (1, 0, 1)


def test_quick_programs_compute_the_same() -> None:
    x = np.linspace(-1, 1, 101, dtype=np.float32)
    np.testing.assert_allclose(quick_jit(jnp.sin)(x), np.sin(x), atol=1e-6)


def test_options_that_this_xla_does_not_know_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"xla_backend_optimization_level": 0}
    monkeypatch.setattr(compilation, "_QUICK", {**known, "xla_no_such_option": True})
    compilation._quick_options.cache_clear()
    try:
        assert compilation._quick_options() == known
        assert quick_jit(lambda x: x + 1)(1) == 2
    finally:
        compilation._quick_options.cache_clear()
