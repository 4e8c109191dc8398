"""The machine code of envcore-native's kernels: `uv run --with nvidia-cuda-nvdisasm pytest -m exhaustive` this file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tool_modules import load_tool

fused: Any = load_tool("benchmark/fused.py")

MACHINE_CODE = """
        //----- nvinfo : EIATTR_REGCOUNT
        .align          4
        /*0000*/        .byte   0x04, 0x2f
        /*0004*/        .word   index@(kernel)
        /*0008*/        .word   0x00000030
        //----- nvinfo : EIATTR_FRAME_SIZE
        /*0014*/        .word   index@(division)
        /*0018*/        .word   0x00000000
        //----- nvinfo : EIATTR_FRAME_SIZE
        /*0024*/        .word   index@(kernel)
        /*0028*/        .word   0x00000010
kernel:
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_0:
        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;
.L_x_1:
        /*0020*/                   LDG.E R2, [R2.64] ;
        /*0030*/               @P1 BRA `(.L_x_2) ;
        /*0040*/                   FADD R2, R2, R2 ;
.L_x_2:
        /*0050*/               @P0 BRA `(.L_x_1) ;
        /*0060*/                   STG.E [R2.64], R2 ;
        /*0070*/               @P2 BRA `(.L_x_0) ;
        /*0080*/                   EXIT ;
"""


def test_a_step_is_the_longest_loop_inside_that_of_threads() -> None:
    assert fused.instructions_of_a_step(MACHINE_CODE) == 4
    with pytest.raises(ValueError, match="no loop inside a loop"):
        fused.instructions_of_a_step(MACHINE_CODE.replace("@P0 BRA", "@P0 NOP"))


def test_what_a_kernel_needs_is_that_of_the_function_which_needs_most() -> None:
    assert fused.fact(MACHINE_CODE, "EIATTR_REGCOUNT") == 48
    assert fused.fact(MACHINE_CODE, "EIATTR_FRAME_SIZE") == 16


def test_the_file_has_every_environment_and_no_spill() -> None:
    rows = json.loads(fused.DATA.read_text())
    assert {row["id"] for row in rows} == set(fused.environments())
    assert {row["gpu"] for row in rows} == set(fused.GPUS)
    assert {row["policy"] for row in rows} == {"random"}
    assert not [row for row in rows if row["spilled_bytes"]]


@pytest.mark.exhaustive
@pytest.mark.skipif(fused.disassembler() is None, reason="the wheel nvidia-cuda-nvdisasm is not installed")
@pytest.mark.parametrize("env_id", fused.environments())
def test_no_register_of_a_kernel_spills(env_id: str) -> None:
    for row in fused.measure(env_id):
        assert row["spilled_bytes"] == 0, row
        assert row["instructions"] > 20, row
