"""Seeds of a batch: one for all, one for each, and one for some."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import envcore
import numpy as np
from envcore.wrappers import Batched, LogWrapper
from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv


def test_seeding():
    one, two = (GymnasiumVectorEnv("CartPole-v1", 3) for _ in range(2))
    first = one.reset(seed=2)[0]
    np.testing.assert_array_equal(first, two.reset(seed=2)[0])
    np.testing.assert_array_equal(one.reset()[0], two.reset()[0])
    assert len(np.unique(first[:, 0])) == 3
    assert one.np_random_seed == 2


def test_a_seed_for_each():
    seeds = [7, 2**40, 7]
    envs, again = (GymnasiumVectorEnv("CartPole-v1", 3) for _ in range(2))
    first = envs.reset(seed=seeds)[0]
    alone = [GymnasiumEnv("CartPole-v1").reset(seed=seed)[0] for seed in seeds]
    np.testing.assert_allclose(first, alone, rtol=1e-6)  # another program: XLA may round differently
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_array_equal(again.reset(seed=seeds)[0], first)
    np.testing.assert_array_equal(again.step([0, 1, 0])[0], envs.step([0, 1, 0])[0])
    second = again.reset()[0]
    np.testing.assert_array_equal(second, envs.reset()[0])
    assert len(np.unique(second[:, 0])) == 3


def test_a_seed_for_some():
    def started():
        envs = GymnasiumVectorEnv(LogWrapper(Batched(envcore.make("CartPole-v1")[0], 3)))
        envs.reset(seed=0)
        for _ in range(15):  # all fall
            envs.step([0, 0, 0])
        return envs

    envs, again = started(), started()
    obs, _ = envs.reset(seed=[7, None, 7])
    alone = GymnasiumEnv("CartPole-v1").reset(seed=7)[0]
    np.testing.assert_allclose(obs[[0, 2]], [alone, alone], rtol=1e-6)
    assert not np.allclose(obs[1], alone)
    # What survives an auto-reset does so without a seed only.
    assert (np.asarray(envs.state.returned_episode_lengths) > 0).tolist() == [False, True, False]
    assert (np.asarray(envs.state.time) == 0).all()
    np.testing.assert_array_equal(again.reset(seed=[7, None, 7])[0], obs)
    after, _ = envs.reset(seed=[None, 8, 7], options={"reset_mask": np.array([False, False, True])})
    np.testing.assert_array_equal(after, obs)
