"""gymnax's wrappers. Those for Gymnasium, brax and EvoJAX are imported on first use, because they need them."""

from __future__ import annotations

import importlib
from typing import Any

from envcore_gymnax.wrappers import compat as compat
from envcore_gymnax.wrappers import dm_env as dm_env
from envcore_gymnax.wrappers import purerl as purerl
from envcore_gymnax.wrappers.compat import LegacyStepAPIWrapper as LegacyStepAPIWrapper
from envcore_gymnax.wrappers.dm_env import GymnaxToDmEnvWrapper as GymnaxToDmEnvWrapper
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper as FlattenObservationWrapper
from envcore_gymnax.wrappers.purerl import LogWrapper as LogWrapper
from envcore_gymnax.wrappers.purerl import StickyActionWrapper as StickyActionWrapper

_MODULES = ("brax", "evojax", "gym")
_HOME = {"GymnaxToBraxWrapper": "brax", "GymnaxToGymWrapper": "gym", "GymnaxToVectorGymWrapper": "gym"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
