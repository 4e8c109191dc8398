"""Values and others' text in messages: short enough, and safe to print on a terminal. Imports nothing heavy."""

from __future__ import annotations

import re

from envcore.errors import EnvcoreError

_LONGEST = 1_000  # characters of an error's message

# Controls (with DEL and the C1 set, whose CSI some terminals obey), the directions and invisible characters of
# "Trojan Source" (Boucher and Anderson 2021), line separators, and lone surrogates, which no encoding takes. The
# joiners U+200C and U+200D stay: words and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: object, *, multiline: bool = False) -> str:
    r"""The text with control characters and invisible characters written as escapes.

    Summaries, docstrings and messages come from the authors of plugins: an escape sequence in them could clear the
    screen or rename the window, and a change of direction could show words in another order.

    Args:
      text: what to show; `str` is applied to it.
      multiline: keeps line feeds and tabs, for docstrings; by default they become `\n` and `\t`.
    """
    text = str(text)
    if text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: _escape(found[0], multiline), text)


def shown(value: object) -> str:
    """The `repr`; of an integer that Python refuses to print, which one of 4,300 digits is, its size."""
    if isinstance(value, int) and value.bit_length() > 1_000:
        return f"a number of {value.bit_length():,} bits"
    return repr(value)


def one_line(error: BaseException) -> str:
    """Describes an error in one line of bounded length, with its class unless it is one of envcore's own."""
    try:
        message = printable(" ".join(str(error).split()))
        if len(message) > _LONGEST:
            message = f"{message[:_LONGEST]}\N{HORIZONTAL ELLIPSIS}"
    except BaseException:  # `__str__` may raise anything, too
        message = "an error whose message cannot be shown"
    kind = "" if isinstance(error, EnvcoreError) else type(error).__name__
    return ": ".join(part for part in (kind, message) if part)


def _escape(char: str, multiline: bool) -> str:
    return char if multiline and char in "\n\t" else char.encode("unicode_escape").decode("ascii")
