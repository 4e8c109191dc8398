"""The mean return of a rollout is that of whole episodes, however long they are."""

from __future__ import annotations

import math

import pytest
from envcore_runs import rollout

# 4,000 episodes, each played to its end by itself, return 22.17 +- 0.19. Those that end within 60 steps return 19.4,
# within 30 steps 17.1.
MEAN, STD = 22.17, 11.8


@pytest.mark.parametrize(("num_envs", "steps", "episodes"), [(2000, None, None), (2000, 400, 2), (100, None, 20)])
def test_random_cartpole_has_the_mean_of_whole_episodes(num_envs: int, steps: int | None, episodes: int | None) -> None:
    result = rollout("CartPole-v1", num_envs=num_envs, steps=steps, episodes=episodes, seed=1)
    found = result.statistics
    assert found.episodes == num_envs * (episodes or 1)
    assert found.mean_return == pytest.approx(MEAN, abs=4 * math.hypot(0.19, STD / math.sqrt(found.episodes)))


@pytest.mark.parametrize("steps", [30, 60])
def test_a_window_that_cuts_episodes_off_has_no_mean(steps: int) -> None:
    result = rollout("CartPole-v1", num_envs=2000, steps=steps)
    assert 0 < result.unfinished == 2000 - result.statistics.episodes
    assert math.isnan(result.statistics.mean_return)
