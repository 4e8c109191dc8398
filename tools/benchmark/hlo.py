"""Reads the text of a compiled program."""

from __future__ import annotations

import dataclasses
import math
import re

Computations = dict[str, list["Instruction"]]


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One line of a program.

    Attributes:
      name: without the percent sign.
      size: bytes of the result.
      opcode: what it does.
      arguments: what is between its parentheses.
      attributes: the rest of the line.
      is_root: whether it is the result of its computation.
    """

    name: str
    size: int
    opcode: str
    arguments: str
    attributes: str
    is_root: bool

    @property
    def operands(self) -> list[str]:
        """The names of other instructions."""
        return re.findall(r"%([\w.-]+)", self.arguments)

    @property
    def called(self) -> list[str]:
        """The computations that a call, a branch or a loop passes control to."""
        one = r"(?:to_apply|body|condition|true_computation|false_computation)=%([\w.-]+)"
        several = re.search(r"branch_computations=\{([^}]*)\}", self.attributes)
        branches = re.findall(r"%([\w.-]+)", several[1]) if several else []
        return re.findall(one, self.attributes) + branches

    @property
    def body(self) -> str:
        """The computation that a loop repeats."""
        return re.findall(r"body=%([\w.-]+)", self.attributes)[0]

    @property
    def fused(self) -> str | None:
        """The computation that a fusion carries out."""
        found = re.search(r"calls=%([\w.-]+)", self.attributes)
        return found[1] if found else None

    @property
    def trips(self) -> int:
        """How often a loop runs its body; 1 where that is not known."""
        found = re.search(r"known_trip_count\W+n\W+(\d+)", self.attributes)
        return int(found[1]) if found else 1


def computations(program: str) -> Computations:
    """The instructions of each computation, by its name.

    Args:
      program: what `compiled.as_text()` returns.
    """
    found: Computations = {}
    for part in program.split("\n}\n"):
        head = re.search(r"^(?:ENTRY )?%(\S+) \(.*\{$", part, flags=re.MULTILINE)
        if head:
            found[head[1]] = [_parsed(line) for line in part[head.end() :].splitlines() if " = " in line]
    return found


def _parsed(line: str) -> Instruction:
    name, _, text = line.strip().partition(" = ")
    kind, rest = _split(text, " ")  # the type may be a tuple
    opcode, opening, rest = rest.partition("(")
    arguments, attributes = _split(opening + rest, ")")
    return Instruction(name.split("%")[-1], _bytes(kind), opcode, arguments[1:], attributes, name.startswith("ROOT"))


def _split(text: str, end: str) -> tuple[str, str]:
    """What is before and after the first such letter that is outside of parentheses, or closes the first one."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == end and depth == 0:
            return text[:place], text[place + 1 :]
    return text, ""


def _bytes(kind: str) -> int:
    """The size of a type, such as `(f32[8,4]{1,0}, pred[])`."""
    total = 0
    for dtype, shape in re.findall(r"([a-z]\w*)\[([\d,]*)\]", kind):
        bits = 8 if dtype == "pred" else int((re.findall(r"\d+", dtype) or ["0"])[0])
        total += math.ceil(bits * math.prod(int(size) for size in shape.split(",") if size) / 8)
    return total
