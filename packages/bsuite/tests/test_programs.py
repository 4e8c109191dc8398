"""Programs: which lanes share one, and how they run an agent."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite.agents import Agent, policy_agent, random_agent
from envcore_bsuite.errors import RunError
from envcore_bsuite.programs import Lane, Program, group
from envcore_bsuite.sweep import EXPERIMENTS, SWEEP
from periodic import periodic_agent

KEY = jax.random.key(0)


def lanes_of(*names: str) -> list[Lane]:
    return [Lane(bsuite_id, 0) for name in names for bsuite_id in EXPERIMENTS[name].ids]


def test_as_few_programs_as_shapes_allow() -> None:
    # 21 sizes of each deep sea, 17 numbers of bits, one of which is memory_len's, 23 of distractors, one of which is
    # umbrella_length's, and one program for each of the other 16 experiments without MNIST's three.
    lanes = [Lane(bsuite_id, 0) for bsuite_id in SWEEP if not bsuite_id.startswith("mnist")]
    groups = group(lanes, {})
    assert len(groups) == 21 + 21 + 17 + 23 + 14
    assert sorted(lane for each in groups for lane in each.lanes) == sorted(lanes)


def test_settings_become_axes_of_params() -> None:
    (members,) = group(lanes_of("bandit_noise"), {})
    assert members.params.noise_scale.shape == (20,)
    assert members.params.rewards.shape == (20, 11)
    assert members.axes.env_params.max_steps_in_episode is None
    rewards = envcore.make("bsuite/bandit/1")[1].rewards.astype(np.float32)
    np.testing.assert_array_equal(members.params.rewards[5], rewards)


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
    (members,) = group(lanes_of("deep_sea")[:1], {})
    program = Program(members, counting_agent)
    progress, ended = program.advance(program.start(KEY), np.array([3]), 1000)
    agent = progress.agent_state
    assert (int(agent["updates"][0]), int(agent["acts"][0]), int(agent["ends"][0])) == (30, 30, 3)
    assert float(agent["discounts"][0]) == 27
    assert float(agent["final"][0]) == 0  # the last observation of a dive, not the first of the next one
    np.testing.assert_allclose(agent["rewards"], progress.total_return, rtol=1e-6)
    assert program.row(progress, ended, 0)["steps"] == 30


def test_only_one_branch_is_executed_if_it_depends_on_the_number_of_the_step() -> None:
    steps: list[int] = []
    (members,) = group(lanes_of("bandit"), {})
    program = Program(members, lambda env: periodic_agent(env, lambda step: steps.append(int(step))))
    nothing = np.zeros(20, np.int32)
    progress, _ = program.advance(program.start(KEY), nothing, 6)
    sums = progress.agent_state["rewards"].sum(1)
    progress, _ = program.advance(progress, nothing, 8)
    jax.effects_barrier()
    assert set(steps) == {6, 13}  # with a batched predicate, every step
    np.testing.assert_allclose(progress.agent_state["learned"], progress.total_return, rtol=1e-6)
    assert (sums > 0).all()


def test_something_other_than_an_agent() -> None:
    (members,) = group(lanes_of("bandit"), {})
    with pytest.raises(RunError, match=r"make_agent\(env\) must return an envcore_bsuite.agents.Agent, got <function"):
        Program(members, lambda env: lambda obs: 0)  # pyright: ignore[reportArgumentType, reportReturnType]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (lambda state: {**state, "more": 1}, "must be dict, got one with an extra"),
        (lambda state: {"values": state["values"][:5]}, r"\['values'\] must have shape \(11,\), got \(5,\)"),
        (lambda state: {"values": state["values"].astype(jnp.float32)}, r"\['values'\] must be int32, got float32"),
    ],
)
def test_an_agents_state_keeps_its_types(after: Any, message: str) -> None:
    (members,) = group(lanes_of("bandit"), {})

    def make_agent(env: Any) -> Agent:
        return Agent(
            init=lambda key: {"values": jnp.zeros(11, jnp.int32)},
            act=lambda state, obs, key: (jnp.int32(0), state),
            update=lambda state, transition, key: after(state),
        )

    program = Program(members, make_agent)
    with pytest.raises(RunError, match=f"the agent's state after act and update.*{message}"):
        program.advance(program.start(KEY), np.zeros(20), 1)


def test_an_agents_state_may_begin_as_pythons_numbers() -> None:
    (members,) = group(lanes_of("bandit"), {})
    agent = Agent(lambda key: 0, lambda state, obs, key: (jnp.int32(0), state), lambda state, step, key: state + 1)
    program = Program(members, lambda env: agent)
    progress, _ = program.advance(program.start(KEY), np.zeros(20), 7)
    assert progress.agent_state.tolist() == [7] * 20


def test_it_stops_at_an_awaited_episode_or_after_max_steps() -> None:
    (members,) = group(lanes_of("umbrella_length")[1:3], {})  # episodes of 2 and 3 steps
    program = Program(members, random_agent)
    progress, ended = program.advance(program.start(KEY), np.array([0, 2]), 100)
    assert (progress.steps.tolist(), progress.episode.tolist(), ended.done.tolist()) == ([6, 6], [3, 2], [True, True])
    progress, ended = program.advance(progress, np.array([0, 3]), 2)
    assert (progress.steps.tolist(), ended.done.tolist()) == ([8, 8], [True, False])
    progress, ended = program.advance(progress, np.array([0, 3]), 1)
    assert (progress.steps.tolist(), ended.done.tolist()) == ([9, 9], [False, True])


@pytest.mark.slow
@pytest.mark.parametrize("make_agent", [random_agent, periodic_agent])
def test_a_lane_does_not_depend_on_the_others(make_agent: Any) -> None:
    ids = EXPERIMENTS["memory_len"].ids
    (many,), (one,) = group([Lane(each, 0) for each in ids], {}), group([Lane(ids[4], 0)], {})
    together, alone = Program(many, make_agent), Program(one, make_agent)
    rows = []
    for program, lane in ((together, 4), (alone, 0)):
        awaited = np.zeros(len(program.group.lanes), np.int32)
        awaited[lane] = 200
        rows.append(program.row(*program.advance(program.start(KEY), awaited, 10**6), lane))
    assert rows[0] == rows[1]


def test_lanes_and_repeats_draw_differently() -> None:
    lanes = [Lane("bandit/0", 0), Lane("bandit/0", 1), Lane("bandit/1", 0)]
    (members,) = group(lanes, {})
    program = Program(members, random_agent)
    progress, _ = program.advance(program.start(KEY), np.array([50, 0, 0]), 100)
    assert len(set(progress.total_return.tolist())) == 3


def test_rows_are_in_the_fewest_digits() -> None:
    (members,) = group([Lane("bandit/0", 0)], {})
    rewards = members.params.rewards.round(1).tolist()
    arm = rewards.index(0.1) if 0.1 in rewards else int(np.argmin(np.abs(members.params.rewards - 0.1)))
    program = Program(members, policy_agent(lambda params, obs, key: jnp.int32(arm)))
    assert program.row(*program.advance(program.start(KEY), np.array([1000]), 10_000), 0) == {
        "steps": 1000,
        "episode": 1000,
        "total_return": 100.0,
        "episode_len": 1,
        "episode_return": 0.1,
        "total_regret": 900.0,
    }
