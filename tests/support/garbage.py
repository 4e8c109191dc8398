"""A pytest plugin that looks for garbage less often.

The modules and tests of a whole run are a million objects. To search them again and again took 7% of its time.
"""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Of what the tests make, the newest is searched a fourteenth as often, and all of it a fiftieth."""
    gc.set_threshold(10_000, 20, 20)
