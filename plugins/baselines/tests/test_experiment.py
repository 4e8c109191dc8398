"""Training from Python: what it returns, that it is what the command does, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import envcore_baselines
import jax
import numpy as np
import pytest
from command_line import Run as Command
from envcore.errors import EnvcoreError, FileError, InvalidArgumentError
from envcore.wrappers import FrameStack
from envcore_baselines import training
from envcore_baselines.errors import ConfigError
from envcore_baselines.trained import TrainedAgent
from envcore_baselines.training import Run
from envcore_testing.compilation import programs_compiled
from guessing import Guess
from toy import Counter

SMALL: dict[str, Any] = {"num_envs": 4, "rollout_steps": 8, "epochs": 1, "hidden": (4,), "total_steps": 32 * 9}


@pytest.fixture(autouse=True)
def three_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_POINTS", 3)


@pytest.mark.usefixtures("run")
def test_what_it_returns() -> None:
    seen: list[Any] = []
    found = envcore_baselines.train(
        "ppo", "Counter-v0", seeds=2, seed=7, evaluation_episodes=4, callback=seen.append, **SMALL
    )
    assert found.steps.tolist() == [96, 192, 288] == [point.steps for point in seen]
    assert found.names == ["seed_7", "seed_8"]
    assert found.returns.shape == (3, 2)
    np.testing.assert_array_equal(found.returns, [point.returns for point in seen])
    measured = {"loss", "entropy", "kl", "gradient_norm", "explained_variance", "greedy_return"}
    assert set(found.metrics) == set(seen[0].metrics) == measured
    for name, values in found.metrics.items():
        np.testing.assert_array_equal(values, [point.metrics[name] for point in seen])
        assert np.isfinite(values).all()
    assert np.isnan(seen[0].steps_per_second)  # it was compiled in that time
    assert all(point.steps_per_second > 0 for point in seen[1:])
    assert [agent.run.seed for agent in found.agents] == [7, 8]
    for number, agent in enumerate(found.agents):
        jax.tree.map(lambda x, y: np.testing.assert_array_equal(x[number], y), found.parameters, agent.agent)  # noqa: B023
        obs, _ = agent.env.reset(jax.random.key(0), agent.params)
        action, _ = agent.act(agent.start_memory(), obs, jax.random.key(1))
        assert agent.env.action_space(agent.params).contains(action)


@pytest.mark.slow
def test_the_same_settings_are_compiled_once() -> None:
    def trained(seed: int) -> envcore_baselines.Trained:
        return envcore_baselines.train("ppo", "Catch-bsuite", seed=seed, evaluation_episodes=2, **SMALL)

    first = trained(0)
    before = programs_compiled()
    other = trained(5)
    assert programs_compiled() == before
    assert not np.array_equal(first.metrics["loss"], other.metrics["loss"])


@pytest.mark.slow
def test_it_is_what_the_command_does(run: Command, tmp_path: Path) -> None:
    found = envcore_baselines.train("ppo", "Counter-v0", params={"bonus": 0.25}, out=tmp_path / "python", **SMALL)
    settings = [f"{name}={list(value) if isinstance(value, tuple) else value}" for name, value in SMALL.items()]
    arguments = [argument for setting in settings for argument in ("--setting", setting)]
    code, _, err = run(
        "train", "ppo", "Counter-v0", "--set", "bonus=0.25", "--out", str(tmp_path / "command"), *arguments
    )
    assert (code, err) == (0, "")
    for name in ("run.json", "curve.csv", "checkpoint.safetensors", "curve.png"):
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "command" / name).read_bytes()
    again = envcore_baselines.train("ppo", "Counter-v0", params={"bonus": 0.25}, out=tmp_path / "python", **SMALL)
    np.testing.assert_array_equal(again.returns, found.returns)
    with pytest.raises(FileError, match="holds another run"):
        envcore_baselines.train("ppo", "Counter-v0", out=tmp_path / "python", **SMALL)


@pytest.mark.slow
@pytest.mark.usefixtures("run")
def test_a_callback_ends_it(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"out": tmp_path, **SMALL}
    part = envcore_baselines.train("ppo", "Counter-v0", callback=lambda point: point.steps >= 192, **arguments)
    assert part.steps.tolist() == [96, 192]
    assert (tmp_path / "curve.png").exists()
    whole = envcore_baselines.train("ppo", "Counter-v0", **arguments)
    np.testing.assert_array_equal(whole.returns[:2], part.returns)
    np.testing.assert_array_equal(whole.returns, envcore_baselines.train("ppo", "Counter-v0", **SMALL).returns)


@pytest.mark.usefixtures("run")
def test_a_callback_that_fails_loses_nothing(tmp_path: Path) -> None:
    def prune(point: Any) -> None:
        if point.steps == 192:
            raise KeyError("pruned")

    with pytest.raises(KeyError, match="pruned"):
        envcore_baselines.train("ppo", "Counter-v0", callback=prune, out=tmp_path, **SMALL)
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 3


@pytest.mark.usefixtures("run")
def test_an_error_in_a_chunk_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk, calls = training._point, list[int]()

    def fails(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise MemoryError
        return chunk(*args)

    arguments: dict[str, Any] = {"out": tmp_path, "checkpoint_seconds": 1e9, **SMALL}
    with monkeypatch.context() as patch:
        patch.setattr(training, "_point", fails)
        with pytest.raises(MemoryError):
            envcore_baselines.train("ppo", "Counter-v0", **arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(("seconds", "saved"), [(0, [True, True, True]), (1e9, [False, False, True])])
def test_checkpoints_come_as_often_as_asked(seconds: float, saved: list[bool], tmp_path: Path) -> None:
    path, found = tmp_path / training.CHECKPOINT, list[bool]()
    arguments: dict[str, Any] = {"out": tmp_path, "checkpoint_seconds": seconds, **SMALL}
    envcore_baselines.train("ppo", "Counter-v0", callback=lambda point: found.append(path.exists()), **arguments)
    assert found == saved


@pytest.mark.usefixtures("run")
def test_ranges_and_numbers_of_devices(tmp_path: Path) -> None:
    randomize: Any = {"bonus": (np.float32(0.25), np.float32(0.5))}
    arguments: dict[str, Any] = {**SMALL, "total_steps": 32}
    envcore_baselines.train("ppo", "Counter-v0", randomize=randomize, out=tmp_path, devices=1, **arguments)
    assert Run.load(tmp_path).randomize == {"bonus": [0.25, 0.5]}
    with pytest.raises(EnvcoreError, match="devices"):
        envcore_baselines.train("ppo", "Counter-v0", devices=0, **arguments)


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("algorithm", "env_id", "arguments", "error", "message"),
    [
        ("pop", "Counter-v0", {}, ConfigError, "there is no algorithm 'pop'"),
        ("ppo", "Nope-v0", {}, EnvcoreError, "Nope-v0"),
        ("ppo", "Counter-v0", {"seeds": 0}, InvalidArgumentError, "seeds must be a positive integer, got 0"),
        ("ppo", "Counter-v0", {"seed": -1}, InvalidArgumentError, "seed must be an integer from 0"),
        ("ppo", "Counter-v0", {"speed": 1}, ConfigError, "settings: there is no setting 'speed'"),
        (
            "ppo",
            "Counter-v0",
            {"clip": -1},
            ConfigError,
            "settings: clip must be Weight, got -1: Expected",
        ),
        ("ppo", "Counter-v0", {"minibatches": 5}, ConfigError, "minibatches must divide"),
        ("ppo", "Counter-v0", {"params": {"nope": 1}}, EnvcoreError, "nope"),
        (
            "ppo",
            (Counter(), None),
            {},
            InvalidArgumentError,
            "env must be an id or an environment, without params, got",
        ),
        ("ppo", Counter, {}, InvalidArgumentError, "env must be an id or an environment, without params, got <class"),
        ("ppo", "Counter-v0", {"sweep": {"clip": 0.1}}, ConfigError, "sweep: clip needs a list of values, got 0.1"),
        ("ppo", "Counter-v0", {"evaluation_episodes": -1}, InvalidArgumentError, "evaluation_episodes must be from 0"),
    ],
)
def test_what_does_not_fit(algorithm: str, env_id: Any, arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        envcore_baselines.train(algorithm, env_id, **arguments)


@pytest.mark.usefixtures("run")
def test_an_algorithm_of_the_user(tmp_path: Path) -> None:
    found = envcore_baselines.train(Guess, "Counter-v0", out=tmp_path / "class", total_steps=80)
    assert found.returns[:, 0].tolist() == [12.0, 40.0, 68.0]
    assert found.agents[0].run.algorithm == "guessing:Guess"
    again = envcore_baselines.train("guessing:Guess", "Counter-v0", out=tmp_path / "class", total_steps=80)
    np.testing.assert_array_equal(again.returns, found.returns)
    assert TrainedAgent.of_run(Run.load(tmp_path / "class"), *found.agents[0].run.make(), tmp_path / "class")

    class Local(Guess): ...

    assert envcore_baselines.train(Local, "Counter-v0").agents[0].run.algorithm.endswith("<locals>.Local")
    with pytest.raises(InvalidArgumentError, match=r"the algorithm .* has no name by which a saved run can find it"):
        envcore_baselines.train(Local, "Counter-v0", out=tmp_path / "local")
    assert not (tmp_path / "local").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("run")
def test_an_environment_of_the_user(tmp_path: Path) -> None:
    found = envcore_baselines.train("ppo", Counter(goal=2), params={"bonus": 0.25}, out=tmp_path / "made", **SMALL)
    run = Run.load(tmp_path / "made")
    assert (run.env_id, run.options, run.params) == ("toy:Counter", {"goal": 2}, {"bonus": 0.25})
    assert run.make()[0] == found.agents[0].env == Counter(goal=2)
    named: Any = {"options": {"goal": 2}, "params": {"bonus": 0.25}, **SMALL}
    again = envcore_baselines.train("ppo", "toy:Counter", out=tmp_path / "made", **named)
    np.testing.assert_array_equal(again.returns, found.returns)
    np.testing.assert_array_equal(envcore_baselines.train("ppo", "Counter-v0", **named).returns, found.returns)
    stacked = envcore_baselines.train("ppo", FrameStack(Counter(), 2), **SMALL)
    assert stacked.agents[0].env == FrameStack(Counter(), 2)
    with pytest.raises(InvalidArgumentError, match="FrameStack cannot be saved"):
        envcore_baselines.train("ppo", FrameStack(Counter(), 2), out=tmp_path / "stacked", **SMALL)


@pytest.mark.slow
@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_params_that_are_drawn_for_each_episode(algorithm: str) -> None:
    settings: Any = SMALL if algorithm == "ppo" else {"total_steps": 400}
    found = envcore_baselines.train(algorithm, "Counter-v0", randomize={"bonus": (0.5, 2)}, **settings)
    (agent,) = found.agents
    assert agent.run.randomize == {"bonus": [0.5, 2]}
    assert np.isfinite(found.returns).all()
    assert found.returns.max() > 1.5  # an episode earns three times the bonus, whose default is 0.5
    starts = [agent.env.reset(jax.random.key(seed), agent.params)[1] for seed in range(4)]
    assert len({float(start.episode_params.bonus) for start in starts}) == 4
