"""Settings that are swept: their agents are those of runs with each value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import envcore_baselines
import jax
import numpy as np
import pytest
from envcore_baselines import algorithms, training
from envcore_baselines.errors import ConfigError
from envcore_baselines.sweep import Swept
from toy import Counter, Spring

if TYPE_CHECKING:
    from command_line import Run as Command

SMALL: dict[str, Any] = {"num_envs": 4, "rollout_steps": 8, "epochs": 1, "hidden": (4,), "total_steps": 32 * 9}


@pytest.fixture(autouse=True)
def three_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_POINTS", 3)


@pytest.mark.usefixtures("run")
@pytest.mark.slow
def test_agents_of_a_sweep(tmp_path: Path) -> None:
    sweep = {"learning_rate": [1e-3, 1e-2]}
    found = envcore_baselines.train("ppo", "Counter-v0", seeds=2, seed=3, sweep=sweep, out=tmp_path, **SMALL)
    assert found.names == [f"learning_rate={rate} seed_{seed}" for rate in (0.001, 0.01) for seed in (3, 4)]
    assert found.returns.shape == found.metrics["loss"].shape == (3, 4)
    assert [(each.run.config["learning_rate"], each.run.seed) for each in found.agents] == [
        (0.001, 3),
        (0.001, 4),
        (0.01, 3),
        (0.01, 4),
    ]
    for number, rate in enumerate(sweep["learning_rate"]):
        alone = envcore_baselines.train("ppo", "Counter-v0", seeds=2, seed=3, learning_rate=rate, **SMALL)
        np.testing.assert_allclose(found.returns[:, 2 * number : 2 * number + 2], alone.returns, rtol=1e-3)
        weights = jax.tree.leaves(found.agents[2 * number].agent), jax.tree.leaves(alone.agents[0].agent)
        for mine, theirs in zip(*weights, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-5)
    rows = (tmp_path / "curve.csv").read_text().splitlines()
    assert [row.split(",")[1] for row in rows[-4:]] == found.names


@pytest.mark.slow
def test_the_command_trains_a_grid_and_evaluates_it(run: Command, tmp_path: Path) -> None:
    settings = [f"{name}={list(value) if isinstance(value, tuple) else value}" for name, value in SMALL.items()]
    arguments = [argument for setting in settings for argument in ("--setting", setting)]
    sweep = ("--sweep", "learning_rate=1e-4,1e-2", "--sweep", "clip=0.3")
    code, text, err = run("train", "ppo", "Counter-v0", "--seeds", "2", *sweep, *arguments, "--out", str(tmp_path))
    assert (code, err) == (0, "")
    first, header, *rows = text.splitlines()
    assert first.startswith(f"{tmp_path}: 4 agents, 288 steps each; last return ")
    assert header.split() == ["settings", "return", "std", "over", "agents"]
    grid = [f"learning_rate={rate} clip=0.3" for rate in ("0.0001", "0.01")]
    assert sorted(" ".join(row.split()[:2]) for row in rows) == grid
    returns = [float(row.split()[2]) for row in rows]
    assert returns == sorted(returns, reverse=True)
    code, text, err = run("evaluate", str(tmp_path), "--episodes", "4", "--best")
    assert (code, err) == (0, "")
    assert "learning_rate=0.01 clip=0.3 seed_1" in text


@pytest.mark.slow
def test_sampled_actions_are_those_of_the_swept_setting(run: Command, tmp_path: Path) -> None:
    settings = [f"--setting={each}" for each in ("total_steps=64", "min_replay_size=1", "hidden=[4]")]
    train = ("train", "dqn", "Counter-v0", "--set", "max_steps_in_episode=2", "--sweep", "epsilon=0,1")
    assert run(*train, *settings, "--out", str(tmp_path))[0] == 0
    code, text, err = run("evaluate", str(tmp_path), "--sample", "--episodes", "20")
    assert (code, err) == (0, "")
    greedy, random = (row.split() for row in text.splitlines()[2:])
    assert (greedy[0], random[0]) == ("epsilon=0", "epsilon=1")
    assert float(greedy[3]) == 0 < float(random[3])  # deviations of the returns


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("algorithm", "setting", "env"),
    [
        ("es", "std", Counter()),
        ("dqn", "epsilon", Counter()),
        ("pqn", "exploration_fraction", Counter()),
        ("sac", "noise_correlation", Spring()),
    ],
)
def test_numbers_of_other_algorithms(algorithm: str, setting: str, env: Any) -> None:
    config: Any = algorithms.config(algorithm, None, {})

    def make(config: Any) -> Any:
        return algorithms.learner(algorithm, env, env.default_params, config)

    Swept(make, config, [setting])


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("sweep", "settings", "message"),
    [
        ({"speed": [1.0]}, {}, "sweep: there is no setting 'speed'. The settings are "),
        ({"epochs": [1, 2]}, {}, "sweep: epochs cannot be swept, only these can: learning_rate, "),
        ({"learning_rate": [2.0]}, {}, "sweep: learning_rate is 2.0. Expected `float` <= 1.0"),
        ({"learning_rate": []}, {}, "sweep: learning_rate needs a list of values"),
        ({"discount": [0.9]}, {"normalize_rewards": True}, "discount cannot be swept with these settings: train a run"),
    ],
)
def test_what_cannot_be_swept(sweep: Any, settings: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        envcore_baselines.train("ppo", "Counter-v0", sweep=sweep, **{**SMALL, **settings})
