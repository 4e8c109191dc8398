"""Agents as pure functions, which `envcore_bsuite.runner` runs on bsuite's experiments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
from envcore.environment import Environment
from envcore.rollout import Policy, Transition, random_policy
from envcore.typing import PyTree


class Agent(NamedTuple):
    """An agent for one environment; its state is any pytree of arrays, and its functions are pure.

    Attributes:
      init: `init(key) -> agent_state`, before the first episode.
      act: `act(agent_state, obs, key) -> (action, agent_state)`.
      update: `update(agent_state, transition, key) -> agent_state`, after every step. `transition.next_obs` is the
        observation after the step, also at the end of an episode; `transition.info["discount"]` is 0 if the episode
        terminated. An agent that remembers the episode must clear its memory where `transition.done`.
        `transition.info["step"]`, int32, is the number of steps that the agent took before this one.

    The runner maps these functions over many settings by `vmap`, but all of them are at the same step, so that
    `info["step"]` is not batched. With a predicate computed from it, `lax.cond` takes only one of its branches, and an
    agent that learns after every 128th step pays for it only then; with another one, both branches are computed and
    one is selected. A row of a buffer whose index is computed from it is written for all settings at once.
    """

    init: Callable[[jax.Array], PyTree]
    act: Callable[[PyTree, PyTree, jax.Array], tuple[PyTree, PyTree]]
    update: Callable[[PyTree, Transition, jax.Array], PyTree]


MakeAgent = Callable[[Environment], Agent]
"""Makes an agent for an environment, whose spaces give the shapes of its networks."""


def random_agent(env: Environment) -> Agent:
    """An agent that acts at random."""
    return policy_agent(random_policy(env))(env)


def policy_agent(policy: Policy, policy_params: PyTree = None) -> MakeAgent:
    """An agent that follows `policy(policy_params, obs, key) -> action` and learns nothing."""
    agent = Agent(
        init=lambda key: policy_params,
        act=lambda state, obs, key: (policy(state, obs, key), state),
        update=lambda state, transition, key: state,
    )
    return lambda env: agent
