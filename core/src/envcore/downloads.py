"""Data that environments download at their first use, and programs that ask the user before."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

from envcore.errors import DownloadRefusedError

_IS_REFUSED = ContextVar("is_refused", default=False)


@contextlib.contextmanager
def refused() -> Generator[None]:
    """A context in which an environment that needs a download raises a `DownloadRefusedError`, in this thread."""
    token = _IS_REFUSED.set(True)
    try:
        yield
    finally:
        _IS_REFUSED.reset(token)


def request(what: str) -> None:
    """For an environment to call before it downloads its data.

    Args:
      what: the data, its size and where it is, as in "MNIST's training set (10 MB) from https://example.org".

    Raises:
      DownloadRefusedError: inside `refused`.
    """
    if _IS_REFUSED.get():
        raise DownloadRefusedError(f"needs to download {what}.")
