"""Counts what a compiled loop starts and moves in each iteration: on a GPU, kernels and copies."""

from __future__ import annotations

import dataclasses

from hlo import Computations, Instruction, computations

_FREE = {
    "after-all", "async-done", "bitcast", "constant", "copy-done", "get-tuple-element", "iota", "parameter",
    "partition-id", "replica-id", "tuple",
}  # fmt: skip
"""Instructions that start nothing."""

_ONLY_COPIES = {"bitcast", "copy", "copy-start", "get-tuple-element", "parameter", "tuple"}
_READS_A_PART = {"dynamic-slice", "gather", "slice"}


@dataclasses.dataclass(frozen=True)
class Iteration:
    """What one iteration of a compiled loop does.

    Attributes:
      kernels: and copies that it starts, with one pass of each loop inside it.
      starts: the same, with all passes of those loops, where XLA knows how many there are.
      inner_loops: loops inside it.
      copies: kernels that only copy.
      bytes: that all starts read and write. Of an array that is updated in place, these are the updated part's; of one
        that is only sliced, the slice's.
    """

    kernels: float = 0
    starts: float = 0
    inner_loops: float = 0
    copies: float = 0
    bytes: float = 0

    def __add__(self, other: Iteration) -> Iteration:
        ours, others = dataclasses.astuple(self), dataclasses.astuple(other)
        return Iteration(*(a + b for a, b in zip(ours, others, strict=True)))


def iteration_of(program: str, iterations: int) -> Iteration | None:
    """What the loop of a compiled program does in each of its iterations. Branches count together.

    Args:
      program: what `compiled.as_text()` returns.
      iterations: of the loop. If XLA has unrolled it, its body is that of several.

    Returns:
      None if there is no loop that runs so often.
    """
    found = computations(program)
    whiles = [each for body in found.values() for each in body if each.opcode == "while"]
    loops = [each for each in whiles if each.trips > 1 and iterations % each.trips == 0]
    if not loops:
        return None
    loop = max(loops, key=lambda each: each.trips)  # loops inside it are shorter
    share = loop.trips / iterations
    return Iteration(*(share * number for number in dataclasses.astuple(_total(found, loop.body))))


def _total(found: Computations, name: str) -> Iteration:
    total, sizes = Iteration(), {each.name: each.size for each in found[name]}
    for each in found[name]:
        if each.opcode in ("call", "conditional", "while"):
            total += Iteration(inner_loops=int(each.opcode == "while"))
            for called in each.called:
                inside = _total(found, called)
                total += dataclasses.replace(inside, starts=inside.starts * each.trips, bytes=inside.bytes * each.trips)
        elif each.opcode not in _FREE:
            fused = found[each.fused] if each.fused else [each]
            is_copy = {part.opcode for part in fused} <= _ONLY_COPIES
            moved = _moved_by_fusion(fused) if each.fused else _moved(each, sizes)
            total += Iteration(kernels=1, starts=1, copies=int(is_copy), bytes=moved)
    return total


def _moved(each: Instruction, sizes: dict[str, int]) -> int:
    """Bytes that an instruction reads and writes."""
    if each.opcode in _READS_A_PART:
        return 2 * each.size
    if each.opcode == "dynamic-update-slice":
        return 2 * sizes[each.operands[1]]
    return each.size + sum(sizes[name] for name in set(each.operands))


def _moved_by_fusion(fused: list[Instruction]) -> int:
    """Bytes that a fusion reads and writes: of its parameters what is asked for, and its results."""
    by_name = {each.name: each for each in fused}
    (root,) = (each for each in fused if each.is_root)

    def behind(name: str) -> Instruction:
        each = by_name[name]
        return behind(each.operands[0]) if each.opcode == "bitcast" else each

    results = [behind(name) for name in (root.operands if root.opcode == "tuple" else [root.name])]
    in_place = [each for each in results if each.opcode == "dynamic-update-slice"]
    total = sum(by_name[each.operands[1]].size if each in in_place else each.size for each in results)
    for parameter in (each for each in fused if each.opcode == "parameter"):
        asked = parameter.size if parameter in results else 0
        for reader in (each for each in fused if each.opcode not in ("bitcast", "parameter", "tuple")):
            read = [behind(name) for name in reader.operands]
            if parameter in read[1:]:
                asked += parameter.size
            elif parameter in read[:1] and reader not in in_place:
                asked += reader.size if reader.opcode in _READS_A_PART else parameter.size
        total += min(asked, parameter.size)
    return total
