"""The algorithms by name."""

from __future__ import annotations

import pytest
from envcore_baselines import algorithms
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo import PPO, PPOConfig
from toy import Counter


def test_a_name_leads_to_its_class() -> None:
    config = algorithms.config("ppo", None, {"num_envs": 4})
    assert config == PPOConfig(num_envs=4)
    assert type(algorithms.learner("ppo", Counter(), Counter().default_params, config)) is PPO


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match="there is no algorithm 'pop'; there are ppo"):
        algorithms.config("pop", None, {})
