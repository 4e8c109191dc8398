"""Which names resemble a misspelled one."""

from __future__ import annotations

import difflib
import heapq
from collections.abc import Iterable

_CANDIDATES = 200  # that difflib compares with a misspelled name, at some 50 us each
_LONGEST = 100  # as far as a misspelled name is compared
_CUTOFF = 0.6  # difflib's similarity from which a name is suggested


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Up to three names that are spelt like this one, the most similar first."""
    typed = typed.lower()[:_LONGEST]
    originals = {each.lower(): each for each in names}
    most = (2 - _CUTOFF) / _CUTOFF  # difflib never suggests what is so many times as long
    close = [each for each in originals if len(typed) <= most * len(each) and len(each) <= most * len(typed)]
    if len(close) > _CANDIDATES:
        pairs = {typed[i : i + 2] for i in range(len(typed) - 1)}

        def shared(each: str) -> float:
            return sum(map(each.__contains__, pairs)) / (len(each) + len(typed))

        close = heapq.nlargest(_CANDIDATES, close, key=shared)
    return [originals[each] for each in difflib.get_close_matches(typed, close, n=3, cutoff=_CUTOFF)]


def hint(typed: str, names: Iterable[str]) -> str:
    """The sentence " Did you mean 'learning_rate'?" for "learning_rat" or "lr"; empty where no name is like it."""
    names = list(names)
    meant = [name for name in names if _is_short(typed.lower(), name)][:3] or nearest(typed, names)
    return f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""


def _is_short(typed: str, name: str) -> bool:
    """Whether it abbreviates a name by its words' initials or beginnings: "lr" or "ent_coef"."""
    words, parts = name.lower().split("_"), typed.split("_")
    if len(typed) > 1 and typed == "".join(word[:1] for word in words):
        return True
    return len(parts) == len(words) and all(
        len(part) > 1 and word.startswith(part) for word, part in zip(words, parts, strict=True)
    )


def unknown_param(owner: str, name: object, known: Iterable[str]) -> str:
    """The message for a param that an environment, or a class of params, does not have."""
    known = list(known)
    return f"{owner} has no param {name!r}; its params: {', '.join(known)}.{hint(str(name), known)}"
