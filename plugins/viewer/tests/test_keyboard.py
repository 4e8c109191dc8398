"""The names of keys."""

from __future__ import annotations

import pytest
from envcore_viewer.keyboard import parse_keys


class TestKeys:
    @pytest.mark.parametrize(
        ("data", "keys"),
        [
            (b"a", ["a"]),
            (b"aQ 7\n", ["a", "q", "space", "7", "enter"]),
            (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
            (b"\x1bOA1\x1bOD", ["up", "1", "left"]),
            (b"\x1b", ["escape"]),
            (b"\x1b[3~\x1b[1;5Cx", ["x"]),  # Delete and Ctrl-Right have no names
            (b"\xc3\xa4;\x00\t", []),
            (b"\x1b[", []),
            (b"", []),
        ],
    )
    def test_names(self, data, keys):
        assert parse_keys(data) == keys
