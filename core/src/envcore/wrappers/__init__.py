"""Wrappers, which change an environment's actions, observations, rewards or params, or run many copies of it.

Every wrapper is an `Environment`, a frozen dataclass, and works under `jit` and `vmap`. You can stack wrappers in any
order, around and inside `Batched`. Only `RandomizeParams` has to be inside, and `ClipAction` around `RescaleAction`.
Wrappers that keep state have a `WrapperState`, whose `env_state` is the state of the wrapped environment. Each
`ParamsWrapper` has `WrapperParams`, which contain the params of the wrapped environment.
"""

from envcore.wrappers.actions import CheckActions as CheckActions
from envcore.wrappers.actions import ClipAction as ClipAction
from envcore.wrappers.actions import RescaleAction as RescaleAction
from envcore.wrappers.actions import StickyAction as StickyAction
from envcore.wrappers.base import NestedParams as NestedParams
from envcore.wrappers.base import ParamsWrapper as ParamsWrapper
from envcore.wrappers.base import Wrapper as Wrapper
from envcore.wrappers.base import WrapperParams as WrapperParams
from envcore.wrappers.base import WrapperState as WrapperState
from envcore.wrappers.batched import Batched as Batched
from envcore.wrappers.batched import Sharded as Sharded
from envcore.wrappers.episodes import LogWrapper as LogWrapper
from envcore.wrappers.normalize import NormalizeObservation as NormalizeObservation
from envcore.wrappers.normalize import NormalizeReward as NormalizeReward
from envcore.wrappers.normalize import RunningStatistics as RunningStatistics
from envcore.wrappers.observations import ActionMaskObservation as ActionMaskObservation
from envcore.wrappers.observations import FlattenObservation as FlattenObservation
from envcore.wrappers.observations import FrameStack as FrameStack
from envcore.wrappers.observations import PixelObservation as PixelObservation
from envcore.wrappers.randomize import RandomizeParams as RandomizeParams
from envcore.wrappers.randomize import UniformParams as UniformParams
