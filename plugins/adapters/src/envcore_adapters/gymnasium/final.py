"""What Gymnasium's SAME_STEP tells of episodes that have ended."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np


def final_entries(done: np.ndarray[Any, Any], last_obs: Any, infos: Any) -> dict[str, Any]:
    """The entries of a step's `infos` about episodes that have ended; none if there is no such.

    Args:
      done: whose episode has ended, bool (num_envs,).
      last_obs: the observations before the reset, a pytree of arrays.
      infos: the entries of that step.
    """
    if not done.any():
        return {}
    final_obs = np.full(done.shape, None, object)
    for index in np.flatnonzero(done):
        final_obs[index] = jax.tree.map(lambda leaf, index=index: leaf[index], last_obs)
    return {"final_obs": final_obs, "_final_obs": done.copy(), "final_info": infos, "_final_info": done.copy()}
