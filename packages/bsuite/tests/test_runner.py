"""The runner: bsuite's own logs, resumed runs, and invalid arguments."""

from __future__ import annotations

import csv
import functools
import json
from pathlib import Path
from typing import Any

import bsuite
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import FileError
from envcore.files import replace
from envcore_bsuite import runner
from envcore_bsuite.agents import Agent, policy_agent, random_agent
from envcore_bsuite.errors import RunError
from envcore_bsuite.runner import run
from envcore_bsuite.sweep import EPISODES
from envcore_runs.folder import locked
from periodic import periodic_agent

FEW = ("memory_len/0", "memory_len/2")  # one program
MORE = (*FEW, "bandit/3")  # two


def logs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


@pytest.mark.parametrize(
    ("bsuite_id", "action"),
    [
        ("bandit/3", 4),
        ("discounting_chain/7", 2),
        pytest.param("deep_sea/0", 1, marks=pytest.mark.slow),
        ("bandit_scale/19", 0),
    ],
)
def test_a_fixed_policys_log_is_bsuites(
    tmp_path: Path, bsuite_id: str, action: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run(policy_agent(lambda params, obs, key: jnp.int32(action)), tmp_path / "ours", [bsuite_id])
    env: Any = bsuite.load_and_record(bsuite_id, str(tmp_path / "theirs"))
    for _ in range(env.bsuite_num_episodes):
        timestep = env.reset()
        while not timestep.last():
            timestep = env.step(action)
    (ours,), (theirs,) = (tmp_path / "ours").glob("*.csv"), (tmp_path / "theirs").glob("*.csv")
    assert ours.name == theirs.name
    with ours.open(newline="") as first, theirs.open(newline="") as second:
        ours_rows, theirs_rows = list(csv.reader(first)), list(csv.reader(second))
    assert ours_rows[0] == theirs_rows[0]
    for got, expected in zip(ours_rows[1:], theirs_rows[1:], strict=True):
        assert [x.replace("-", "").isdigit() for x in got] == [x.replace("-", "").isdigit() for x in expected]
        np.testing.assert_allclose([float(x) for x in got], [float(x) for x in expected], rtol=1e-6)
    assert int(ours_rows[-1][1]) == EPISODES[bsuite_id]


def test_progress_counts_the_episodes_of_all_settings(tmp_path: Path) -> None:
    shown: list[tuple[int, int]] = []
    run(random_agent, tmp_path, ["bandit/0"], num_seeds=2, progress=lambda *each: shown.append(each))
    total = 2 * EPISODES["bandit/0"]
    assert (shown[0], shown[-1]) == ((0, total), (total, total))
    assert shown == sorted(shown)


def greedy_bandit(env: Any) -> Agent:
    """Tries every arm once, then pulls the best one."""

    def act(estimates: jax.Array, obs: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.argmax(estimates).astype(jnp.int32), estimates

    def update(estimates: jax.Array, transition: Any, key: jax.Array) -> jax.Array:
        return estimates.at[transition.action].set(transition.reward)

    return Agent(lambda key: jnp.full(env.action_space(env.default_params).n, 2.0), act, update)


def test_a_learning_agent_learns(tmp_path: Path) -> None:
    run(greedy_bandit, tmp_path, ["bandit/0", "bandit/1"])
    for path in tmp_path.glob("*.csv"):
        last = path.read_text().splitlines()[-1].split(",")
        assert last[:2] == ["10000", "10000"]
        assert float(last[-1]) == pytest.approx(5.5, abs=1e-4)  # each arm once


@pytest.mark.slow
def test_equal_seeds_and_ids_give_equal_logs_whatever_else_runs(tmp_path: Path) -> None:
    run(random_agent, tmp_path / "a", MORE, seed=1, workers=2)
    run(random_agent, tmp_path / "b", ["bsuite/memory_len/2"], seed=1)
    run(random_agent, tmp_path / "c", ["memory_len/2"], seed=2)
    a, b, c = (logs(tmp_path / name)["bsuite_id_-_memory_len-2.csv"] for name in "abc")
    assert len(logs(tmp_path / "a")) == 3
    assert a == b
    assert a != c


def test_each_seed_has_a_separate_folder(tmp_path: Path) -> None:
    run(random_agent, tmp_path / "two", ["bandit/0"], num_seeds=2)
    run(random_agent, tmp_path / "one", ["bandit/0"])
    first, second = logs(tmp_path / "two" / "seed_0"), logs(tmp_path / "two" / "seed_1")
    assert first == logs(tmp_path / "one")
    assert first.keys() == second.keys()
    assert first != second


def test_finished_settings_are_not_run_again(tmp_path: Path) -> None:
    made: list[Any] = []

    def agent(env: Any) -> Agent:
        made.append(env)
        return random_agent(env)

    run(agent, tmp_path, FEW[:1])
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.csv")}
    run(agent, tmp_path, MORE)
    assert len(made) == 4  # the first one also before the folder was claimed
    assert {path: path.stat().st_mtime_ns for path in before} == before
    run(agent, tmp_path, MORE)
    assert len(made) == 4  # nothing is checked in a folder of this run


@pytest.mark.parametrize(
    ("agent", "ids", "workers"),
    [
        (random_agent, FEW, 1),
        pytest.param(random_agent, MORE, 2, marks=pytest.mark.slow),
        pytest.param(periodic_agent, FEW, 1, marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_run_continues(
    tmp_path: Path, agent: Any, ids: tuple[str, ...], workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(agent, tmp_path / "whole", ids)
    handle = runner._Written.handle

    def interrupt(self: Any, name: str, update: Any, state: Any) -> None:
        handle(self, name, update, state)
        if any(len(rows) == 8 for rows in update.rows.values()):
            raise KeyboardInterrupt

    monkeypatch.setattr(runner._Written, "handle", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(agent, tmp_path / "parts", ids, checkpoint_seconds=0, workers=workers)
    assert logs(tmp_path / "parts") != logs(tmp_path / "whole")
    assert list((tmp_path / "parts").glob(".checkpoint-*"))
    assert max(len(log.splitlines()) for log in logs(tmp_path / "parts").values()) > 5
    monkeypatch.undo()
    run(agent, tmp_path / "parts", ids)
    assert logs(tmp_path / "parts") == logs(tmp_path / "whole")
    assert not list((tmp_path / "parts").glob(".checkpoint-*"))


def test_a_full_disk_is_one_line_and_the_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(random_agent, tmp_path / "whole", FEW)
    writes: list[Path] = []

    def fails(path: Path, content: bytes) -> None:
        writes.append(path)
        if len(writes) == 30:
            raise FileError(f"cannot write {path}: No space left on device.")
        replace(path, content)

    monkeypatch.setattr("envcore_bsuite.runner.replace", fails)
    with pytest.raises(FileError, match=r"cannot write .*\.safetensors: No space left on device\."):
        run(random_agent, tmp_path / "parts", FEW, checkpoint_seconds=0)
    monkeypatch.undo()
    run(random_agent, tmp_path / "parts", FEW)
    assert logs(tmp_path / "parts") == logs(tmp_path / "whole")


@pytest.mark.slow
def test_checkpoints_that_share_settings_lose_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = ("memory_len/0", "memory_len/1", "memory_len/2")
    run(random_agent, tmp_path / "whole", ids)
    handle = runner._Written.handle

    def interrupt(self: Any, name: str, update: Any, state: Any) -> None:
        handle(self, name, update, state)
        raise KeyboardInterrupt

    monkeypatch.setattr(runner._Written, "handle", interrupt)
    for some in (ids[:2], ids[::2]):
        with pytest.raises(KeyboardInterrupt):
            run(random_agent, tmp_path / "parts", some, checkpoint_seconds=0)
    assert len(list((tmp_path / "parts").glob(".checkpoint-*"))) == 2
    monkeypatch.undo()
    run(random_agent, tmp_path / "parts", ids)
    assert logs(tmp_path / "parts") == logs(tmp_path / "whole")


def test_the_progress_of_a_run_that_goes_on_ends_at_all_episodes(tmp_path: Path) -> None:
    shown: list[tuple[int, int]] = []
    for ids in (FEW[:1], FEW):
        run(random_agent, tmp_path, ids, progress=lambda *each: shown.append(each))
        total = sum(EPISODES[each] for each in ids)
        assert shown[-1] == (total, total)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": ["deep_see/1"]}, "bsuite has no setting 'deep_see/1': an id is like 'deep_sea/11'"),
        ({"ids": ["deep_sea/21"]}, "bsuite has no setting 'deep_sea/21'"),
        ({"ids": "catch"}, "bsuite has no setting 'catch'"),
        ({"ids": [3]}, "bsuite has no setting 3"),
        ({"seed": -1}, "seed must be an integer from 0 to .* got -1"),
        ({"num_seeds": 2**31}, "num_seeds must be at most 10,000, got 2147483648"),
        ({"workers": 2**31}, "workers must be at most 1,024, got 2147483648"),
        ({"num_seeds": 0}, "num_seeds must be a positive integer, got 0"),
        ({"workers": 1.5}, r"workers must be a positive integer, got 1\.5"),
        ({"options": {"minst": {}}}, "options are given by experiment, and bsuite has no experiment 'minst'"),
        ({"options": {"catch": {"rows": object()}}}, "options must be JSON values"),
    ],
)
def test_invalid_arguments(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    everything: dict[str, Any] = {"ids": FEW, **arguments}
    with pytest.raises(RunError, match=message):
        run(random_agent, tmp_path, **everything)
    assert not list(tmp_path.iterdir())


def another(env: Any, idle: bool) -> Any:
    raise AssertionError("it is refused before it is made")


def test_all_bits_of_the_seed_count(tmp_path: Path) -> None:
    for seed in (1, 2**32 + 1):
        run(random_agent, tmp_path / str(seed), FEW[:1], seed=seed)
    first, second = (logs(folder) for folder in sorted(tmp_path.iterdir()))
    assert first.keys() == second.keys()
    assert first != second


def test_a_folder_of_a_different_run(tmp_path: Path) -> None:
    run(random_agent, tmp_path, FEW[:1])
    with pytest.raises(RunError, match="holds a run with seed=0, not 1: choose another results_dir, or delete it"):
        run(random_agent, tmp_path, FEW, seed=1)
    with pytest.raises(
        RunError, match=r"holds a run with agent='envcore_bsuite.agents:random_agent', not '.*:another'"
    ):
        run(functools.partial(another, idle=True), tmp_path, FEW)
    for damaged in ("[1]", "{"):
        (tmp_path / "run.json").write_text(damaged)
        with pytest.raises(RunError, match=r"run\.json is damaged"):
            run(random_agent, tmp_path, FEW)
    (tmp_path / "run.json").unlink()
    with pytest.raises(RunError, match="holds logs that this runner did not write"):
        run(random_agent, tmp_path, FEW)


def test_a_folder_that_another_process_is_writing(tmp_path: Path) -> None:
    run(random_agent, tmp_path, FEW[:1])
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with locked(tmp_path), pytest.raises(FileError, match="another process is writing to"):
        run(random_agent, tmp_path, FEW)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    run(random_agent, tmp_path, FEW[:1])


def test_what_makes_no_agent_claims_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"make_agent.* must return an envcore_bsuite.agents.Agent"):
        run(lambda env: None, tmp_path / "results", FEW)  # type: ignore[arg-type, return-value]
    assert not (tmp_path / "results").exists()


def test_a_results_dir_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written to"):
        run(random_agent, tmp_path / "file", FEW)


def test_options_reach_the_environment(tmp_path: Path) -> None:
    options = {"catch": {"rows": 3}}
    run(random_agent, tmp_path, ["catch/0"], options=options)
    (path,) = tmp_path.glob("*.csv")
    assert path.read_text().splitlines()[1].startswith("2,1,")
    assert json.loads((tmp_path / "run.json").read_text())["options"] == options
