"""Where the units of a network's layers are in shared memory."""

from __future__ import annotations

import dataclasses

import numpy as np

from envcore_native.scalars import Scalar

SHARES = 4
"""Parts in which the warps that share environments compute the inputs of a layer."""


@dataclasses.dataclass
class _Layer:
    size: int  # in words
    dtype: np.dtype
    first: int
    last: int
    start: int = 0


class Layers:
    """The layers of a program: two lie in the same place where no line of the program needs both."""

    def __init__(self) -> None:
        self._layers: dict[int, _Layer] = {}

    def add(self, layer: Scalar, size: int, line: int) -> str:
        """Its name, for a layer of `size` units that are stored from this line on."""
        self._layers[layer.number] = _Layer(-(-size * layer.dtype.itemsize // 4), layer.dtype, line, line)
        return self.used(layer, line)

    def used(self, layer: Scalar, line: int) -> str:
        """Its name, where this line reads it."""
        self._layers[layer.number].last = line
        return f"units_{layer.number}"

    def places(self) -> tuple[list[str], int]:
        """Lines that declare the layers, and the number of words for which there must be place."""
        placed: list[_Layer] = []
        for layer in self._layers.values():
            for other in sorted(placed, key=lambda other: other.start):
                if other.last >= layer.first and other.start < layer.start + layer.size:
                    layer.start = max(layer.start, other.start + other.size)
            placed.append(layer)
        num_words = max((layer.start + layer.size for layer in placed), default=0)
        lines = [f"UNITS({num_words})"] if placed else []
        lines += [
            f"{layer.dtype.name}* const units_{number} = ({layer.dtype.name}*)(units + {layer.start} * LANES) + LANE;"
            for number, layer in self._layers.items()
        ]
        return lines, num_words
