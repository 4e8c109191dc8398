import numpy as np
from envcore_native.layers import Layers
from envcore_native.scalars import Graph


def _places(*layers, dtype="float32"):
    """The places of layers that are needed from a line to another one: (size, first, last)."""
    graph, found = Graph(), Layers()
    for number, (size, first, last) in enumerate(layers):
        scalar = graph.constant(number, np.dtype(dtype))
        found.add(scalar, size, first)
        found.used(scalar, last)
    (_, *lines), words = found.places()
    return [int(line.split("units + ")[1].split()[0]) for line in lines], words


def test_layers_that_follow_each_other_have_places_of_their_own():
    assert _places((20, 0, 5), (30, 5, 9)) == ([0, 20], 50)


def test_a_layer_takes_the_place_of_one_that_no_line_reads_again():
    assert _places((64, 0, 5), (64, 5, 9), (64, 6, 12), (8, 12, 15)) == ([0, 64, 0, 64], 128)
    assert _places((8, 0, 5), (64, 5, 9), (64, 9, 12)) == ([0, 8, 72], 136)


def test_four_units_of_a_byte_take_a_word():
    assert _places((9, 0, 5), (5, 5, 6), dtype="bool") == ([0, 3], 5)


def test_without_layers_nothing_is_declared():
    assert Layers().places() == ([], 0)
