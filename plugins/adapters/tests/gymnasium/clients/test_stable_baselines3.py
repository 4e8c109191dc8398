"""Stable-Baselines3 runs on the environments."""

# Types are checked where PyTorch is not installed.
# pyright: basic, reportMissingImports=false

import warnings

import gymnasium
import numpy as np
import pytest
from envcore_adapters.gymnasium import GymnasiumEnv
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

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
    ("algorithm", "env_id"), [(PPO, "Breakout-MinAtar"), (DQN, "FrozenLake-misc"), (SAC, "Pendulum-v1")]
)
def test_its_algorithms_train(algorithm, env_id):
    settings = {"n_steps": 64} if algorithm is PPO else {"learning_starts": 50}
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


@pytest.mark.slow
def test_ppo_solves_cartpole():
    envs = make_vec_env("envcore_adapters.gymnasium:envcore/CartPole-v1", n_envs=8, seed=0)
    settings = {"n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20}
    settings |= {"learning_rate": lambda left: 1e-3 * left, "clip_range": lambda left: 0.2 * left}
    model = PPO("MlpPolicy", envs, seed=0, device="cpu", **settings)
    model.learn(100_000)
    returns, _ = evaluate_policy(model, envs, n_eval_episodes=40, return_episode_rewards=True)
    assert np.mean(returns) >= 475
