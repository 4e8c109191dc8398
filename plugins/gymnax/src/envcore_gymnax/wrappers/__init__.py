"""gymnax's wrappers. Those for Gymnasium are imported on first use, because they need it."""

from __future__ import annotations

import importlib
from typing import Any

from envcore_gymnax.wrappers import purerl as purerl
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper as FlattenObservationWrapper
from envcore_gymnax.wrappers.purerl import LogWrapper as LogWrapper

_OF_GYM = ("GymnaxToGymWrapper", "GymnaxToVectorGymWrapper")


def __getattr__(name: str) -> Any:
    if name in _OF_GYM:
        return getattr(importlib.import_module(f"{__name__}.gym"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
