"""Training from Python: what it returns, that it is what the command does, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import envcore_baselines
import jax
import numpy as np
import pytest
from command_line import Run
from envcore.errors import EnvcoreError, FileError, InvalidArgumentError
from envcore_baselines import training
from envcore_baselines.errors import ConfigError

SMALL: dict[str, Any] = {"num_envs": 4, "rollout_steps": 8, "epochs": 1, "hidden": (4,), "total_steps": 32 * 9}


@pytest.fixture(autouse=True)
def three_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_POINTS", 3)


@pytest.mark.usefixtures("run")
def test_what_it_returns() -> None:
    seen: list[Any] = []
    found = envcore_baselines.train(
        "ppo", "Counter-v0", seeds=2, seed=7, callback=lambda *point: seen.append(point), **SMALL
    )
    assert found.steps.tolist() == [96, 192, 288] == [steps for steps, _ in seen]
    assert found.returns.shape == (3, 2)
    np.testing.assert_array_equal(found.returns, [returns for _, returns in seen])
    assert [agent.run.seed for agent in found.agents] == [7, 8]
    for number, agent in enumerate(found.agents):
        jax.tree.map(lambda x, y: np.testing.assert_array_equal(x[number], y), found.parameters, agent.agent)  # noqa: B023
        obs, _ = agent.env.reset(jax.random.key(0), agent.params)
        action, _ = agent.act(agent.start_memory(), obs, jax.random.key(1))
        assert agent.env.action_space(agent.params).contains(action)


def test_it_is_what_the_command_does(run: Run, tmp_path: Path) -> None:
    found = envcore_baselines.train("ppo", "Counter-v0", params={"bonus": 0.25}, out=tmp_path / "python", **SMALL)
    settings = [f"{name}={list(value) if isinstance(value, tuple) else value}" for name, value in SMALL.items()]
    arguments = [argument for setting in settings for argument in ("--setting", setting)]
    code, _, err = run(
        "train", "ppo", "Counter-v0", "--set", "bonus=0.25", "--out", str(tmp_path / "command"), *arguments
    )
    assert (code, err) == (0, "")
    for name in ("run.json", "curve.csv", "checkpoint.safetensors"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    again = envcore_baselines.train("ppo", "Counter-v0", params={"bonus": 0.25}, out=tmp_path / "python", **SMALL)
    np.testing.assert_array_equal(again.returns, found.returns)
    with pytest.raises(FileError, match="holds another run"):
        envcore_baselines.train("ppo", "Counter-v0", out=tmp_path / "python", **SMALL)


@pytest.mark.usefixtures("run")
def test_a_callback_ends_it(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"out": tmp_path, **SMALL}
    part = envcore_baselines.train("ppo", "Counter-v0", callback=lambda steps, returns: steps >= 192, **arguments)
    assert part.steps.tolist() == [96, 192]
    whole = envcore_baselines.train("ppo", "Counter-v0", **arguments)
    np.testing.assert_array_equal(whole.returns[:2], part.returns)
    np.testing.assert_array_equal(whole.returns, envcore_baselines.train("ppo", "Counter-v0", **SMALL).returns)


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("algorithm", "env_id", "arguments", "error", "message"),
    [
        ("pop", "Counter-v0", {}, ConfigError, "there is no algorithm 'pop'"),
        ("ppo", "Nope-v0", {}, EnvcoreError, "Nope-v0"),
        ("ppo", "Counter-v0", {"seeds": 0}, InvalidArgumentError, "seeds must be a positive integer, got 0"),
        ("ppo", "Counter-v0", {"seed": -1}, InvalidArgumentError, "seed must be an integer from 0"),
        ("ppo", "Counter-v0", {"speed": 1}, ConfigError, "settings: there is no setting 'speed'"),
        ("ppo", "Counter-v0", {"clip": -1}, ConfigError, "settings: clip must be a number from 0 to 10, got -1"),
        ("ppo", "Counter-v0", {"minibatches": 5}, ConfigError, "minibatches must divide"),
        ("ppo", "Counter-v0", {"params": {"nope": 1}}, EnvcoreError, "nope"),
    ],
)
def test_what_does_not_fit(algorithm: str, env_id: str, arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        envcore_baselines.train(algorithm, env_id, **arguments)
