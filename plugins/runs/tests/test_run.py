"""`rollout`: what it refuses, returns and saves; in a folder, one that was interrupted ends like one that was not."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import EnvcoreError, FileError, InvalidArgumentError, InvalidParamsError, UnknownEnvironmentError
from envcore_runs import loop as loop_module
from envcore_runs import run as run_module
from envcore_runs.folder import locked
from envcore_runs.run import RolloutResult, planned, rollout
from rollouts import RECORD, files, saved, stops_after

pytestmark = pytest.mark.usefixtures("toys", "chunks_of_16_steps")


def act_always(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
    return jnp.int32(1)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"num_envs": 0}, InvalidArgumentError, "num_envs must be a positive integer, got 0"),
        ({"devices": 9}, InvalidArgumentError, "devices is 9, but JAX has 2 in this process."),
        ({"seed": -1}, InvalidArgumentError, "seed must be an integer from 0 to 2**63 - 1, got -1."),
        ({"out": "run"}, InvalidArgumentError, "out needs steps or episodes, which set the length of the rollout."),
        ({"params": 3}, InvalidParamsError, "Counter's params must be CounterParams, got int."),
        ({"options": [1]}, InvalidArgumentError, "options must be a dict of the values to change, got [1]."),
        ({"record": ["obs"]}, InvalidArgumentError, "record needs out, the folder for the trajectories, and steps,"),
        (
            {"steps": 3, "out": "run", "record": ("obs", "rewards")},
            InvalidArgumentError,
            "record must be names among state, obs, action, reward, next_obs, done, discount, terminated, truncated, w",
        ),
        ({"policy": "no_module:f"}, InvalidArgumentError, "policy no_module:f cannot be imported: ModuleNotFoundError"),
        ({"params": {"bonuses": 1}}, InvalidParamsError, "Counter-v0 has no param 'bonuses'; its params: "),
        ({"env": "Counters-v0"}, UnknownEnvironmentError, "there is no environment 'Counters-v0'"),
        (
            {"env": 3},
            InvalidArgumentError,
            "env must be an id or an environment, got 3",
        ),
    ],
)
def test_refusals(
    arguments: dict[str, Any], kind: type[Exception], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_module, "Loop", None)  # no program of the rollout is made
    with pytest.raises(kind) as caught:
        rollout(**{"env": "Counter-v0", **arguments})  # pyright: ignore[reportArgumentType]
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_decides_the_results(tmp_path: Path) -> None:
    plan = planned("Counter-v0", 6, 9, out=tmp_path, options={"goal": 4}, params={"bonus": 2}, policy=act_always)
    about = {"env_id": "Counter-v0", "options": {"goal": 4}, "params": {"bonus": 2}}
    assert plan.about == {
        **about,
        "policy": f"{__name__}:act_always",
        "num_envs": 6,
        "steps": 9,
        "episodes": None,
        "seed": 0,
    }
    env = toy.Counter()
    about = planned(env, steps=9, out=tmp_path, params=env.default_params).about
    assert (about["env_id"], about["options"], about["params"]["bonus"]) == ("toy:Counter", {"goal": 3}, 0.5)


def test_the_result() -> None:
    shown: list[RolloutResult] = []
    result = rollout("Counter-v0", num_envs=3, steps=30, episodes=10, policy=act_always, progress=shown.append)
    assert (result.num_envs, result.steps, result.resumed_after) == (3, 30, 0)
    assert (result.statistics.episodes, result.statistics.mean_return, result.unfinished) == (30, 1.5, 0)
    assert result.steps_per_second == 90 / result.seconds
    assert (shown[0].steps, shown[-1]) == (0, result)


def test_without_steps_it_takes_a_second_and_measures_an_episode_of_each_environment() -> None:
    result = rollout("Counter-v0", num_envs=6)
    assert result.seconds >= 1
    assert (result.statistics.episodes, result.unfinished) == (6, 0)


def test_with_episodes_it_goes_on_until_all_environments_have_finished_them(tmp_path: Path) -> None:
    first, again = (rollout("Counter-v0", num_envs=6, episodes=7, out=tmp_path / "run") for _ in range(2))
    assert (first.statistics.episodes, first.unfinished) == (42, 0)
    assert again.statistics == first.statistics == rollout("Counter-v0", num_envs=6, episodes=7).statistics


def test_without_episodes_it_stops_waiting_for_an_endless_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "_PATIENCE", 0.2)
    wait = lambda policy_params, obs, key: jnp.int32(0)  # noqa: E731
    result = rollout("Counter-v0", num_envs=6, params={"max_steps_in_episode": NO_TIME_LIMIT}, policy=wait)
    assert (result.unfinished, result.statistics.episodes) == (6, 0)
    assert math.isnan(result.statistics.mean_return)


def test_an_environment_in_place_of_an_id() -> None:
    env = toy.Counter(goal=4)
    params = env.default_params.replace(bonus=2.0)
    by_id = rollout("Counter-v0", num_envs=6, steps=60, options={"goal": 4}, params={"bonus": 2.0}).statistics
    for given in (params, {"bonus": 2.0}):
        assert rollout(env, num_envs=6, steps=60, params=given).statistics == by_id


def test_what_is_saved(tmp_path: Path) -> None:
    shown: list[RolloutResult] = []
    first = saved(tmp_path / "run", record=RECORD, progress=shown.append)
    assert [each.steps for each in shown] == [0, 16, 32, 48, 64, 80, 96, 100]
    found, before = json.loads((tmp_path / "run" / "statistics.json").read_text()), files(tmp_path / "run")
    assert (found["steps"], found["episodes"], found["unfinished"]) == (100, 6, 0)
    assert (found["mean_return"], found["std_return"]) == (first.statistics.mean_return, first.statistics.std_return)
    again = saved(tmp_path / "run", record=RECORD)
    assert files(tmp_path / "run") == before
    assert (again.statistics, again.steps, again.resumed_after) == (first.statistics, 100, 100)
    assert math.isnan(again.steps_per_second)
    saved(tmp_path / "short", num_envs=2, steps=1)
    assert json.loads((tmp_path / "short" / "statistics.json").read_text())["mean_return"] is None


def test_a_folder_of_another_rollout_or_in_use(tmp_path: Path) -> None:
    saved(tmp_path, steps=1)
    before = files(tmp_path)
    with pytest.raises(FileError, match="holds another run: its seed is 3, not 4"):
        saved(tmp_path, steps=1, seed=4)
    with locked(tmp_path), pytest.raises(FileError, match="another process is writing to"):
        saved(tmp_path, steps=1)
    assert files(tmp_path) == before


@pytest.mark.parametrize("chunks", [0, 1, 4])
def test_a_rollout_that_failed_ends_like_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    saved(whole, record=RECORD)
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "_SAVING", 0.0)
        stops_after(patch, chunks, EnvcoreError("made up"))
        with pytest.raises(EnvcoreError, match="made up"):
            saved(folder, record=RECORD)
    result = saved(folder, record=RECORD)
    assert (result.steps, result.resumed_after) == (100, 16 * chunks)
    assert files(folder) == files(whole)


@pytest.mark.parametrize(
    ("signum", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_saves_the_steps_so_far(tmp_path: Path, signum: int, error: type[BaseException]) -> None:
    whole, folder, shown = tmp_path / "whole", tmp_path / "folder", list[int]()

    def progress(result: RolloutResult) -> None:
        shown.append(result.steps)
        if result.steps == 32:
            os.kill(os.getpid(), signum)

    saved(whole, record=RECORD)
    with pytest.raises(error):
        saved(folder, record=RECORD, progress=progress)
    assert shown == [0, 16, 32, 48]
    assert saved(folder, record=RECORD).resumed_after == 48
    assert files(folder) == files(whole)


def test_a_signal_during_the_last_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = run_module._save

    def killed(*arguments: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        save(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "_save", killed)
        with pytest.raises(KeyboardInterrupt):
            saved(tmp_path / "run")
    assert saved(tmp_path / "run").resumed_after == 100


def test_numbers_of_numpy_and_a_change_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = {name: np.int64(each) for name, each in (("num_envs", 2), ("steps", 20), ("seed", 1))}
    found = rollout("Counter-v0", out="run", progress=lambda result: os.chdir("/"), **arguments)  # pyright: ignore
    assert found.steps == json.loads((tmp_path / "run" / "statistics.json").read_text())["steps"] == 20


KILLED = """
import os, sys
from pathlib import Path
from envcore import registry
from envcore_runs import run
from rollouts import RECORD, saved

registry.register("Counter-v0", "toy:Counter")
run._FEWEST, run._CHUNK, run._SAVING = 16, 96, 0.0

def progress(result):
    if result.steps == 64:
        os.kill(os.getpid(), 9)

saved(Path(sys.argv[1]), record=RECORD, progress=progress)
"""


@pytest.mark.slow
def test_a_rollout_that_was_killed_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole, folder = tmp_path / "whole", tmp_path / "folder"
    saved(whole, record=RECORD)
    code = f"import sys\nsys.path[:0] = {sys.path}\n{KILLED}"
    # With another number of devices, the last digits of the statistics could differ.
    env = {**os.environ, "JAX_NUM_CPU_DEVICES": str(jax.local_device_count())}
    killed = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, check=False, env=env)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert files(folder) != files(whole)
    assert saved(folder, record=RECORD).resumed_after == 64
    assert files(folder) == files(whole)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.json", b"{", "Expecting property name"),
        ("checkpoint.safetensors", b"x", "Error while deserializing"),
        ("trajectories/manifest.json", b"{}", "Object missing required field `shards`"),
    ],
)
def test_damaged_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    folder = tmp_path / "run"
    saved(folder, record=RECORD)
    (folder / name).write_bytes(content)
    before = files(folder)
    with pytest.raises(FileError) as caught:
        saved(folder, record=RECORD)
    found = str(caught.value)
    assert f"{name} is damaged: " in found
    assert message.lower() in found.lower()
    assert "\n" not in found
    assert files(folder) == before
