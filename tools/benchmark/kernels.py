"""Counts what a compiled loop starts in each iteration: on a GPU, kernels and copies."""

from __future__ import annotations

import re

_FREE = {
    "after-all", "async-done", "bitcast", "constant", "copy-done", "get-tuple-element", "iota", "parameter",
    "partition-id", "replica-id", "tuple",
}  # fmt: skip
"""Instructions that start nothing."""

_CALLED = r"(?:to_apply|body|condition|true_computation|false_computation)=%([\w.-]+)"


def kernels_per_iteration(program: str, iterations: int) -> float | None:
    """How many kernels and copies the loop of a compiled program starts in each of its iterations.

    Loops inside it count as one pass of their bodies; branches count together.

    Args:
      program: what `compiled.as_text()` returns.
      iterations: of the loop. If XLA has unrolled it, its body is that of several.

    Returns:
      None if there is no loop that runs so often.
    """
    computations = _computations(program)
    found = re.findall(r" while\(.*body=%([\w.-]+).*known_trip_count\W+n\W+(\d+)", program)
    loops = [(int(trips), body) for body, trips in found if int(trips) > 1 and iterations % int(trips) == 0]
    if not loops:
        return None
    trips, body = max(loops)  # loops inside it are shorter
    return _count(computations, body) * trips / iterations


def _computations(program: str) -> dict[str, list[str]]:
    """The instructions of each computation, by its name."""
    found: dict[str, list[str]] = {}
    for part in program.split("\n}\n"):
        head = re.search(r"^(?:ENTRY )?%(\S+) \(.*\{$", part, flags=re.MULTILINE)
        if head:
            found[head[1]] = [line for line in part[head.end() :].splitlines() if " = " in line]
    return found


def _count(computations: dict[str, list[str]], name: str) -> int:
    total = 0
    for line in computations[name]:
        opcode = _opcode(line)
        if opcode in ("call", "while", "conditional"):
            branches = re.search(r"branch_computations=\{([^}]*)\}", line)
            called = re.findall(_CALLED, line) + (re.findall(r"%([\w.-]+)", branches[1]) if branches else [])
            total += sum(_count(computations, each) for each in called)
        elif opcode not in _FREE:
            total += 1
    return total


def _opcode(line: str) -> str:
    """The operation of an instruction, which follows its type; the type may be a tuple."""
    text, depth = line.partition(" = ")[2], 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == " " and depth == 0:
            return re.match(r"[\w-]*", text[place + 1 :])[0]  # type: ignore[index]
    return ""
