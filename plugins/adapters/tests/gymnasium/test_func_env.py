"""`GymnasiumFuncEnv` under Gymnasium's own adapters for functional environments."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import jax
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.wrappers import Batched, LogWrapper
from envcore_adapters.gymnasium import GymnasiumFuncEnv
from gymnasium.envs.functional_jax_env import FunctionalJaxEnv, FunctionalJaxVectorEnv


def test_its_functions_are_pure_and_compile():
    env = GymnasiumFuncEnv("CartPole-v1")
    params = env.get_default_params(max_steps_in_episode=2)
    env.transform(jax.jit)
    key = jax.random.key(0)
    state = env.initial(key, params)
    np.testing.assert_array_equal(env.observation(state, key), env.env.reset(key)[0])
    assert not env.terminal(state, key)
    for terminal in (False, True):
        after = env.transition(state, 1, key, params)
        assert env.reward(state, 1, after, key) == 1
        assert env.terminal(after, key) == terminal == after.truncated
        state = after


def test_under_gymnasiums_adapter():
    env = FunctionalJaxEnv(GymnasiumFuncEnv(LogWrapper(GymnasiumFuncEnv("CartPole-v1").env)), render_mode="rgb_array")
    obs, _ = env.reset(seed=0)
    assert obs.shape == (4,)
    assert env.render().shape == (400, 800, 3)
    ended, count = False, 0
    while not ended:
        _, reward, ended, _, info = env.step(1)
        count += int(reward)
    assert info["returned_episode_returns"] == count > 5
    env.close()


def test_a_batch_under_gymnasiums_adapter():
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        envs = FunctionalJaxVectorEnv(GymnasiumFuncEnv("CartPole-v1"), 3)
        envs.reset(seed=0)
        for _ in range(30):
            obs, *_ = envs.step(envs.action_space.sample())
    assert obs.shape == (3, 4)


def test_a_batch_is_refused():
    with pytest.raises(InvalidArgumentError, match=r"map over one with jax\.vmap"):
        GymnasiumFuncEnv(Batched(GymnasiumFuncEnv("CartPole-v1").env, 2))
