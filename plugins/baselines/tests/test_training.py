"""Training: what it returns, that an interrupted run ends like a whole one, bit for bit, and its errors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import envcore_baselines
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from command_line import Run as Command
from envcore.errors import EnvcoreError, FileError, InvalidArgumentError
from envcore_baselines import training
from envcore_baselines.errors import ConfigError
from envcore_runs import checkpoint
from envcore_runs.folder import CHECKPOINT
from envcore_testing.compilation import programs_compiled
from guessing import Guess, GuessState
from toy import Counter

SMALL: dict[str, Any] = {"num_envs": 4, "rollout_steps": 8, "epochs": 1, "hidden": (4,), "total_steps": 32 * 9}

pytestmark = pytest.mark.usefixtures("run")


@pytest.fixture(autouse=True)
def three_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve has three points."""
    monkeypatch.setattr(training, "_POINTS", 3)


def train(**arguments: Any) -> envcore_baselines.TrainingResult:
    return envcore_baselines.train("ppo", "Counter-v0", **{**SMALL, **arguments})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_it_returns() -> None:
    seen: list[Any] = []
    found = train(seeds=2, seed=7, evaluation_episodes=4, callback=seen.append)
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
    assert not np.allclose(*found.parameters.network["params"]["Dense_0"]["kernel"])
    alone = train(seed=8)  # up to rounding: a batch of another size is another program
    np.testing.assert_allclose(alone.returns[:, 0], found.returns[:, 1], rtol=1e-4)


@pytest.mark.slow
def test_the_same_settings_are_compiled_once() -> None:
    first = train(evaluation_episodes=2)
    before = programs_compiled()
    other = train(evaluation_episodes=2, seed=5)
    assert programs_compiled() == before
    assert not np.array_equal(first.metrics["loss"], other.metrics["loss"])


@pytest.mark.slow
def test_it_is_what_the_command_does(run: Command, tmp_path: Path) -> None:
    found = train(params={"bonus": 0.25}, out=tmp_path / "python")
    settings = [f"{name}={list(value) if isinstance(value, tuple) else value}" for name, value in SMALL.items()]
    arguments = [argument for setting in settings for argument in ("--setting", setting)]
    code, _, err = run(
        "train", "ppo", "Counter-v0", "--set", "bonus=0.25", "--out", str(tmp_path / "command"), *arguments
    )
    assert (code, err) == (0, "")
    assert sorted(files(tmp_path / "python")) == [CHECKPOINT, "curve.csv", "curve.png", "run.json"]
    assert files(tmp_path / "python") == files(tmp_path / "command")
    again = train(params={"bonus": 0.25}, out=tmp_path / "python")
    np.testing.assert_array_equal(again.returns, found.returns)
    with pytest.raises(FileError, match=r"holds another run: its params\.bonus is 0\.25"):
        train(out=tmp_path / "python")


def test_a_run_that_was_killed_or_ended_by_its_callback_continues_to_the_same_bytes(tmp_path: Path) -> None:
    def copied(point: Any) -> None:
        shutil.copytree(tmp_path / "whole", tmp_path / str(point.steps))

    arguments: dict[str, Any] = {"seeds": 2, "evaluation_episodes": 2, "checkpoint_seconds": 0}
    train(out=tmp_path / "whole", callback=copied, **arguments)
    part = train(out=tmp_path / "ended", callback=lambda point: point.steps >= 192, **arguments)
    assert part.steps.tolist() == [96, 192]
    assert (tmp_path / "ended" / "curve.png").exists()
    for name in ("96", "192", "ended"):
        assert len((tmp_path / name / "curve.csv").read_text().splitlines()) < 7
        train(out=tmp_path / name, **arguments)
        assert files(tmp_path / name) == files(tmp_path / "whole")


def test_a_full_disk_loses_what_followed_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, calls = checkpoint.save, list[int]()

    def full(path: Path, *args: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise FileError(f"cannot write {path}: No space left on device.")
        save(path, *args)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", full)
        with pytest.raises(FileError, match="No space left"):
            train(out=tmp_path / "full", checkpoint_seconds=0)
    train(out=tmp_path / "full", callback=lambda point: calls.append(point.steps))
    assert calls[2:] == [192, 288]
    train(out=tmp_path / "whole")
    assert files(tmp_path / "full") == files(tmp_path / "whole")


class Peaking(Guess):
    """Counts in its greedy episodes, and returns most in training, in an update that depends on the seed."""

    def init(self, key: jax.Array) -> Any:
        return GuessState(jnp.stack([jnp.int32(0), jax.random.key_data(key)[1].astype(jnp.int32)]))

    def update(self, state: GuessState) -> Any:
        agent = state.agent + jnp.array([1, 0])
        return GuessState(agent), {"returns": self.is_best(agent).astype(jnp.float32), "episodes": jnp.int32(1)}

    def act(self, agent: jax.Array, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[Any, Any]:
        return self.is_best(agent).astype(jnp.int32), memory

    def is_best(self, agent: jax.Array) -> jax.Array:
        return agent[0] == 1 + 2 * agent[1]


@pytest.mark.parametrize("episodes", [0, 2])
def test_each_agent_is_kept_at_its_best_point(episodes: int, tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"seeds": 2, "evaluation_episodes": episodes, "total_steps": 12, "out": tmp_path}
    envcore_baselines.train(Peaking, "Counter-v0", callback=lambda point: point.steps == 4, **arguments)
    found = envcore_baselines.train(Peaking, "Counter-v0", **arguments)
    assert [int(each.agent[0]) for each in found.agents] == [3, 3]
    assert [int(each.agent[0]) for each in found.best_agents] == [1, 3]


def test_a_callback_that_fails_loses_nothing(tmp_path: Path) -> None:
    def prune(point: Any) -> None:
        if point.steps == 192:
            raise KeyError("pruned")

    with pytest.raises(KeyError, match="pruned"):
        train(callback=prune, out=tmp_path)
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(("seconds", "saved"), [(0, [True, True, True]), (1e9, [False, False, True])])
def test_checkpoints_come_as_often_as_asked(seconds: float, saved: list[bool], tmp_path: Path) -> None:
    path, found = tmp_path / CHECKPOINT, list[bool]()
    train(out=tmp_path, checkpoint_seconds=seconds, callback=lambda point: found.append(path.exists()))
    assert found == saved


@pytest.mark.parametrize(
    ("algorithm", "env_id", "arguments", "error", "message"),
    [
        ("pop", "Counter-v0", {}, ConfigError, "there is no algorithm 'pop'"),
        ("ppo", "Nope-v0", {}, EnvcoreError, "Nope-v0"),
        ("ppo", "Counter-v0", {"seeds": 0}, InvalidArgumentError, "seeds must be a positive integer, got 0"),
        ("ppo", "Counter-v0", {"seeds": 20_261_130}, InvalidArgumentError, "seeds must be at most 1,048,576"),
        (
            "ppo",
            "Counter-v0",
            {"params": Counter().default_params},
            InvalidArgumentError,
            "params must be a dict",
        ),
        ("bootstrapped_dqn", "Counter-v0", {"hidden": (-5,)}, ConfigError, r"hidden is \(-5,\)"),
        ("sac", "Counter-v0", {"target_entropy": np.nan}, ConfigError, "target_entropy is nan"),
        (
            "ppo",
            "Counter-v0",
            {"evaluation_episodes": None},
            InvalidArgumentError,
            "evaluation_episodes must be from 0",
        ),
        ("ppo", "Counter-v0", {"devices": 0}, InvalidArgumentError, "devices must be a positive integer, got 0"),
        ("ppo", "Counter-v0", {"seed": -1}, InvalidArgumentError, "seed must be an integer from 0"),
        (
            "ppo",
            "Counter-v0",
            {"gae_lambda": 0.5, "sweep": {"gae_lambda": [0.9, 1]}},
            InvalidArgumentError,
            "gae_lambda is both a setting and swept",
        ),
        ("ppo", "Counter-v0", {"speed": 1}, ConfigError, "settings: there is no setting 'speed'"),
        ("ppo", "Counter-v0", {"minibatches": 5}, ConfigError, "minibatches must divide"),
        ("ppo", "Counter-v0", {"params": {"nope": 1}}, EnvcoreError, "nope"),
        ("ppo", Counter, {}, InvalidArgumentError, "env must be an id or an environment, got <class"),
        ("ppo", "Counter-v0", {"evaluation_episodes": -1}, InvalidArgumentError, "evaluation_episodes must be from 0"),
    ],
)
def test_what_does_not_fit(algorithm: str, env_id: Any, arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        envcore_baselines.train(algorithm, env_id, **arguments)


def test_an_algorithm_of_the_user(tmp_path: Path) -> None:
    found = envcore_baselines.train(Guess, "Counter-v0", out=tmp_path / "class", total_steps=80)
    assert found.returns[:, 0].tolist() == [12.0, 40.0, 68.0]
    assert found.agents[0].run.algorithm == "guessing:Guess"
    again = envcore_baselines.train("guessing:Guess", "Counter-v0", out=tmp_path / "class", total_steps=80)
    np.testing.assert_array_equal(again.returns, found.returns)

    class Local(Guess): ...

    assert envcore_baselines.train(Local, "Counter-v0").agents[0].run.algorithm.endswith("<locals>.Local")
    with pytest.raises(InvalidArgumentError, match=r"the algorithm .* has no name by which a saved run can find it"):
        envcore_baselines.train(Local, "Counter-v0", out=tmp_path / "local")
    assert not (tmp_path / "local").exists()


def test_params_that_are_drawn_for_each_episode() -> None:
    found = train(randomize={"bonus": (np.float32(0.5), 2)}, devices=1)
    (agent,) = found.agents
    assert agent.run.randomize == {"bonus": [0.5, 2]}
    assert found.returns.max() > 1.5  # an episode earns three times the bonus, whose default is 0.5
    starts = [agent.env.reset(jax.random.key(seed), agent.params)[1] for seed in range(4)]
    assert len({float(start.episode_params.bonus) for start in starts}) == 4
