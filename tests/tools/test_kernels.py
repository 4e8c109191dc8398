"""What is counted of compiled programs: kernels, copies and bytes, in programs whose numbers are known."""

from __future__ import annotations

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from tool_modules import TOOLS

HLO = """HloModule program

%column (p: f32[8,4], n: s32[]) -> (f32[8], pred[8]) {
  %p = f32[8,4]{0,1} parameter(0)
  %n = s32[] parameter(1)
  %zero = s32[] constant(0)
  %slice = f32[8,1]{0,1} dynamic-slice(%p, %zero, %n), dynamic_slice_sizes={8,1}
  %flat = f32[8]{0} bitcast(%slice)
  %less = pred[8]{0} compare(%flat, %flat), direction=LT
  ROOT %both = (f32[8]{0}, pred[8]{0}) tuple(%flat, %less)
}

%written (total: f32[50], q: f32[8], m: s32[]) -> f32[50] {
  %total = f32[50]{0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %m = s32[] parameter(2)
  %sum = f32[1]{0} reduce(%q), to_apply=%add
  ROOT %update = f32[50]{0} dynamic-update-slice(%total, %sum, %m)
}

%again (r: f32[8]) -> f32[8] {
  %r = f32[8]{0} parameter(0)
  ROOT %copy.2 = f32[8]{0} copy(%r)
}

%inner (arg.2: (s32[], f32[8])) -> (s32[], f32[8]) {
  %arg.2 = (s32[], f32[8]{0}) parameter(0)
  %y = f32[8]{0} get-tuple-element(%arg.2), index=1
  %negate = f32[8]{0} negate(%y)
  ROOT %next = (s32[], f32[8]{0}) tuple(%i, %negate)
}

%test (arg.3: (s32[], f32[8])) -> pred[] {
  %arg.3 = (s32[], f32[8]{0}) parameter(0)
  %i = s32[] get-tuple-element(%arg.3), index=0
  ROOT %go = pred[] compare(%i, %i), direction=LT
}

%called (z: f32[8]) -> f32[8] {
  %z = f32[8]{0} parameter(0)
  ROOT %copied = f32[8]{0} fusion(%z), kind=kLoop, calls=%again
}

%body (arg: (s32[], f32[8,4], /*index=2*/f32[50])) -> (s32[], f32[8,4], f32[50]) {
  %arg = (s32[], f32[8,4]{0,1}, /*index=2*/f32[50]{0}) parameter(0)
  %step = s32[] get-tuple-element(%arg), index=0
  %obs = f32[8,4]{0,1} get-tuple-element(%arg), index=1
  %sums = f32[50]{0} get-tuple-element(%arg), index=2
  %read = (f32[8]{0}, pred[8]{0}) fusion(%obs, %step), kind=kLoop, calls=%column
  %x = f32[8]{0} get-tuple-element(%read), index=0
  %call = f32[8]{0} call(%x), to_apply=%called
  %start = (s32[], f32[8]{0}) tuple(%step, %call)
  %loop = (s32[], f32[8]{0}) while(%start), condition=%test, body=%inner, backend_config={"known_trip_count":{"n":"3"}}
  %copy.1 = f32[8,4]{0,1} copy(%obs)
  %more = f32[50]{0} fusion(%sums, %x, %step), kind=kLoop, calls=%written
  ROOT %tuple = (s32[], f32[8,4]{0,1}, f32[50]{0}) tuple(%step, %copy.1, %more)
}

ENTRY %main (start.1: f32[8,4]) -> f32[50] {
  %scan = (s32[], f32[8,4]{0,1}, f32[50]{0}) while(%t), body=%body, backend_config={"known_trip_count":{"n":"50"}}
}
"""


@pytest.fixture
def iteration_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS / "benchmark"))
    return importlib.import_module("kernels").iteration_of


def test_what_an_iteration_does(iteration_of: Any) -> None:
    found = iteration_of(HLO, 50)
    assert found.kernels == 6  # two fusions, two copies, and a pass of the inner loop with its condition
    assert found.starts == 10
    assert found.inner_loops == 1
    assert found.copies == 2
    column = 32 + 4 + 32 + 8  # of 128 bytes read 32, and the number; two results written
    one_sum = 32 + 4 + 4  # of 200 bytes in place, 4 written
    loop = 3 * (2 * 32 + 4 + 1)
    assert found.bytes == column + one_sum + 2 * 32 + 2 * 128 + loop


def test_an_unrolled_loop_has_several_iterations_in_its_body(iteration_of: Any) -> None:
    assert iteration_of(HLO, 100).kernels == 3
    assert iteration_of(HLO, 100).bytes == iteration_of(HLO, 50).bytes / 2
    assert iteration_of(HLO, 49) is None


def test_the_loop_of_a_program_of_jax(iteration_of: Any) -> None:
    def body(x: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        x = lax.fori_loop(0, 3, lambda _, y: jnp.sort(jnp.sin(y)), x)
        return x, x[0]

    program = str(jax.jit(lambda x: lax.scan(body, x, None, 40)).lower(jnp.zeros(1_000)).compile().as_text())
    found = iteration_of(program, 40)
    assert found.inner_loops == 1
    assert found.starts > found.kernels >= 2
    assert found.bytes >= 3 * 2 * 4_000  # in and out in each pass
