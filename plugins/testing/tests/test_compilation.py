from __future__ import annotations

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_testing import compilation
from envcore_testing.compilation import CompilationCount, quick_jit


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


LEVEL = "--xla_backend_optimization_level=0"
ONE_PART = "--xla_cpu_parallel_codegen_split_count=1"
EMITTERS = "--xla_cpu_use_fusion_emitters=false"


@pytest.mark.parametrize(
    ("version", "given", "expected"),
    [
        ((0, 6, 0), None, f"{LEVEL} {ONE_PART} {EMITTERS}"),
        ((0, 12, 0), None, f"{LEVEL} {ONE_PART}"),  # which has no such emitters to turn off
        ((0, 10, 2), "--xla_backend_optimization_level=2", f"--xla_backend_optimization_level=2 {ONE_PART} {EMITTERS}"),
    ],
)
def test_flags_of_whole_processes(
    version: tuple[int, ...], given: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jax, "__version_info__", version)
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if given is not None:
        monkeypatch.setenv("XLA_FLAGS", given)
    compilation.compile_quickly()
    assert os.environ["XLA_FLAGS"] == expected
