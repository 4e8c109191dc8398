"""Writes types and expressions of C, which are valid CUDA too."""

from __future__ import annotations

import functools
import importlib.resources
import math
from typing import Any

import numpy as np

from envcore_native.scalars import Scalar

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_INFIX = _COMPARISONS | {"and": "&", "or": "|", "xor": "^", "quotient": "/", "remainder": "%"}
_WRAPS_AROUND = {"add": "+", "sub": "-", "mul": "*"}
_HAS_A_TYPE = {"abs", "div", "max", "min", "population_count", "rem", "sign"} | {
    f"shift_{direction}" for direction in ("left", "right_arithmetic", "right_logical")
}
"""Operations that have one function per type in `arithmetic.h`."""


def header(name: str) -> str:
    """Reads a source file of this package."""
    return importlib.resources.files("envcore_native").joinpath(name).read_text()


@functools.cache
def type_name(dtype: Any) -> str:
    return np.dtype(dtype).name


def name(scalar: Scalar) -> str:
    return f"v{scalar.number}"


def text(scalar: Scalar) -> str:
    """The name or the value of a computed scalar, for use in an expression."""
    if scalar.op == "const":
        return number(scalar.args[0], scalar.dtype)
    return scalar.args[0] if scalar.op == "input" else name(scalar)


def number(value: Any, dtype: np.dtype) -> str:
    """A constant, for use in an expression."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind != "f":
        return f"({type_name(dtype)}){int(value)}{'ll' if int(value) == -(2**31) else ''}"
    if math.isfinite(value):
        return f"{float(value).hex()}f"
    return "(0.0f / 0.0f)" if math.isnan(value) else f"({math.copysign(1, value)}f / 0.0f)"  # also allowed in tables


def table(name: str, values: Any, dtype: np.dtype) -> str:
    return f"TABLE {type_name(dtype)} {name}[] = {{{', '.join(number(x, dtype) for x in values)}}};"


def bits(value: str, source: Any, target: Any) -> str:
    """Reinterprets the bits of a value of up to 32 bits as another type."""
    source, target = np.dtype(source), np.dtype(target)
    if source.kind == "f":
        value = f"word_of({value})"
    return f"float_of({value})" if target.kind == "f" else f"({type_name(target)})({value})"


def expression(scalar: Scalar) -> str:
    """The expression that computes a scalar from its operands."""
    operation, dtype, operands = scalar.op.removeprefix("op_"), scalar.dtype, scalar.operands
    texts, of = [text(x) for x in operands], operands[0].dtype
    is_float = of.kind == "f"
    if operation in _WRAPS_AROUND:
        a, b = texts if is_float else [f"(uint32){x}" for x in texts]
        result = f"{a} {_WRAPS_AROUND[operation]} {b}"
        return result if is_float else f"({type_name(dtype)})({result})"
    if operation in _INFIX:
        return f"{texts[0]} {_INFIX[operation]} {texts[1]}"
    match operation:
        case "neg":
            return f"-{texts[0]}" if is_float else f"({type_name(dtype)})(0u - (uint32){texts[0]})"
        case "not":
            return f"!{texts[0]}" if of.kind == "b" else f"({type_name(dtype)})~{texts[0]}"
        case "select":
            return f"{texts[0]} ? {texts[2]} : {texts[1]}"
        case "convert":
            return f"({type_name(dtype)}){texts[0]}"
        case "bitcast":
            return bits(texts[0], of, dtype)
        case "truncate":
            return f"op_truncate_{type_name(dtype)}({texts[0]})"
        case _:
            suffix = f"_{type_name(of)}" if operation in _HAS_A_TYPE else ""
            return f"op_{operation}{suffix}({', '.join(texts)})"
