"""Trials of Ray Tune on a real cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from envcore_baselines.run import Run
from envcore_baselines.trained import TrainedAgent
from envcore_ray import trainable
from ray import tune
from ray.tune.schedulers import ASHAScheduler, PopulationBasedTraining
from several_processes import SOON, Command, commands

pytestmark = [
    pytest.mark.slow,
    # Ray starts its processes from one that has used JAX, and leaves files and sockets open.
    pytest.mark.filterwarnings("ignore"),
]

POINTS = 100
SETTINGS: dict[str, Any] = {"num_envs": 4, "rollout_steps": 32, "hidden": (8,), "total_steps": POINTS * 4 * 32 * 2}
TUNED: dict[str, Any] = {"metric": "return", "mode": "max"}


def tuner(
    folder: Path, *, callbacks: list[tune.Callback] | None = None, failures: int = 0, **options: Any
) -> tune.Tuner:
    run_config = tune.RunConfig(
        name="found",
        storage_path=str(folder),
        failure_config=tune.FailureConfig(max_failures=failures),
        callbacks=callbacks,
        verbose=0,
    )
    return tune.Tuner(trainable("ppo", "CartPole-v1", **SETTINGS), run_config=run_config, **options)


def only(found: tune.ResultGrid) -> tune.Result:
    assert not found.errors
    (result,) = found
    return result


def curve(result: tune.Result) -> str:
    assert result.checkpoint is not None
    return (Path(result.checkpoint.path) / "curve.csv").read_text()


def test_importing_the_package_imports_neither_ray_nor_jax() -> None:
    imported = "[x for x in ('ray', 'jax') if x in sys.modules]"
    code = f"import sys, envcore_ray, envcore_ray.plugin; print({imported})"
    code += f"; envcore_ray.trainable('ppo', 'CartPole-v1'); print({imported})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n['ray']\n"


@pytest.fixture(scope="module")
def whole(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> tune.Result:
    """A trial that nothing disturbs."""
    return only(tuner(tmp_path_factory.mktemp("whole"), param_space={"seed": 3, "seeds": 2}).fit())


def test_a_trial_reports_every_point_and_its_checkpoint_is_an_agent(whole: tune.Result) -> None:
    table = whole.metrics_dataframe
    assert table is not None
    assert table["steps"].tolist() == [4 * 32 * 2 * (number + 1) for number in range(POINTS)]
    assert table["return"].iloc[-1] == table[["seed_3/return", "seed_4/return"]].iloc[-1].mean() > 20
    assert len(curve(whole).splitlines()) == 2 * POINTS + 1
    assert whole.checkpoint is not None
    assert len(TrainedAgent.of_run(whole.checkpoint.path)) == 2


class KillsWorker(tune.Callback):
    """Kills the process of a trial when it has trained a fifth, once."""

    killed: int | None = None

    def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: dict[str, Any], **info: Any) -> None:
        if self.killed is None and result["training_iteration"] >= POINTS / 5:
            self.killed = result["pid"]
            os.kill(result["pid"], signal.SIGKILL)


def test_a_trial_whose_worker_is_killed_continues_from_its_checkpoint(whole: tune.Result, tmp_path: Path) -> None:
    killer = KillsWorker()
    found = only(tuner(tmp_path, callbacks=[killer], failures=1, param_space={"seed": 3, "seeds": 2}).fit())
    assert found.metrics is not None
    assert found.metrics["pid"] != killer.killed is not None
    assert 0 < found.metrics["iterations_since_restore"] < POINTS
    assert curve(found) == curve(whole)


DRIVER = """
import sys
from pathlib import Path
import ray
from test_trainable import tuner
ray.init(sys.argv[1])
tuner(Path(sys.argv[2]), param_space={"seed": 3, "seeds": 2}).fit()
"""


def test_a_killed_driver_is_continued_by_restore(cluster: Any, whole: tune.Result, tmp_path: Path) -> None:
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "TUNE_GLOBAL_CHECKPOINT_S": "0"}
    command = [sys.executable, "-c", DRIVER, cluster.address, str(tmp_path)]
    with subprocess.Popen(command, env=environment) as driver:
        wait_for(tmp_path, "found/train_*/checkpoint_000003")
        driver.kill()
    restored = tune.Tuner.restore(str(tmp_path / "found"), trainable("ppo", "CartPole-v1", **SETTINGS))
    found = only(restored.fit())
    assert found.metrics is not None
    assert 0 < found.metrics["iterations_since_restore"] < POINTS
    assert curve(found) == curve(whole)


def test_asha_stops_the_worse_of_eight_learning_rates(cluster: Any, tmp_path: Path) -> None:
    scheduler = ASHAScheduler(grace_period=POINTS // 4, max_t=POINTS, reduction_factor=2)
    tuned = tune.TuneConfig(scheduler=scheduler, reuse_actors=True, **TUNED)
    rates = [10.0**-power for power in range(2, 10)]
    found = tuner(tmp_path, tune_config=tuned, param_space={"learning_rate": tune.grid_search(rates)}).fit()
    assert not found.errors
    results: list[Any] = [found[number] for number in range(len(found))]
    iterations = {each.config["learning_rate"]: each.metrics["training_iteration"] for each in results}
    assert iterations.keys() == set(rates)
    assert min(iterations.values()) < max(iterations.values()) == POINTS
    assert (found.get_best_result().config or {})["learning_rate"] >= 1e-4


def test_pbt_continues_checkpoints_with_other_settings(cluster: Any, tmp_path: Path) -> None:
    scheduler = PopulationBasedTraining(
        "training_iteration",
        perturbation_interval=POINTS // 2,
        quantile_fraction=0.5,
        hyperparam_mutations={"learning_rate": [1e-3, 3e-3]},
        synch=True,
    )
    tuned = tune.TuneConfig(scheduler=scheduler, reuse_actors=True, **TUNED)
    found = tuner(tmp_path, tune_config=tuned, param_space={"learning_rate": tune.grid_search([1e-9, 1e-3])}).fit()
    assert not found.errors
    trained = [Run.load(each.checkpoint.path).config for each in found if each.checkpoint]
    assert [each["learning_rate"] >= 1e-4 for each in trained] == [True, True]


def test_a_setting_that_does_not_exist_fails_its_trial(cluster: Any, tmp_path: Path) -> None:
    found = tuner(tmp_path, param_space={"learning_rat": 1e-3}).fit()
    (error,) = found.errors
    assert "there is no setting 'learning_rat'. Did you mean 'learning_rate'?" in str(error)


def wait_for(folder: Path, pattern: str) -> None:
    until = time.monotonic() + SOON
    while not any(folder.glob(pattern)):
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.long
def test_an_interrupted_sweep_is_continued_by_the_same_command(cluster: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def sweep(steps: int) -> Command:
        args = ("sweep", "ppo", "CartPole-v1", "--vary", "epochs=1", "--vary", "epochs=2", "--out", str(out))
        return Command(*args, "--setting", f"total_steps={steps}", variables={"RAY_ADDRESS": cluster.address})

    with commands(sweep(4096)) as (command,):
        wait_for(out, "experiment_state-*.json")
        command.process.terminate()
        assert command.end()[0] == 143
    with commands(sweep(4096)) as (command,):
        text, err = command.process.communicate()
    assert command.process.returncode == 0, err
    assert "2 TERMINATED" in text
    assert len(set(out.glob("train_*"))) == 2
    with commands(sweep(8192)) as (command,):
        status, _, err = command.end()
    assert (status, err.count("\n")) == (1, 1)
    assert "holds another run: its settings.total_steps is 4096, not 8192" in err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("a3c", "CartPole-v1"), "there is no algorithm 'a3c'"),
        (("ppo", "CartPole-v2"), "there is no environment 'CartPole-v2'"),
        (("ppo", "CartPole-v1", "--vary", "epochs"), "--vary must be NAME=VALUE"),
        (("ppo", "CartPole-v1", "--vary", "epochs=0"), "settings: epochs is 0. Expected"),
    ],
)
def test_errors_of_the_command_are_one_line(tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    with commands(Command("sweep", *args, "--out", str(tmp_path / "runs"))) as (command,):
        status, _, err = command.end()
    assert status == 1
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()
