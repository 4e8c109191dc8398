"""`rollout`: what it returns and reports. What it saves is tested in `test_saved_rollout`."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import envcore_runs
import jax
import jax.numpy as jnp
import pytest
import toy
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError
from envcore_runs import run
from envcore_runs.pace import Pace
from envcore_runs.run import RolloutResult, rollout
from rollouts import files, saved, stops_after

pytestmark = pytest.mark.usefixtures("toys", "chunks_of_16_steps")


def act_always(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
    return jnp.int32(1)


def test_it_is_the_package_s_own_function() -> None:
    assert envcore_runs.rollout is rollout
    assert set(envcore_runs.__all__) <= set(dir(envcore_runs))
    with pytest.raises(AttributeError, match="no attribute 'rollouts'"):
        _ = envcore_runs.rollouts  # pyright: ignore


def test_importing_the_package_imports_neither_jax_nor_a_terminal() -> None:
    code = """
import sys
import envcore_runs, envcore_runs.errors, envcore_runs.interrupt, envcore_runs.naming, envcore_runs.choice
assert not {"jax", "numpy", "rich", "typer", "safetensors"} & {*sys.modules}, sorted(sys.modules)
import envcore_runs.run
assert not {"typer", "PIL", "envcore_cli"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_result() -> None:
    result = rollout("Counter-v0", num_envs=3, steps=30, episodes=10, policy=act_always)
    assert (result.num_envs, result.steps, result.resumed_after, result.was_resumed) == (3, 30, 0, False)
    assert (result.statistics.episodes, result.statistics.mean_return) == (30, 1.5)
    assert (result.episodes_per_env, result.unfinished) == (10, 0)
    assert result.steps_per_second == 90 / result.seconds
    assert (result.seconds_left, result.folder) == (0.0, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.steps = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_without_steps_it_takes_a_second_and_measures_an_episode_of_each_environment() -> None:
    shown: list[RolloutResult] = []
    result = rollout("Counter-v0", num_envs=6, progress=shown.append)
    assert result.seconds >= 1
    assert [shown[0].steps, shown[-1].steps] == [0, result.steps]
    assert math.isnan(shown[0].seconds_left)
    assert (result.statistics.episodes, result.unfinished) == (6, 0)


def test_with_episodes_it_goes_on_until_all_environments_have_finished_them(tmp_path: Path) -> None:
    result = rollout("Counter-v0", num_envs=6, episodes=7)
    assert (result.statistics.episodes, result.unfinished) == (42, 0)
    kept = rollout("Counter-v0", num_envs=6, episodes=7, out=tmp_path / "run")
    assert kept.statistics.mean_return == pytest.approx(result.statistics.mean_return, rel=1e-6)
    assert rollout("Counter-v0", num_envs=6, episodes=7, out=tmp_path / "run").statistics == kept.statistics


def test_without_episodes_it_stops_waiting_for_an_endless_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_PATIENCE", 0.2)
    wait = lambda policy_params, obs, key: jnp.int32(0)  # noqa: E731
    result = rollout("Counter-v0", num_envs=6, params={"max_steps_in_episode": NO_TIME_LIMIT}, policy=wait)
    assert (result.unfinished, result.statistics.episodes) == (6, 0)
    assert math.isnan(result.statistics.mean_return)


def test_the_same_seed_gives_the_same_episodes() -> None:
    first, second, third = (rollout("Deck-v0", num_envs=6, steps=50, seed=seed).statistics for seed in (1, 1, 2))
    assert first == second != third


def test_an_environment_in_place_of_an_id(tmp_path: Path) -> None:
    env = toy.Counter(goal=4)
    params = env.default_params.replace(bonus=2.0)
    by_id = rollout("Counter-v0", num_envs=6, steps=60, options={"goal": 4}, params={"bonus": 2.0}).statistics
    for given in (params, {"bonus": 2.0}):
        assert rollout(env, num_envs=6, steps=60, params=given).statistics == by_id
    assert rollout("Counter-v0", num_envs=6, steps=60, options={"goal": 4}, params=params).statistics == by_id


def test_progress_is_shown_before_and_after_every_chunk(tmp_path: Path) -> None:
    shown: list[RolloutResult] = []
    result = saved(tmp_path / "run", progress=shown.append)
    assert [each.steps for each in shown] == [0, 16, 32, 48, 64, 80, 96, 100]
    assert shown[-1] == result
    assert all(each.seconds_left > 0 for each in shown[:-1])


def test_an_interrupt_shows_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[RolloutResult] = []
    stops_after(monkeypatch, 2, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        saved(tmp_path / "run", progress=shown.append)
    assert [each.steps for each in shown] == [0, 16, 32, 32]
    assert (tmp_path / "run" / "checkpoint.safetensors").exists()


def test_a_progress_that_fails_ends_the_rollout_which_goes_on_later(tmp_path: Path) -> None:
    def fail(result: RolloutResult) -> None:
        if result.steps == 32:
            raise RuntimeError("made up")

    saved(tmp_path / "whole")
    with pytest.raises(RuntimeError, match="made up"):
        saved(tmp_path / "run", progress=fail)
    saved(tmp_path / "run")
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_an_endless_rollout_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "seconds", lambda self, steps: steps * 0.001)
    message = r"^steps 900,000,000,000 would take about .* years here: choose less"
    with pytest.raises(InvalidArgumentError, match=message):
        rollout("Counter-v0", num_envs=2, steps=900_000_000_000)


def test_a_result_of_no_steps_has_no_speed(tmp_path: Path) -> None:
    saved(tmp_path / "run")
    assert math.isnan(saved(tmp_path / "run").steps_per_second)
