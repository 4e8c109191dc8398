"""Agents for bsuite's runner: bsuite's settings, and what they have stored and learned after some steps."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.rollout import Transition
from envcore_baselines.bootstrapped_dqn import BootstrappedDQNConfig
from envcore_baselines.bsuite import agents as bsuite
from envcore_baselines.bsuite.program import Program, lanes_of
from envcore_baselines.dqn import DQNConfig
from envcore_baselines.ppo import PPO
from learning import updated
from toy import Counter

# Read off bsuite 0.3.6's baselines/jax, `default_agent` of dqn and of boot_dqn.
SHARED = {
    "num_envs": 1,
    "rollout_steps": 1,
    "gradient_steps": 1,
    "replay_capacity": 10_000,
    "target_period": 4,
    "learning_rate": 1e-3,
    "discount": 0.99,
}


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        (DQNConfig(), {"min_replay_size": 100, "batch_size": 32, "epsilon": 0.05, "hidden": (64, 64)}),
        (
            BootstrappedDQNConfig(),
            {
                "min_replay_size": 128,
                "batch_size": 128,
                "epsilon": 0.0,
                "hidden": (50, 50),
                "members": 20,
                "prior_scale": 5.0,
                "mask_probability": 1.0,
            },
        ),
    ],
)
def test_the_default_settings_are_those_of_bsuites_baselines(config: Any, settings: dict[str, Any]) -> None:
    assert {name: value for name, value in vars(config).items() if name != "total_steps"} == {**SHARED, **settings}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make_agent", "enough"), [(bsuite.dqn, 100), pytest.param(bsuite.bootstrapped_dqn, 128, marks=pytest.mark.slow)]
)
def test_it_stores_every_step_and_learns_once_enough_are_stored(make_agent: Any, enough: int) -> None:
    (members,) = lanes_of(["bandit/0", "bandit/1"], {})
    program, nothing = Program(members, make_agent), np.zeros(2, np.int32)
    state, *_ = program.advance(program.start(jax.random.key(0)), nothing, enough - 1)
    assert state.agent_state.gradient_steps.tolist() == [0, 0]
    state, *_ = program.advance(state, nothing, 3)
    agent_state = state.agent_state
    assert agent_state.gradient_steps.tolist() == [3, 3]
    stored = getattr(agent_state.replay, "transition", agent_state.replay)
    rewards = np.asarray(members.params.rewards)
    for lane in range(2):
        actions = stored.action[lane, : enough + 2]
        np.testing.assert_array_equal(stored.reward[lane, : enough + 2], rewards[lane, actions].astype(np.float32))
        assert len(set(actions.tolist())) > 1
    assert (stored.discount == 0).all()  # episodes of one step
    assert (stored.obs[:, : enough + 2] == 1).all()
    assert (stored.obs[:, enough + 2 :] == 0).all()


IDS = ["memory_len/0", "memory_len/1"]  # a rollout ends within an episode of the second


@pytest.mark.slow
def test_recurrent_ppo_learns_after_a_rollout_from_the_steps_that_it_took() -> None:
    (members,) = lanes_of(IDS, {})
    program, nothing = Program(members, bsuite.recurrent_ppo), np.zeros(2, np.int32)
    first = program.start(jax.random.key(0))
    start = jax.tree.map(jnp.copy, first.agent_state)
    state, *_ = program.advance(first, nothing, bsuite.RECURRENT_PPO_CONFIG.rollout_steps - 1)
    before = jax.tree.map(jnp.copy, state.agent_state)
    after = program.advance(state, nothing, 1)[0].agent_state
    jax.tree.map(np.testing.assert_array_equal, before.learner.agent, start.learner.agent)
    weights = (jax.tree.leaves(each.learner.agent.network) for each in (before, after))
    assert all((old != new).any() for old, new in zip(*weights, strict=True))
    for lane in range(2):
        steps = jax.tree.map(lambda x, lane=lane: np.asarray(x[lane]), before.learner.rollout)
        done = steps.done[:-1, 0]
        assert done.any()
        for obs, next_obs in zip(jax.tree.leaves(steps.obs), jax.tree.leaves(steps.next_obs), strict=True):
            np.testing.assert_array_equal(obs[1:-1, 0][~done[:-1]], next_obs[:-2, 0][~done[:-1]])
        assert not steps.obs[1][1:-1, 0][done[:-1]].any(), "a game begins with an empty memory"
    assert np.asarray(after.memory).any((1, 2)).tolist() == [False, True]


@pytest.mark.slow
def test_ppo_learns_from_the_runners_steps_as_from_its_own() -> None:
    env, params = Counter(), Counter().default_params
    agent, learner = bsuite.ppo(env), PPO(env, params, bsuite.PPO_CONFIG)
    keys = jax.random.split(jax.random.key(0), 2)
    start = jax.jit(learner.init)(keys[0])
    _, _, (obs, _, action, _, _, reward, done, terminated, _, next_obs) = updated(learner, start)
    expected, _ = jax.jit(learner.update)(start._replace(key=keys[1]))

    def played(number: int) -> Transition:
        rows = (x[number, 0] for x in (obs, action, reward, next_obs, done))
        return Transition(None, *rows, info={"terminated": terminated[number, 0], "step": jnp.int32(number)})

    steps = jax.tree.map(lambda *rows: jnp.stack(rows), *map(played, range(len(reward))))
    state = agent.init(keys[0])
    jax.tree.map(np.testing.assert_array_equal, state.learner.agent, start.agent)
    state, _ = jax.jit(
        lambda state: jax.lax.scan(lambda state, step: (agent.update(state, step, keys[1]), None), state, steps)
    )(state)
    for found, wanted in zip(*map(jax.tree.leaves, (state.learner.agent, expected.agent)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
