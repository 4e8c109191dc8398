"""Sweeps of training: their plans, and what a cluster writes."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from envcore.errors import EnvcoreError, FileError, InvalidArgumentError, UnknownEnvironmentError
from envcore_baselines.errors import ConfigError
from envcore_baselines.training import Run, saved_curve
from envcore_ray.training import plan, train
from envcore_ray.workers import RayWorkers
from envcore_runs.folder import locked
from several_processes import Command, commands

pytestmark = [
    pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

THREADS = {"env_vars": {"NPROC": "4"}}
"""As many threads as the processes of `several_processes` have: sums of floats depend on their number."""

SETTINGS = {"total_steps": 30_000, "num_envs": 8}
FILES = ["checkpoint.safetensors", "curve.csv", "curve.png", "metrics.csv", "run.json"]


def files(folder: Path) -> dict[str, bytes]:
    assert sorted(path.name for path in folder.iterdir()) == FILES
    return {name: (folder / name).read_bytes() for name in FILES}


def test_a_plan_has_a_run_for_each_combination() -> None:
    varied = {"learning_rate": [1e-3, 3e-3], "epochs": [1, 2]}
    runs = plan("ppo", ["CartPole-v1", "bsuite/catch/0"], varied, SETTINGS, seeds=5, seed=10)
    assert len(runs) == 8
    run = runs["ppo-bsuite-catch-0-learning_rate=0.003-epochs=1"]
    assert (run.algorithm, run.env_id, run.seed, run.num_seeds) == ("ppo", "bsuite/catch/0", 10, 5)
    assert (run.config["learning_rate"], run.config["epochs"], run.config["num_envs"]) == (3e-3, 1, 8)
    assert run.config["discount"] == 0.99


def test_seeds_can_be_runs_of_their_own() -> None:
    runs = plan("ppo", ["CartPole-v1"], seeds=5, seeds_per_run=2)
    assert [(name, run.seed, run.num_seeds) for name, run in runs.items()] == [
        ("ppo-CartPole-v1-seed=0", 0, 2),
        ("ppo-CartPole-v1-seed=2", 2, 2),
        ("ppo-CartPole-v1-seed=4", 4, 1),
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"algorithm": "a3c"}, ConfigError, "there is no algorithm 'a3c'"),
        ({"env_ids": ["CartPole-v7"]}, UnknownEnvironmentError, "CartPole-v7"),
        ({"varied": {"learning_rat": [1]}}, ConfigError, "learning_rat"),
        ({"settings": {"epochs": 0}}, ConfigError, "epochs"),
        (
            {"varied": {"epochs": [2, 2]}},
            InvalidArgumentError,
            "two runs of the sweep have the same folder, ppo-CartPole",
        ),
        ({"seed": "x"}, InvalidArgumentError, "seed must be an integer from 0 to .*, got 'x'"),
        ({"seed": True}, InvalidArgumentError, "seed must be an integer from 0 to .*, got True"),
        ({"seed": 1.0}, InvalidArgumentError, "seed must be an integer from 0 to .*, got 1.0"),
        ({"seed": 2**63}, InvalidArgumentError, "seed must be an integer from 0 to"),
        ({"seeds": 0}, InvalidArgumentError, "seeds must be a positive integer, got 0"),
        ({"seeds": 10_001}, InvalidArgumentError, "the number of agents of a run must be at most 10,000, got 10001"),
        ({"seeds": 10_001, "seeds_per_run": 1}, InvalidArgumentError, "can have 10,000 runs, this one has 10,001"),
        ({"seeds": 2**62, "seeds_per_run": 1}, InvalidArgumentError, "can have 10,000 runs"),
        ({"seeds_per_run": 0}, InvalidArgumentError, "seeds_per_run must be a positive integer, got 0"),
        ({"seeds_per_run": -1}, InvalidArgumentError, "seeds_per_run must be a positive integer, got -1"),
    ],
)
def test_invalid_plans(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    given: dict[str, Any] = {"algorithm": "ppo", "env_ids": ["CartPole-v1"], **arguments}
    with pytest.raises(error, match=message):
        plan(**given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, "seed must be an integer from 0 to"),
        ({"settings": {"num_envs": 3, "rollout_steps": 5, "minibatches": 4}}, "minibatches must divide"),
    ],
)
def test_runs_that_cannot_work_get_no_folder(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EnvcoreError, match=message):
        train(plan("ppo", ["CartPole-v1"], **arguments), tmp_path, RayWorkers())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_another_run_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    runs = plan("ppo", ["CartPole-v1"], settings=SETTINGS)
    (tmp_path / "ppo-CartPole-v1").mkdir()
    (tmp_path / "ppo-CartPole-v1" / "thesis.tex").touch()
    with pytest.raises(FileError, match="holds other files"):
        train(runs, tmp_path, RayWorkers())


def test_a_sweep_that_another_process_is_writing(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(FileError, match="another process is writing to"):
        train(plan("ppo", ["CartPole-v1"], settings=SETTINGS), tmp_path, RayWorkers())
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of `envcore train` with the settings of the sweeps."""
    folder = tmp_path_factory.mktemp("train") / "alone"
    settings = [part for name, value in SETTINGS.items() for part in ("--setting", f"{name}={value}")]
    with commands(Command("train", "ppo", "CartPole-v1", *settings, "--out", str(folder), num_devices=1)) as (command,):
        status, _, err = command.end()
    assert status == 0, err
    return folder


class Here:
    """Workers that play each task in this process."""

    def run(self, tasks: Any, seconds: float, handle: Any, finish: Any) -> None:
        for name, task in tasks.items():
            for update, _ in task.play(task.state):
                handle(name, update, None)
            finish(name)


@pytest.mark.slow
@pytest.mark.parametrize("is_finished", [False, True])
def test_a_damaged_curve_is_written_anew(tmp_path: Path, is_finished: bool) -> None:
    runs = plan("ppo", ["CartPole-v1"], settings={**SETTINGS, "total_steps": 2048}, seed=3)
    ((name, _),) = runs.items()
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):  # optax relies on them
        train(runs, tmp_path, Here())  # pyright: ignore[reportArgumentType]
        before = files(tmp_path / name)
        (tmp_path / name / "curve.csv").write_bytes(b"\xff" * 100)
        if not is_finished:
            (tmp_path / name / "curve.png").unlink()
        train(runs, tmp_path, Here())  # pyright: ignore[reportArgumentType]
    assert before["curve.csv"].startswith(b"steps,mean,std,seed_3\n")
    assert files(tmp_path / name) == before


def test_the_seed_may_be_one_of_numpy() -> None:
    (run,) = plan("ppo", ["CartPole-v1"], seed=np.int32(7)).values()  # pyright: ignore[reportArgumentType]
    assert type(run.seed) is int


@pytest.mark.slow
def test_a_sweep_writes_what_envcore_train_writes(cluster: Any, alone: Path, tmp_path: Path) -> None:
    runs = plan("ppo", ["CartPole-v1", "Catch-bsuite"], {"epochs": [4]}, SETTINGS)
    workers = RayWorkers(cluster.address, runtime_env=THREADS)
    returns = train(runs, tmp_path, workers)
    assert files(tmp_path / "ppo-CartPole-v1-epochs=4") == files(alone)
    assert returns.keys() == runs.keys()
    assert returns["ppo-CartPole-v1-epochs=4"] > 30
    before = {name: files(tmp_path / name) for name in runs}
    assert train(runs, tmp_path, workers) == returns
    assert {name: files(tmp_path / name) for name in runs} == before


class LosesNode(RayWorkers):
    """Workers of a cluster that loses its second node when the task there has saved its state five times."""

    def __init__(self, cluster: Any):
        super().__init__(cluster.address, runtime_env=THREADS)
        self.cluster, self.states, self.parts = cluster, 0, list[float]()

    def run(self, tasks: Any, seconds: float, handle: Any, finish: Any) -> None:
        def losing(name: str, update: Any, state: Any) -> None:
            handle(name, update, state)
            self.states += state is not None
            self.parts.append(update.part)
            if self.states == 5:
                self.cluster.remove_node(next(iter(self.cluster.worker_nodes)), allow_graceful=False)

        super().run(tasks, seconds, losing, finish)


@pytest.mark.slow
def test_a_lost_node_changes_no_file(cluster: Any, alone: Path, tmp_path: Path) -> None:
    workers = LosesNode(cluster)
    runs = plan("ppo", ["CartPole-v1"], settings=SETTINGS, seeds=2, seeds_per_run=1)
    train(runs, tmp_path, workers, checkpoint_seconds=0)
    assert not cluster.worker_nodes
    assert files(tmp_path / "ppo-CartPole-v1-seed=0") == files(alone)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    args = ("sweep", "ppo", "CartPole-v1", "--vary", "epochs=1", "--vary", "epochs=2", "--out", str(tmp_path / "runs"))
    settings = ("--setting", "total_steps=2048", "--setting", "num_envs=8")
    with commands(Command(*args, *settings)) as (command,):
        status, out, err = command.end()
    assert status == 0, err
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "ppo-CartPole-v1-epochs=1",
        "ppo-CartPole-v1-epochs=2",
    ]
    assert "last return" in out
    assert out.count("ppo-CartPole-v1-epochs=") == 2


UNDER_WAY = """
import envcore_cli
import sys
from envcore_ray import training
train = training.train
def noted(*args, progress, **kwargs):
    def shown(done):
        progress(done)
        if done > 0.02:
            print("under way", file=sys.stderr, flush=True)
    return train(*args, progress=shown, **kwargs)
training.train = noted
envcore_cli.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signum", "status", "line"),
    [(signal.SIGTERM, 143, "terminated"), pytest.param(signal.SIGHUP, 129, "hung up", marks=pytest.mark.long)],
)
def test_a_signal_saves_what_has_been_trained(tmp_path: Path, signum: signal.Signals, status: int, line: str) -> None:
    args = ("sweep", "ppo", "CartPole-v1", "--setting", "total_steps=5000000", "--out", str(tmp_path / "runs"))
    with commands(Command(*args, program=UNDER_WAY)) as (command,):
        stderr: Any = command.process.stderr
        assert stderr.readline() == "under way\n"
        command.process.send_signal(signum)
        found, _, err = command.end()
    assert found == status
    assert err.splitlines()[-1] == line
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(saved_curve(Run.load(folder), folder)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("a3c", "CartPole-v1"), "there is no algorithm 'a3c'"),
        (("ppo", "CartPole-v1", "--vary", "epochs"), "--vary must be NAME=VALUE"),
        (
            ("ppo", "CartPole-v1", "--vary", "epochs=1", "--setting", "epochs=2"),
            "--vary and --setting both give 'epochs'",
        ),
    ],
)
def test_errors_of_the_command_are_one_line(tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    with commands(Command("sweep", *args, "--out", str(tmp_path / "runs"))) as (command,):
        status, _, err = command.end()
    assert status == 1
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()
