"""`DmEnv` passes dm_env's own tests, and steps the environment of envcore."""

import dm_env
import envcore
import jax
import numpy as np
import pytest
from absl.testing import absltest
from dm_env import specs, test_utils
from envcore import spaces
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.wrappers import Batched
from envcore_adapters.dm_env import DmEnv, to_spec

IDS = [found.spec.id for found in envcore.registry.values() if not found.spec.family and "MNIST" not in found.spec.id]
QUICK = ("CartPole-v1", "Pendulum-v1", "DeepSea-bsuite")


class OfficialTests(test_utils.EnvironmentTestMixin, absltest.TestCase):
    __test__ = False  # pytest would collect it without an environment
    env_id = ""

    def make_object_under_test(self, **unused_kwargs):
        return DmEnv(self.env_id, {"max_steps_in_episode": 30}, seed=0)

    def make_action_sequence(self):
        return (self.make_action() for _ in range(40))


@pytest.mark.parametrize("name", absltest.TestLoader().getTestCaseNames(OfficialTests))
@pytest.mark.parametrize(
    "env_id", [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in IDS]
)
def test_passes_dm_envs_own_tests(env_id, name):
    case = OfficialTests(name)
    case.env_id = env_id
    result = case.run()
    assert result is not None
    assert result.testsRun == 1
    assert result.wasSuccessful(), result.failures + result.errors


def test_an_episode():
    env = DmEnv("Catch-bsuite", seed=1)
    assert env.step(0).first()
    steps = [env.step(1) for _ in range(9)]
    assert [step.step_type for step in steps] == [dm_env.StepType.MID] * 8 + [dm_env.StepType.LAST]
    assert [step.discount for step in steps] == [1.0] * 8 + [0.0]
    assert steps[-1].reward in (-1.0, 1.0)
    assert env.step(0).first()


def test_a_time_limit_is_a_truncation():
    env = DmEnv("CartPole-v1", {"max_steps_in_episode": 2}, seed=0)
    env.reset()
    last = [env.step(0), env.step(1)][-1]
    assert last.last()
    assert last.discount == 1


def test_seeds():
    def first(seed):
        return DmEnv("CartPole-v1", seed=seed).reset().observation

    np.testing.assert_array_equal(first(3), first(3))
    assert not np.array_equal(first(3), first(4))
    assert not np.array_equal(first(None), first(None))


def test_observations_are_new_and_writable():
    env, other = DmEnv("Breakout-MinAtar", seed=0), DmEnv("Breakout-MinAtar", seed=0)
    for step in (env.reset(), env.step(0)):
        step.observation[...] = False
    other.reset()
    other.step(0)
    np.testing.assert_array_equal(env.step(0).observation, other.step(0).observation)


SPECS = [
    (spaces.Discrete(3), specs.DiscreteArray(3, np.int32, "x")),
    (spaces.MultiDiscrete([2, 3]), specs.BoundedArray((2,), np.int32, 0, [1, 2], "x")),
    (spaces.Box(-1, 1, (2,)), specs.BoundedArray((2,), np.float32, -1, 1, "x")),
    (spaces.Box(-np.inf, np.inf, (2,)), specs.Array((2,), np.float32, "x")),
    (spaces.Box(-np.inf, 1, (2,)), specs.BoundedArray((2,), np.float32, -np.inf, 1, "x")),
    (spaces.Box(False, True, (2,), np.bool_), specs.BoundedArray((2,), np.bool_, False, True, "x")),
]


@pytest.mark.parametrize(("space", "spec"), SPECS, ids=repr)
def test_the_spec_of_a_space(space, spec):
    assert to_spec(space, "x") == spec
    for seed in range(3):
        spec.validate(np.asarray(space.sample(jax.random.key(seed))))


def test_bad_arguments_are_reported():
    env = DmEnv("CartPole-v1", seed=0)
    env.reset()
    with pytest.raises(InvalidActionError, match="got 2"):
        env.step(2)
    with pytest.raises(InvalidArgumentError, match="seed must be a non-negative integer or None, got"):
        DmEnv("CartPole-v1", seed=-1)
    with pytest.raises(InvalidArgumentError, match="pass a single one"):
        DmEnv(Batched(env.env, 2))
