"""Wrappers: environments made of environments.

Every wrapper is an `Environment`, a frozen dataclass, and works under `jit` and `vmap`. They stack in any order, also
around and inside `Batched`. A wrapper that remembers something has a `WrapperState`, whose `env_state` is the state of
the wrapped environment, and a `ParamsWrapper` has `WrapperParams` around the wrapped environment's params.
"""

from envcore.wrappers.action_mask_observation import ActionMaskObservation
from envcore.wrappers.actions import ClipAction, RescaleAction, StickyAction
from envcore.wrappers.base import Wrapper, WrapperState
from envcore.wrappers.batched import Batched
from envcore.wrappers.check_actions import CheckActions
from envcore.wrappers.flatten_observation import FlattenObservation
from envcore.wrappers.frame_stack import FrameStack
from envcore.wrappers.log_wrapper import LogWrapper
from envcore.wrappers.no_auto_reset import NoAutoReset
from envcore.wrappers.normalize import NormalizeObservation, NormalizeReward, RunningStatistics
from envcore.wrappers.params import ParamsWrapper, WrapperParams
from envcore.wrappers.pixel_observation import PixelObservation
from envcore.wrappers.sharded import Sharded

__all__ = [
    "ActionMaskObservation",
    "Batched",
    "CheckActions",
    "ClipAction",
    "FlattenObservation",
    "FrameStack",
    "LogWrapper",
    "NoAutoReset",
    "NormalizeObservation",
    "NormalizeReward",
    "ParamsWrapper",
    "PixelObservation",
    "RescaleAction",
    "RunningStatistics",
    "Sharded",
    "StickyAction",
    "Wrapper",
    "WrapperParams",
    "WrapperState",
]
