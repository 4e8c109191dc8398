"""`VectorProgram`: the autoreset modes, as `GymnasiumVectorEnv` has them."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import dataclasses

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_adapters.gymnasium import GymnasiumVectorEnv
from flax import struct
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode


@struct.dataclass
class Count(envcore.EnvState):
    start: jax.Array
    count: jax.Array


@dataclasses.dataclass(frozen=True)
class Counter(envcore.Environment):
    """Counts from a random start, by what the action says; terminates at 3 steps, or truncates at 2."""

    @property
    def default_params(self):
        return envcore.EnvParams(max_steps_in_episode=2)

    def init_state(self, draws, params):
        start = envcore.random.uniform(draws, (), 1, 100)
        return Count(start=start, count=start)

    def transition(self, state, action, draws, params):
        count = state.count + 1
        return state.replace(count=count), action.astype(jnp.float32), action == 2, {"count": count}

    def observe(self, state, params):
        return jnp.stack([state.count, state.time.astype(jnp.float32)])

    def action_space(self, params):
        return envcore.spaces.Discrete(3)

    def observation_space(self, params):
        return envcore.spaces.Box(0, np.inf, (2,))


def played(mode, actions, arrays="numpy"):
    envs = GymnasiumVectorEnv(Counter(), 2, autoreset_mode=mode, arrays=arrays)
    obs, _ = envs.reset(seed=0)
    return [(obs, None, None, None, {}), *(envs.step(np.array(each)) for each in actions)]


@pytest.mark.slow
def test_next_step():
    """The first copy terminates at once, the second is truncated after two steps."""
    steps = played(AutoresetMode.NEXT_STEP, [(2, 1), (1, 1), (1, 1), (1, 1)])
    times, rewards, terminated, truncated = ([np.asarray(x).tolist() for x in part] for part in columns(steps))
    assert times == [[0, 0], [1, 1], [0, 2], [1, 0], [2, 1]]
    assert rewards == [[2, 1], [0, 1], [1, 0], [1, 1]]
    assert terminated == [[True, False], [False, False], [False, False], [False, False]]
    assert truncated == [[False, False], [False, True], [False, False], [True, False]]
    assert [step[4]["_count"].tolist() for step in steps[1:]] == [[True] * 2, [False, True], [True, False], [True] * 2]
    assert steps[2][4]["count"][0] == 0
    assert steps[2][4]["count"][1] == steps[2][0][1, 0]


def columns(steps):
    return (
        [step[0][:, 1] for step in steps],
        [step[1] for step in steps[1:]],
        [step[2] for step in steps[1:]],
        [step[3] for step in steps[1:]],
    )


@pytest.mark.parametrize("arrays", ["numpy", "jax"])
def test_same_step(arrays):
    steps = played(AutoresetMode.SAME_STEP, [(2, 1), (1, 1), (1, 1)], arrays)
    times, rewards, terminated, truncated = ([np.asarray(x).tolist() for x in part] for part in columns(steps))
    assert times == [[0, 0], [0, 1], [1, 0], [0, 1]]
    assert rewards == [[2, 1], [1, 1], [1, 1]]
    assert terminated == [[True, False], [False, False], [False, False]]
    assert truncated == [[False, False], [False, True], [True, False]]
    first, second = steps[1][4], steps[2][4]
    assert first["_final_obs"].tolist() == [True, False]
    assert first["final_obs"].dtype == object
    assert first["final_obs"][1] is None
    np.testing.assert_array_equal(first["final_obs"][0], np.asarray(steps[0][0])[0] + 1)
    np.testing.assert_array_equal(second["final_obs"][1], np.asarray(steps[1][0])[1] + 1)
    assert first["_final_info"].tolist() == np.asarray(first["final_info"]["_count"]).tolist() == [True, False]
    assert first["final_info"]["count"][0] == first["final_obs"][0][0]
    assert np.asarray(first["_count"]).tolist() == [False, True]


def test_disabled():
    envs = GymnasiumVectorEnv(Counter(), 2, autoreset_mode="Disabled")
    envs.reset(seed=0)
    obs, _, terminated, truncated, _ = envs.step(np.array([2, 1]))
    assert obs[:, 1].tolist() == [1, 1]
    assert terminated.tolist() == [True, False]
    ended = terminated | truncated
    terminated[:] = False  # the caller's own array
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.step(np.array([1, 1]))
    after, infos = envs.reset(options={"reset_mask": ended})
    assert infos == {}
    assert after[:, 1].tolist() == [0, 1]
    np.testing.assert_array_equal(after[1], obs[1])
    assert after[0, 0] != obs[0, 0] - 1
    obs, _, _, truncated, _ = envs.step(np.array([1, 1]))
    assert obs[:, 1].tolist() == [1, 2]
    assert truncated.tolist() == [False, True]
    envs.reset(seed=1, options={"reset_mask": truncated})
    envs.step(np.array([1, 1]))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ["Breakout-MinAtar", "CartPole-v1"])
def test_arrays_of_jax_are_the_same(env_id):
    envs, alone = GymnasiumVectorEnv(env_id, 100), GymnasiumVectorEnv(env_id, 100, arrays="jax")
    actions = np.arange(100) % 2
    results = [(each.reset(seed=0)[0], each.step(actions)[:4]) for each in (envs, alone)]
    for ours, theirs in zip(*map(jax.tree.leaves, results), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
