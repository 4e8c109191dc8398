from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore_bsuite.agents import policy_agent, random_agent
from envcore_bsuite.catch import Catch

KEY = jax.random.key(0)


def test_the_random_agent_takes_every_action_equally_often() -> None:
    agent = random_agent(Catch())
    state = agent.init(KEY)
    actions = jax.vmap(lambda key: agent.act(state, jnp.zeros((10, 5)), key)[0])(jax.random.split(KEY, 3000))
    assert (np.abs(np.bincount(actions, minlength=3) - 1000) < 4 * np.sqrt(3000 * 2 / 9)).all()


def test_a_policy_gets_its_params() -> None:
    agent = policy_agent(lambda params, obs, key: obs + params, jnp.float32(2))(Catch())
    action, state = agent.act(agent.init(KEY), jnp.float32(1), KEY)
    assert float(action) == 3
    assert float(state) == 2
