"""Folders of training and files of agents in which anything may stand: what reads them says what is wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import hostile_files
import pytest
from envcore_baselines import settings, training
from envcore_baselines.ppo import PPO, PPOConfig
from envcore_baselines.trained import AboutAgent, Returns, TrainedAgent
from envcore_baselines.training import CHECKPOINT, Run, Training, saved_curve
from envcore_runs import checkpoint
from envcore_runs.folder import RUN as RUN_JSON
from toy import Counter

SMALL: dict[str, Any] = {
    "total_steps": 96,
    "num_envs": 2,
    "rollout_steps": 4,
    "epochs": 1,
    "minibatches": 2,
    "hidden": [2],
}
RUN = Run("ppo", "Counter-v0", {"goal": 4}, {"bonus": 0.5}, SMALL, 7, 2)
ENV = Counter()
LEARNER = PPO(ENV, ENV.default_params, settings.build(PPOConfig, SMALL, "SMALL"))
POINTS = 3

pytestmark = [
    pytest.mark.parametrize("mutations", hostile_files.MUTATIONS),
    pytest.mark.usefixtures("run"),  # where Counter-v0 is installed
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a finished run, whose curve has three points."""
    monkeypatch.setattr(training, "_POINTS", POINTS)
    with RUN.claimed(tmp_path):
        found = Training(LEARNER, RUN, tmp_path)
        while not found.is_finished:
            found.advance()
    return tmp_path


@pytest.mark.slow
def test_run_json(folder: Path, mutations: int) -> None:
    def read(content: bytes) -> None:
        (folder / RUN_JSON).write_bytes(content)
        run = Run.load(folder)
        assert 1 <= run.num_seeds <= 10_000
        env, params = run.make()
        Training.load(run.learner(env, params), run, folder)

    hostile_files.check(read, hostile_files.of_json(dataclasses.asdict(RUN)), mutations)


def test_checkpoints_with_a_valid_digest(folder: Path, mutations: int) -> None:
    path = folder / CHECKPOINT
    arrays, about = checkpoint.load(path, dict[str, Any])

    def read(about: Any) -> None:
        path.write_bytes(hostile_files.sealed(arrays, about))
        curve = saved_curve(RUN, folder)
        assert [len(row) for row in curve.returns] == [2] * len(curve)
        found = Training.load(LEARNER, RUN, folder)
        assert found.curve.steps == [32, 64, 96][: len(curve)]
        csv = found.curve.to_csv(RUN.names) + found.curve.metrics_to_csv(RUN.names)
        if csv not in drawn:
            drawn.add(csv)
            assert curve.to_png("a title")
        assert csv == curve.to_csv(RUN.names) + curve.metrics_to_csv(RUN.names)

    drawn: set[str] = set()
    hostile_files.check(read, hostile_files.of_value(about), mutations)


def test_bytes_of_a_checkpoint(folder: Path, mutations: int) -> None:
    path = folder / CHECKPOINT
    curve = saved_curve(RUN, folder).to_csv(RUN.names)

    def read(content: bytes) -> None:
        path.write_bytes(content)
        assert Training.load(LEARNER, RUN, folder).curve.to_csv(RUN.names) == curve

    hostile_files.check(read, hostile_files.of_bytes(path.read_bytes()), mutations)


def test_agents(folder: Path, mutations: int) -> None:
    path = folder / "agent"
    agent = TrainedAgent.of_run(RUN, ENV, ENV.default_params, folder)[0]
    dataclasses.replace(agent, mean_return=1.5, std_return=0.5, episodes=3).save(path)
    arrays, _ = checkpoint.load(path, AboutAgent)
    about = dataclasses.asdict(AboutAgent(agent.run, Returns(1.5, 0.5, 3)))

    def read(about: Any) -> None:
        path.write_bytes(hostile_files.sealed(arrays, about))
        assert TrainedAgent.of_file(path).episodes >= 0

    hostile_files.check(read, hostile_files.of_value(about), mutations)


def test_settings(tmp_path: Path, mutations: int) -> None:
    content = settings.as_toml(LEARNER.config, "ppo")

    def read(content: bytes) -> None:
        (tmp_path / "Counter-v0.toml").write_bytes(content)
        settings.build(PPOConfig, settings.of_environment("Counter-v0", "ppo", tmp_path), "Counter-v0.toml")

    hostile_files.check(read, hostile_files.of_bytes(content.encode()), mutations)
