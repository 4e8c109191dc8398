"""What the tests of several algorithms share."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from envcore import spaces
from toy import Counter


class Whole(Counter):
    """Takes an array of integers."""

    def action_space(self, params: Any) -> Any:
        return spaces.Box(0, 9, (2,), np.int32)


def mean_returns(learner: Any, seeds: int) -> np.ndarray:
    """The mean return of each seed over each tenth of its training, (seeds, 10)."""
    state = jax.jit(jax.vmap(learner.init))(jax.random.split(jax.random.key(0), seeds))
    run = jax.vmap(lambda state: jax.lax.scan(lambda x, _: learner.update(x), state, length=learner.num_updates))
    _, totals = jax.jit(run)(state)
    size = learner.num_updates // 10 * 10
    returns, episodes = (
        np.asarray(totals[name])[:, -size:].reshape(seeds, 10, -1).sum(-1) for name in ("returns", "episodes")
    )
    return returns / episodes
