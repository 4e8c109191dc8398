from __future__ import annotations

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from envcore_runs.compiling import quicker_jit

SCRIPT = """
import jax
from envcore_runs.compiling import quicker_jit

seen = []
compiled = jax.jit
jax.jit = lambda *args, **options: (seen.append(options["compiler_options"]), compiled(*args, **options))[1]
program = quicker_jit(lambda x: x + 1)
assert not seen and program(1.0) == 2 and program(2.0) == 3
print(seen)
"""


def test_a_program_is_traced_once_for_each_static_argument() -> None:
    traced: list[int] = []

    def repeated(times: int, x: jax.Array) -> jax.Array:
        traced.append(times)
        return x * times

    program = quicker_jit(repeated, static_argnums=(0,))
    assert [float(program(times, jnp.float32(2))) for times in (3, 3, 4, 3)] == [6, 6, 8, 6]
    assert traced == [3, 4]
    assert program.trace(3, jax.ShapeDtypeStruct((), jnp.float32)).out_info.shape == ()
    assert traced == [3, 4]


@pytest.mark.parametrize(
    ("flags", "options"),
    [("", {"xla_backend_optimization_level": 1}), ("--xla_backend_optimization_level=0", None)],
)
def test_a_level_that_is_given_stays(flags: str, options: dict[str, int] | None) -> None:
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    found = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == f"{[options]}\n"
