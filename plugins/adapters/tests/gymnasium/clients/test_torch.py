"""Arrays as tensors, and TorchRL on the environments."""

# Types are checked where PyTorch is not installed.
# pyright: basic, reportMissingImports=false

import os
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
import torch
from envcore_adapters.gymnasium import GymnasiumVectorEnv
from gymnasium.vector import AutoresetMode
from torchrl.envs.libs.gym import GymEnv, GymWrapper
from torchrl.envs.utils import check_env_specs

pytestmark = pytest.mark.client


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_tensors(mode):
    ours = GymnasiumVectorEnv("CartPole-v1", 3, autoreset_mode=mode)
    envs = GymnasiumVectorEnv("CartPole-v1", 3, autoreset_mode=mode, arrays="torch")
    np.testing.assert_allclose(envs.reset(seed=0)[0], ours.reset(seed=0)[0], rtol=1e-5)
    for count in range(12):
        actions = torch.tensor([0, 0, count % 2])
        step, expected = envs.step(actions), ours.step(actions.numpy())
        for value, other in zip(step[:4], expected[:4], strict=True):
            assert isinstance(value, torch.Tensor)
            np.testing.assert_allclose(value.numpy(), other, rtol=1e-4, atol=1e-6)
        done = step[2] | step[3]
        if mode is AutoresetMode.SAME_STEP and done.any():
            assert all(isinstance(each, torch.Tensor) for each in step[4]["final_obs"][done.numpy()])
        if mode is AutoresetMode.DISABLED and done.any():
            envs.reset(options={"reset_mask": done})
            ours.reset(options={"reset_mask": done.numpy()})
    assert ours.np_random.bit_generator.state == envs.np_random.bit_generator.state


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Breakout-MinAtar"])
def test_arrays_of_numpy_become_tensors_without_a_warning(env_id):
    env = gymnasium.make(f"envcore_adapters.gymnasium:envcore/{env_id}")
    torch.from_numpy(env.reset(seed=0)[0]).zero_()
    envs = gymnasium.make_vec(f"envcore_adapters.gymnasium:envcore/{env_id}", num_envs=512)
    for each in (envs.reset(seed=0)[0], *envs.step(envs.action_space.sample())[:4]):
        torch.from_numpy(each).zero_()


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "Breakout-MinAtar"])
def test_torchrl_makes_an_environment(env_id):
    env = GymEnv(f"envcore_adapters.gymnasium:envcore/{env_id}")
    check_env_specs(env)
    assert env.rollout(5).batch_size[0] <= 5


PROCESSES = """
from torchrl.envs.libs.gym import GymEnv

if __name__ == "__main__":  # TorchRL spawns
    env = GymEnv("envcore_adapters.gymnasium:envcore/CartPole-v1", num_envs=2)
    assert env.rollout(3, break_when_any_done=False).batch_size == (2, 3)
    env.close()
"""


def test_torchrl_starts_processes(tmp_path):
    (tmp_path / "program.py").write_text(PROCESSES)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, tmp_path / "program.py"], check=True, timeout=600, env=environment)


def test_torchrl_wraps_one():
    env = GymWrapper(gymnasium.make("envcore_adapters.gymnasium:envcore/CartPole-v1"))
    rollout = env.rollout(100, break_when_any_done=False)
    assert rollout["next", "done"].any()


def test_torchrl_wraps_a_batch():
    """It refuses NEXT_STEP, whatever makes the batch."""
    env = GymWrapper(
        gymnasium.make_vec("envcore_adapters.gymnasium:envcore/CartPole-v1", num_envs=4, autoreset_mode="SameStep")
    )
    rollout = env.rollout(60, break_when_any_done=False)
    assert rollout.batch_size == (4, 60)
    assert rollout["next", "done"].any()
