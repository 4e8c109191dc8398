"""`ActionMaskObservation`: the mask of legal actions beside the observation."""

from __future__ import annotations

import dataclasses

import numpy as np

from envcore import spaces
from envcore.engine import arguments
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper


@dataclasses.dataclass(frozen=True)
class ActionMaskObservation(Wrapper):
    """Observes `{"observation": obs, "action_mask": mask}`, so that a policy reads which actions are legal.

    These are the names of PettingZoo's games. The mask is that of `action_mask`, bool, True for legal.

    Raises:
      ValueError: the environment has no action masks.
    """

    def __post_init__(self) -> None:
        if arguments.action_mask_struct(self.env) is None:
            raise ValueError(f"{self.env.name} has no action masks: all actions are always legal.")

    def observation_space(self, params: PyTree) -> spaces.Space:
        mask = spaces.Box(False, True, arguments.action_mask_struct(self.env).shape, np.bool_)
        return spaces.Dict({"observation": self.env.observation_space(params), "action_mask": mask})

    def observe(self, state: PyTree, params: PyTree) -> dict[str, PyTree]:
        return {"observation": self.env.observe(state, params), "action_mask": self.action_mask(state, params)}
