"""Programs: which lanes share one, and how they run an agent."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.wrappers import FlattenObservation
from envcore_baselines.bsuite import Agent, random_agent
from envcore_baselines.bsuite.program import Program, lanes_of, row_of, shared
from envcore_baselines.errors import ConfigError
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from envcore_bsuite.sweep import EXPERIMENTS, SWEEP
from envcore_bsuite.wrappers import RewardNoise, RewardScale
from periodic import periodic_agent

KEY = jax.random.key(0)


def test_as_few_programs_as_shapes_allow() -> None:
    # 21 sizes of each deep sea, 17 numbers of bits, one of which is memory_len's, 23 of distractors, one of which is
    # umbrella_length's, and one program for each of the other 16 experiments without MNIST's three.
    ids = [bsuite_id for bsuite_id in SWEEP if not bsuite_id.startswith("mnist")]
    found = lanes_of(ids, {})
    assert len(found) == 21 + 21 + 17 + 23 + 14
    assert sorted(each for lanes in found for each in lanes.ids) == sorted(ids)


def test_settings_become_axes_of_params() -> None:
    (members,) = lanes_of(EXPERIMENTS["bandit_noise"].ids, {})
    assert members.params.noise_scale.shape == (20,)
    assert members.params.rewards.shape == (20, 11)
    assert members.axes.env_params.max_steps_in_episode is None
    rewards = envcore.make("bsuite/bandit/1")[1].rewards.astype(np.float32)
    np.testing.assert_array_equal(members.params.rewards[5], rewards)


def rewards(env: Any, params: Any) -> tuple[Any, ...]:
    """Observations, rewards and infos of 60 random steps."""
    _, state = env.reset(KEY, params)

    def body(state: Any, key: jax.Array) -> tuple[Any, Any]:
        action = env.action_space(params).sample(key)
        obs, state, reward, _, info = env.step(key, state, action, params)
        return state, (obs, reward, info)

    return jax.lax.scan(body, state, jax.random.split(KEY, 60))[1]


@pytest.mark.parametrize(
    "env_id",
    [
        "bandit_noise/7",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("cartpole_swingup/7", "deep_sea/1", "discounting_chain/3", "memory_len/9")
        ),
    ],
)
def test_shared_program_with_its_params_is_the_environment(env_id: str) -> None:
    env, params = envcore.make(f"bsuite/{env_id}")
    other = shared(env)
    assert other != env
    jax.tree.map(np.testing.assert_array_equal, rewards(other, params), rewards(env, params))


def test_shared_program_reaches_through_wrappers() -> None:
    first = FlattenObservation(RewardNoise(RewardScale(DeepSea(5, mapping_seed=3), 2.0), 1.0))
    second = FlattenObservation(RewardNoise(RewardScale(DeepSea(5, randomize_actions=False), 3.0), 7.0))
    assert shared(first) == shared(second)
    assert shared(first) != shared(FlattenObservation(RewardNoise(RewardScale(DeepSea(6), 2.0), 1.0)))
    assert shared(DeepSea(5)) != shared(DeepSea(5, deterministic=False))
    assert shared(Catch(4, 4)) == Catch(4, 4)


def counting_agent(env: Any) -> Agent:
    """Sums up everything that it is given."""

    def update(state: dict[str, Any], transition: Any, key: jax.Array) -> dict[str, Any]:
        return {
            "updates": state["updates"] + 1,
            "ends": state["ends"] + transition.done.astype(jnp.int32),
            "discounts": state["discounts"] + transition.info["discount"],
            "rewards": state["rewards"] + transition.reward,
            "final": jnp.where(transition.done, transition.next_obs.sum(), state["final"]),
            "acts": state["acts"],
        }

    def act(state: dict[str, Any], obs: jax.Array, key: jax.Array) -> tuple[jax.Array, dict[str, Any]]:
        return env.action_space(env.default_params).sample(key), {**state, "acts": state["acts"] + 1}

    counts = {name: jnp.int32(0) for name in ("updates", "ends", "acts")}
    sums = {name: jnp.float32(0) for name in ("discounts", "rewards", "final")}
    return Agent(lambda key: {**counts, **sums, "final": jnp.float32(-1)}, act, update)


def test_an_agent_sees_every_step() -> None:
    (members,) = lanes_of(EXPERIMENTS["deep_sea"].ids[:1], {})
    program = Program(members, counting_agent)
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        state, _, row = program.advance(program.start(KEY), np.array([3]), 1000)
    agent = state.agent_state
    assert (int(agent["updates"][0]), int(agent["acts"][0]), int(agent["ends"][0])) == (30, 30, 3)
    assert float(agent["discounts"][0]) == 27
    assert float(agent["final"][0]) == 0  # the last observation of a dive, not the first of the next one
    np.testing.assert_allclose(agent["rewards"], state.gain.total, rtol=1e-6)
    assert int(row["steps"][0]) == 30


def test_only_one_branch_is_executed_if_it_depends_on_the_number_of_the_step() -> None:
    steps: list[int] = []
    (members,) = lanes_of(EXPERIMENTS["bandit"].ids, {})
    program = Program(members, lambda env: periodic_agent(env, lambda step: steps.append(int(step))))
    nothing = np.zeros(20, np.int32)
    start = program.start(KEY)
    state, *_ = program.advance(start, nothing, 6)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(start))  # a replay buffer is not copied
    sums = state.agent_state["rewards"].sum(1)
    state, *_ = program.advance(state, nothing, 8)
    jax.effects_barrier()
    assert set(steps) == {6, 13}  # with a batched predicate, every step
    np.testing.assert_allclose(state.agent_state["learned"], state.gain.total, rtol=1e-6)
    assert (sums > 0).all()


def test_something_other_than_an_agent() -> None:
    (members,) = lanes_of(EXPERIMENTS["bandit"].ids, {})
    with pytest.raises(ConfigError, match=r"must return an envcore_baselines.bsuite.Agent, got <function"):
        Program(members, lambda env: lambda obs: 0)  # pyright: ignore[reportArgumentType, reportReturnType]


def test_it_stops_at_an_awaited_episode_or_after_max_steps() -> None:
    (members,) = lanes_of(EXPERIMENTS["umbrella_length"].ids[1:3], {})  # episodes of 2 and 3 steps
    program = Program(members, random_agent)
    state, done, _ = program.advance(program.start(KEY), np.array([0, 2]), 100)
    assert (state.steps.tolist(), state.episode.tolist(), done.tolist()) == ([6, 6], [3, 2], [True, True])
    state, done, _ = program.advance(state, np.array([0, 3]), 2)
    assert (state.steps.tolist(), done.tolist()) == ([8, 8], [True, False])
    state, done, _ = program.advance(state, np.array([0, 3]), 1)
    assert (state.steps.tolist(), done.tolist()) == ([9, 9], [False, True])


@pytest.mark.slow
@pytest.mark.parametrize("make_agent", [random_agent, periodic_agent])
def test_a_lane_does_not_depend_on_the_others(make_agent: Any) -> None:
    ids = EXPERIMENTS["memory_len"].ids
    rows = []
    for lanes, lane in ((lanes_of(ids, {})[0], 4), (lanes_of(ids[4:5], {})[0], 0)):
        awaited = np.zeros(len(lanes.ids), np.int32)
        awaited[lane] = 200
        program = Program(lanes, make_agent)
        rows.append(row_of(jax.device_get(program.advance(program.start(KEY), awaited, 10**6)[2]), lane))
    assert rows[0] == rows[1]


def test_rows_are_in_the_fewest_digits() -> None:
    (members,) = lanes_of(["bandit/0"], {})
    rewards = members.params.rewards.round(1).tolist()
    arm = rewards.index(0.1) if 0.1 in rewards else int(np.argmin(np.abs(members.params.rewards - 0.1)))
    program = Program(
        members, lambda env: random_agent(env)._replace(act=lambda state, obs, key: (jnp.int32(arm), state))
    )
    _, _, row = program.advance(program.start(KEY), np.array([1000]), 10_000)
    assert row_of(jax.device_get(row), 0) == {
        "steps": 1000,
        "episode": 1000,
        "total_return": 100.0,
        "episode_len": 1,
        "episode_return": 0.1,
        "total_regret": 900.0,
    }


def test_an_agents_state_keeps_its_types() -> None:
    (members,) = lanes_of(EXPERIMENTS["bandit"].ids, {})
    agent = Agent(lambda key: 0, lambda state, obs, key: (jnp.int32(0), state), lambda state, step, key: state + 0.5)
    program = Program(members, lambda env: agent)
    with pytest.raises(ConfigError, match=r"the agent's state after act and update.* must be int32, got float32"):
        program.advance(program.start(KEY), np.zeros(20), 1)
