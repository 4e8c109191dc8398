"""What the tests of several algorithms share."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.rollout import Transition
from toy import Counter


class Whole(Counter):
    """Takes an array of integers."""

    def action_space(self, params: Any) -> Any:
        return spaces.Box(0, 9, (2,), np.int32)


def updated(learner: Any, state: Any) -> tuple[Any, Any, Any]:
    """The state after an update, its metrics, and what it collected in its rollout."""
    play, collected = learner._rollout, None

    def rollout(*args: Any) -> Any:
        nonlocal collected
        now, collected = play(*args)
        return now, collected

    learner._rollout = rollout
    try:
        return jax.jit(lambda state: (*learner.update(state), collected))(state)
    finally:
        learner._rollout = play


def replay(steps: Transition) -> Any:
    """A rollout function for which all environments have taken these steps, (rollout_steps, num_envs, ...)."""

    def play(env: Any, policy: Any, start: Any, length: int, params: Any, agent: Any, collect: Any) -> Any:
        return start, jax.vmap(collect)(jax.tree.map(jnp.asarray, steps))

    return play


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
