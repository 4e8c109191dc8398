"""gymnax's wrappers. The ones for Gymnasium, brax and EvoJAX need these libraries and are imported on first use."""

from __future__ import annotations

from envcore.lazy import lazy_names

from envcore_gymnax.wrappers import compat as compat
from envcore_gymnax.wrappers import dm_env as dm_env
from envcore_gymnax.wrappers import purerl as purerl
from envcore_gymnax.wrappers.compat import LegacyStepAPIWrapper as LegacyStepAPIWrapper
from envcore_gymnax.wrappers.dm_env import GymnaxToDmEnvWrapper as GymnaxToDmEnvWrapper
from envcore_gymnax.wrappers.purerl import FlattenObservationWrapper as FlattenObservationWrapper
from envcore_gymnax.wrappers.purerl import LogWrapper as LogWrapper
from envcore_gymnax.wrappers.purerl import StickyActionWrapper as StickyActionWrapper

__getattr__, __dir__, _ = lazy_names(
    __name__,
    {"brax": ["GymnaxToBraxWrapper"], "gym": ["GymnaxToGymWrapper", "GymnaxToVectorGymWrapper"]},
    ["brax", "evojax", "gym"],
)
