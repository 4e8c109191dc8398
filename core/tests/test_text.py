from __future__ import annotations

import unicodedata

import pytest
from envcore.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Balance a pole. \N{GREEK SMALL LETTER ALPHA}\N{SNOWMAN} [red] \\x1b", None),
        ("\N{FAMILY}\N{ZERO WIDTH JOINER}\N{BOY} a\N{NO-BREAK SPACE}b", None),
        ("\x1b]0;renamed\x07", r"\x1b]0;renamed\x07"),
        ("\x1b[2J\x9b2J\x7f\x00\b\r", r"\x1b[2J\x9b2J\x7f\x00\x08\r"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\u202eevil\u202c \u2066x\u2069 \u200f\u061c", r"\u202eevil\u202c \u2066x\u2069 \u200f\u061c"),
        ("a\u2028b\u2029c\x85d", r"a\u2028b\u2029c\x85d"),
        ("a\udcffb\U000e0041\u200b\ufeff", r"a\udcffb\U000e0041\u200b\ufeff"),
    ],
)
def test_what_a_terminal_would_obey_is_visible(text, shown):
    assert printable(text) == (text if shown is None else shown)
    assert printable(printable(text)) == printable(text)


def test_lines_are_kept_where_they_are_asked_for():
    assert printable("a\n\tb\r\x1b[2J\u2028", multiline=True) == "a\n\tb\\r\\x1b[2J\\u2028"


def test_anything_has_a_text():
    assert printable(ValueError("a\x1b")) == r"a\x1b"
    assert printable(3) == "3"


def test_no_control_and_no_change_of_direction_is_left():
    everything = "".join(map(chr, range(0x110000)))
    left = printable(everything)
    left.encode()  # there are no lone surrogates
    assert not [char for char in left if unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs")]
    turning = {"RLE", "LRE", "RLO", "LRO", "PDF", "RLI", "LRI", "FSI", "PDI"}
    assert not [char for char in left if unicodedata.bidirectional(char) in turning]
