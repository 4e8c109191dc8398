"""The algorithms by name."""

from __future__ import annotations

from typing import Any

import pytest
from envcore_baselines import algorithms
from envcore_baselines.errors import ConfigError
from envcore_baselines.es import ES, ESConfig
from envcore_baselines.ppo import PPO, PPOConfig
from toy import Counter


@pytest.mark.parametrize(
    ("name", "kind", "settings"), [("ppo", PPO, PPOConfig(total_steps=4)), ("es", ES, ESConfig(total_steps=4))]
)
def test_a_name_leads_to_its_class(name: str, kind: Any, settings: Any) -> None:
    config = algorithms.config(name, None, {"total_steps": 4})
    assert config == settings
    assert type(algorithms.learner(name, Counter(), Counter().default_params, config)) is kind


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("ppo", {"num_envs": 10**6, "rollout_steps": 10**5}, "an update would take 100,000,000,000 steps: at most 2,1"),
        ("es", {"population_size": 10**7, "episodes": 10**6}, "an update would take 100,000,000,000,000 steps"),
        ("ppo", {"num_envs": 1, "rollout_steps": 4, "total_steps": 10**12}, "are 250,000,000,000 updates, of 4 steps"),
    ],
)
def test_more_steps_than_can_be_counted(name: str, given: Any, message: str) -> None:
    config = algorithms.config(name, None, given)
    with pytest.raises(ConfigError, match=message):
        algorithms.learner(name, Counter(), Counter().default_params, config)


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match="there is no algorithm 'pop'; there are ppo, ppo_rnn, es"):
        algorithms.config("pop", None, {})
