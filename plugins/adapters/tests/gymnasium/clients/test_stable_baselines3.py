"""Stable-Baselines3 runs on the environments."""

# Types are checked where PyTorch is not installed.
# pyright: basic, reportMissingImports=false

import os
import subprocess
import sys
import warnings

import gymnasium
import pytest
from envcore_adapters.gymnasium import GymnasiumEnv
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env

pytestmark = pytest.mark.client

EXAMPLES = ["CartPole-v1", "Acrobot-v1", "Pendulum-v1", "FrozenLake-misc", "DeepSea-bsuite", "Reacher-misc"]


@pytest.mark.parametrize("env_id", EXAMPLES)
def test_passes_its_checker(env_id):
    env = gymnasium.make(f"envcore_adapters.gymnasium:envcore/{env_id}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(?s).*(We recommend you to use a symmetric|flatten).*")
        check_env(env)


@pytest.mark.parametrize(
    ("algorithm", "env_id"),
    [(PPO, "Breakout-MinAtar"), (A2C, "CartPole-v1"), (DQN, "FrozenLake-misc"), (SAC, "Pendulum-v1")],
)
def test_its_algorithms_train(algorithm, env_id):
    settings = {"n_steps": 64} if algorithm in (PPO, A2C) else {"learning_starts": 50}
    model = algorithm("MlpPolicy", f"envcore_adapters.gymnasium:envcore/{env_id}", seed=0, device="cpu", **settings)
    model.learn(128)
    assert model.num_timesteps >= 128


class Legal(gymnasium.Wrapper):
    """Refuses illegal actions."""

    def reset(self, **options):
        obs, info = super().reset(**options)
        self.mask = info["action_mask"]
        return obs, info

    def step(self, action):
        assert self.mask[action]
        obs, *outcome, info = super().step(action)
        self.mask = info["action_mask"]
        return obs, *outcome, info


def test_masked_ppo_takes_legal_actions():
    envs = make_vec_env(lambda: GymnasiumEnv("pgx/2048"), n_envs=2, seed=0, wrapper_class=Legal)
    model = MaskablePPO("MlpPolicy", envs, seed=0, device="cpu", n_steps=64)
    model.learn(256)
    assert model.num_timesteps >= 256


SUBPROCESSES = """
import warnings
import gymnasium
import jax
from envcore_adapters.gymnasium import GymnasiumEnv
from stable_baselines3.common.vec_env import SubprocVecEnv

def make():
    return gymnasium.make("envcore_adapters.gymnasium:envcore/CartPole-v1")

if __name__ == "__main__":
    for method in ("fork", "forkserver"):
        envs = SubprocVecEnv([make, make], start_method=method)
        assert envs.reset().shape == (2, 4)
        assert envs.step([0, 1])[1].tolist() == [1, 1]
        envs.close()
        print(method)
    make().reset()
    jax.devices()
    warnings.simplefilter("ignore")  # JAX's own, of the fork
    SubprocVecEnv([make, make], start_method="fork").reset()
"""


def test_its_processes_may_be_forked_before_jax_starts(tmp_path):
    (tmp_path / "program.py").write_text(SUBPROCESSES)
    done = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        check=False, capture_output=True, text=True, timeout=600, env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    assert done.stdout.split() == ["fork", "forkserver"]
    assert "EnvcoreError: this process was forked after JAX had started" in done.stderr
    assert "'spawn'" in done.stderr
