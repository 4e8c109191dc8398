from __future__ import annotations

from envcore_bsuite import experiments
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.catch import Catch
from envcore_bsuite.wrappers import RewardNoise, RewardScale


def test_options_of_the_environment_inside() -> None:
    assert experiments.bandit_noise(0.5, 3, 4) == RewardNoise(SimpleBandit(3, 4), 0.5)
    assert experiments.bandit_scale(0.5, 3, 4) == RewardScale(SimpleBandit(3, 4), 0.5)
    assert experiments.catch_noise(2.0) == RewardNoise(Catch(), 2.0)
