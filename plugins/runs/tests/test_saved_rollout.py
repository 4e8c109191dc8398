"""Rollouts in a folder: interrupted ones end like those that were not, and what they record can be read by anyone."""

from __future__ import annotations

import json
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import hostile_files
import jax
import numpy as np
import pytest
import toy
from command_line import Run
from ctrl_c import envcore, interrupt
from envcore.errors import EnvcoreError, FileError
from envcore.files import locked, replace
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_cli.assignments import choose
from envcore_cli.rollout_report import report_rollout
from envcore_runs import checkpoint, saved_rollout
from envcore_runs.measured_rollout import MeasuredRollout
from envcore_runs.trajectories import Trajectories, check_disk
from several_processes import SOON, Command, commands, pair

ROLLOUT = ("rollout", "Counter-v0", "--num-envs", "6", "--steps", "100", "--seed", "3")
README = Path(__file__).parents[1] / "README.md"
RECORD = ("--record", "state,obs,action,reward,terminated,truncated")
SHORT_CHUNKS = """
import envcore_cli
from envcore_runs import checkpoint, saved_rollout
saved_rollout._CHUNK, saved_rollout._SECONDS = {}, {}
envcore_cli.main()
"""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def recorded(folder: Path) -> dict[str, np.ndarray]:
    """All that a folder's manifest lists, read in a process that cannot import this library."""
    program = """
import json, pathlib, sys
import numpy as np
from safetensors.numpy import load_file
sys.modules["envcore"] = sys.modules["jax"] = None
folder = pathlib.Path(sys.argv[1])
manifest = json.loads((folder / "manifest.json").read_text())
shape = manifest["steps_recorded"], manifest["num_envs"]
found = {name: np.empty((*shape, *x["shape"]), x["dtype"]) for name, x in manifest["arrays"].items()}
for shard in manifest["shards"]:
    steps = slice(shard["first_step"], shard["first_step"] + shard["num_steps"])
    envs = slice(shard["first_env"], shard["first_env"] + shard["num_envs"])
    for name, array in load_file(folder / shard["file"]).items():
        found[name][steps, envs] = array
np.savez(sys.argv[2], **found)
"""
    out = folder.parent / "read.npz"
    subprocess.run([sys.executable, "-c", program, str(folder / "trajectories"), str(out)], check=True)
    with np.load(out) as read:
        return dict(read)


@pytest.fixture
def chunks_of_16_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_rollout, "_FEWEST", 16)
    monkeypatch.setattr(saved_rollout, "_CHUNK", 16 * 6)


def stops_after(monkeypatch: pytest.MonkeyPatch, chunks: int, error: BaseException) -> None:
    """Lets a rollout fail after some chunks."""
    advance, left = MeasuredRollout.advance, [chunks]

    def stopping(self: MeasuredRollout, limit: int) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return advance(self, limit)

    monkeypatch.setattr(MeasuredRollout, "advance", stopping)


@pytest.mark.usefixtures("chunks_of_16_steps")
class TestResults:
    def test_statistics_are_those_of_the_table(self, run: Run, tmp_path: Path) -> None:
        code, out, _ = run(*ROLLOUT, "--out", str(tmp_path / "run"))
        assert code == 0
        found = json.loads((tmp_path / "run" / "statistics.json").read_text())
        assert found["steps"] == 100
        assert f"{found['episodes']:,}" in out
        assert f"{found['mean_return']:.2f} ± {found['std_return']:.2f} (from " in out
        assert f"{found['mean_length']:.1f} ± {found['std_length']:.1f} steps" in out

    def test_statistics_before_the_first_episode_are_null(self, run: Run, tmp_path: Path) -> None:
        args = ("rollout", "Counter-v0", "--num-envs", "2", "--steps", "1", "--out", str(tmp_path / "run"))
        assert run(*args)[0] == 0
        found = json.loads((tmp_path / "run" / "statistics.json").read_text())
        assert (found["episodes"], found["mean_return"], found["lowest_return"]) == (0, None, None)

    @pytest.mark.parametrize(("env_id", "env"), [("Counter-v0", toy.Counter()), ("Deck-v0", toy.Deck())])
    def test_what_is_recorded_is_what_run_rollout_returns(
        self, run: Run, tmp_path: Path, env_id: str, env: Any
    ) -> None:
        folder = tmp_path / "run"
        names = "state,obs,action,reward,next_obs,done,terminated,truncated,discount"
        args = ("rollout", env_id, *ROLLOUT[2:], "--out", str(folder), "--record", names)
        assert run(*args)[0] == 0
        batch, params = Batched(env, 6), env.default_params
        start = start_rollout(batch, jax.random.key(3), params)
        _, steps = jax.jit(lambda start: run_rollout(batch, random_policy(batch), start, 100, params))(start)
        found = recorded(folder)
        expected = {name: getattr(steps, name) for name in ("state", "obs", "action", "reward", "next_obs", "done")}
        expected |= {name: steps.info[name] for name in ("terminated", "truncated", "discount")}
        leaves = {
            name + jax.tree_util.keystr(place): x
            for name, tree in expected.items()
            for place, x in jax.tree_util.tree_leaves_with_path(tree)
        }
        assert set(found) == set(leaves)
        for name, leaf in leaves.items():
            assert found[name].dtype == leaf.dtype
            np.testing.assert_array_equal(found[name], leaf)

    def test_the_readme_reads_it(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (code,) = re.findall(r"```py\n(.*?)```", README.read_text(), re.DOTALL)
        monkeypatch.chdir(tmp_path)
        run(*ROLLOUT, "--out", "breakout", *RECORD)
        exec(code, {})
        lines = capsys.readouterr().out.splitlines()
        assert lines == [*(f"{16 * number} (16, 6, 4) int32" for number in range(6)), "96 (4, 6, 4) int32"]

    def test_the_manifest_says_what_was_recorded(self, run: Run, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        run(*ROLLOUT, "--set", "bonus=2.0", "--option", "goal=4", "--out", str(folder), "--record", "obs, action")
        found = json.loads((folder / "trajectories" / "manifest.json").read_text())
        shards = found.pop("shards")
        assert [(each["first_step"], each["num_steps"]) for each in shards] == [
            *((16 * number, 16) for number in range(6)),
            (96, 4),
        ]
        assert {each["file"] for each in shards} == {x.name for x in (folder / "trajectories").glob("*.safetensors")}
        assert found == {
            "env_id": "Counter-v0",
            "options": {"goal": 4},
            "params": {"bonus": 2.0},
            "policy": "random",
            "num_envs": 6,
            "steps": 100,
            "seed": 3,
            "steps_recorded": 100,
            "arrays": {"action": {"dtype": "int32", "shape": []}, "obs": {"dtype": "float32", "shape": [5]}},
        }

    @pytest.mark.parametrize("chunks", [0, 1, 4])
    def test_a_rollout_that_failed_ends_like_a_whole_one(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: int
    ) -> None:
        whole, folder = tmp_path / "whole", tmp_path / "folder"
        assert run(*ROLLOUT, *RECORD, "--out", str(whole))[0] == 0
        with monkeypatch.context() as patch:
            patch.setattr(saved_rollout, "_SECONDS", 0.0)
            stops_after(patch, chunks, EnvcoreError("made up"))
            assert run(*ROLLOUT, *RECORD, "--out", str(folder))[0] == 1
        code, out, _ = run(*ROLLOUT, *RECORD, "--out", str(folder))
        assert code == 0
        assert (f"after {16 * chunks} steps, which are not counted in the speed" in out) == (chunks > 0)
        assert files(folder) == files(whole)

    @pytest.mark.parametrize("chunks", [0, 1, 4])
    def test_an_interrupt_saves_the_steps_so_far(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: int
    ) -> None:
        whole, folder = tmp_path / "whole", tmp_path / "folder"
        assert run(*ROLLOUT, *RECORD, "--out", str(whole))[0] == 0
        with monkeypatch.context() as patch:
            stops_after(patch, chunks, KeyboardInterrupt())
            with pytest.raises(KeyboardInterrupt):
                report_rollout(choose("Counter-v0"), "random", 6, 100, None, 3, out=folder, record=RECORD[1])
        assert json.loads((folder / "statistics.json").read_text())["steps"] == 16 * chunks
        assert run(*ROLLOUT, *RECORD, "--out", str(folder))[0] == 0
        assert files(folder) == files(whole)

    def test_an_interrupt_between_a_file_and_its_progress(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole, folder = tmp_path / "whole", tmp_path / "folder"
        assert run(*ROLLOUT, *RECORD, "--out", str(whole))[0] == 0
        write = Trajectories.write

        def stopping(self: Trajectories, first_step: int, shares: Any) -> None:
            if first_step < 32:
                write(self, first_step, shares)
                return
            monkeypatch.setattr("envcore_runs.trajectories.replace", interrupted)
            write(self, first_step, shares)

        def interrupted(*args: object) -> None:
            monkeypatch.setattr("envcore_runs.trajectories.replace", replace)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Trajectories, "write", stopping)
            with pytest.raises(KeyboardInterrupt):
                report_rollout(choose("Counter-v0"), "random", 6, 100, None, 3, out=folder, record=RECORD[1])
        assert len(recorded(folder)["obs"]) == 32
        assert run(*ROLLOUT, *RECORD, "--out", str(folder))[0] == 0
        assert files(folder) == files(whole)

    def test_a_finished_rollout_is_reported_again(self, run: Run, tmp_path: Path) -> None:
        args = (*ROLLOUT, *RECORD, "--out", str(tmp_path / "run"))
        first = run(*args)[1]
        before = files(tmp_path / "run")
        code, again, _ = run(*args)
        assert code == 0
        assert files(tmp_path / "run") == before
        lines = [
            [line for line in out.splitlines() if line.startswith(("episodes", "return"))] for out in (first, again)
        ]
        assert lines[0] == lines[1] != []
        assert "steps/s" not in again

    def test_the_picture_of_a_continued_rollout_shows_its_beginning(self, run: Run, tmp_path: Path) -> None:
        args = (*ROLLOUT, "--out", str(tmp_path / "run"), "--gif")
        assert run(*args, str(tmp_path / "a.gif"))[0] == 0
        assert run(*args, str(tmp_path / "b.gif"))[0] == 0
        assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


@pytest.mark.usefixtures("chunks_of_16_steps")
class TestErrors:
    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("--out", "{tmp}/run"), "--out needs --steps N: how long the rollout is."),
            (
                ("--steps", "3", "--out", "{tmp}/run", "--policy", "no_module:f"),
                "--policy no_module:f cannot be imported: ModuleNotFoundError: No module named 'no_module'",
            ),
            (("--record", "obs"), "--record needs --out DIR: the folder for the trajectories."),
            (
                ("--steps", "3", "--out", "{tmp}/run", "--record", "obs,rewards"),
                (
                    "--record takes state, obs, action, reward, next_obs, done, discount, terminated, truncated, "
                    "waited, separated by commas; got 'rewards'."
                ),
            ),
            (("--steps", "3", "--out", "/dev/null"), "/dev/null is not a folder. Choose an empty or a new folder."),
        ],
    )
    def test_bad_arguments(self, run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
        code, _, err = run("rollout", "Counter-v0", *(each.format(tmp=tmp_path) for each in args))
        assert (code, err) == (1, f"error: {message}\n")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("--seed", "4"), "its seed is 3, not 4"),
            (("--steps", "99"), "its steps is 100, not 99"),
            (("--set", "bonus=2"), "its params.bonus was not given, and is 2 now"),
            (("--record", "obs"), "its record is [], not ['obs']"),
        ],
    )
    def test_a_folder_of_another_rollout(self, run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
        folder = tmp_path / "run"
        run(*ROLLOUT, "--out", str(folder))
        before = files(folder)
        code, _, err = run(*ROLLOUT, *args, "--out", str(folder))
        assert (code, err) == (1, f"error: {folder} holds another run: {message}. Choose another folder.\n")
        assert files(folder) == before

    def test_a_folder_that_another_process_is_writing(self, run: Run, tmp_path: Path) -> None:
        with locked(tmp_path):
            code, _, err = run(*ROLLOUT, "--out", str(tmp_path))
        assert code == 1
        assert err.startswith(f"error: another process is writing to {tmp_path}: ")
        assert run(*ROLLOUT, "--out", str(tmp_path))[0] == 0

    def test_damaged_files(self, run: Run, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        run(*ROLLOUT, *RECORD, "--out", str(folder))
        whole = files(folder)

        def refused(name: str, content: bytes, message: str) -> None:
            (folder / name).write_bytes(content)
            before = files(folder)
            code, _, err = run(*ROLLOUT, *RECORD, "--out", str(folder))
            assert code == 1
            assert err.startswith(f"error: {folder / name} is damaged: {message}")
            assert err.count("\n") == 1
            assert files(folder) == before
            (folder / name).write_bytes(whole[name])

        refused("run.json", b"{", "Expecting property name")
        refused("run.json", b"[]", "its content is [], not an object")
        refused("run.json", b"[" * 200_000, "it is nested too deeply")
        refused("checkpoint.safetensors", b"x", "Expecting value")
        manifest = "trajectories/manifest.json"
        refused(manifest, b"{}", "its steps_recorded is missing")
        refused(manifest, b"[" * 200_000, "it is nested too deeply")
        for changes, message in [
            ({"file": 3}, "its shards[1].file is 3, not a string"),
            ({"file": "../../x"}, "its shards[1] has another file, '../../x'"),
            ({"first_step": -16}, "its shards[1].first_step is -16, not an integer from 0"),
            ({"num_steps": 15}, "its shards do not hold the 100 steps of the checkpoint"),
        ]:
            changed = json.loads(whole[manifest])
            changed["shards"][1] |= changes
            refused(manifest, json.dumps(changed).encode(), message)
        changed = json.loads(whole[manifest])
        del changed["shards"][1]["file"]
        refused(manifest, json.dumps(changed).encode(), "its shards[1].file is missing")
        twice = {**changed, "shards": 2 * changed["shards"][:1]}
        refused(manifest, json.dumps(twice).encode(), "its content lists a shard twice")

    def test_damaged_facts_of_a_checkpoint(self, run: Run, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        path = folder / "checkpoint.safetensors"
        run(*ROLLOUT, "--out", str(folder))
        arrays, facts = checkpoint.load(path, dict[str, Any])
        for changes, message in [
            ({"steps": -1}, "its steps is -1, not an integer from 0 to"),
            ({"steps": 101}, "its steps is 101, of 100"),
            ({"steps": None}, "its steps is None, not an integer"),
            (
                {"statistics": {**facts["statistics"], "episodes": True}},
                "its statistics.episodes is True, not an integer",
            ),
            ({"statistics": {**facts["statistics"], "more": 1}}, "its statistics.more is unknown to this version"),
            ({"statistics": {"episodes": 3}}, "its content has statistics that no episodes have"),
        ]:
            path.write_bytes(hostile_files.sealed(arrays, {**facts, **changes}))
            code, _, err = run(*ROLLOUT, "--out", str(folder))
            assert code == 1
            assert err.startswith(f"error: {path} is damaged: {message}")
            assert err.count("\n") == 1


LONG = ("rollout", "CartPole-v1", "--num-envs", "16", "--steps", "40000", "--seed", "5")
RECORD_LONG = ("--record", "obs,action,reward,done")


def long_rollout(folder: Path, seconds: float = 0.02, **kwargs: Any) -> Command:
    """A rollout of some seconds in 157 chunks."""
    program = SHORT_CHUNKS.format(256 * 16, seconds)
    return Command(*LONG, *RECORD_LONG, "--out", str(folder), program=program, **kwargs)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a long rollout without an interruption."""
    folder = tmp_path_factory.mktemp("long") / "whole"
    with commands(long_rollout(folder, seconds=1e9)) as (command,):
        status, _, err = command.end()
    assert status == 0, err
    return folder


def num_shards(folder: Path) -> int:
    return len(list(folder.glob("trajectories/*.safetensors")))


def wait_for_shards(folder: Path, num: int, command: Command) -> None:
    until = time.monotonic() + SOON
    while num_shards(folder) < num and command.process.poll() is None and time.monotonic() < until:
        time.sleep(0.001)


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(whole: Path, tmp_path: Path) -> None:
    folder, moments, kills = tmp_path / "killed", random.Random(1), 0
    while True:
        with commands(long_rollout(folder)) as (command,):
            wait_for_shards(folder, num_shards(folder) + moments.randrange(1, 50), command)
            time.sleep(moments.random() * 0.02)
            command.process.send_signal(signal.SIGKILL)
            if command.end()[0] == 0:
                break
            kills += 1
    assert kills >= 3
    assert files(folder) == files(whole)


@pytest.mark.slow
def test_a_full_disk_stops_with_one_line_and_the_last_checkpoint_stays(whole: Path, tmp_path: Path) -> None:
    """A limit on the size of files fails in the kernel like a full disk, in the middle of a file."""
    folder = tmp_path / "full"
    with commands(long_rollout(folder)) as (command,):
        wait_for_shards(folder, 40, command)
        resource.prlimit(command.process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
        status, _, err = command.end()
    assert status == 1
    lines = [line for line in err.splitlines() if line]
    assert len(lines) == 1
    assert lines[0].startswith(f"error: cannot write {folder}/")
    assert lines[0].endswith(": File too large.")
    assert not list(folder.rglob(".*"))
    with commands(long_rollout(folder)) as (command,):
        status, out, err = command.end()
    assert status == 0, err
    assert "which are not counted in the speed" in out
    assert files(folder) == files(whole)


@pytest.mark.slow
def test_two_processes_record_what_one_records(whole: Path, tmp_path: Path) -> None:
    two = tmp_path / "two"
    program = SHORT_CHUNKS.format(256 * 16, 0.02)
    with commands(*pair(*LONG, *RECORD_LONG, "--out", str(two), program=program)) as found:
        wait_for_shards(two, 60, found[0])
        found[1].process.send_signal(signal.SIGKILL)
        assert found[0].end()[0] != 0
    with commands(*pair(*LONG, *RECORD_LONG, "--out", str(two), program=program)) as found:
        (first, out, err), (second, nothing, _) = (each.end() for each in found)
    assert (first, second, nothing) == (0, 0, ""), err
    assert "which are not counted in the speed" in out
    mine, theirs = recorded(whole), recorded(two)
    assert set(mine) == set(theirs)
    for name, array in mine.items():
        np.testing.assert_array_equal(theirs[name], array)
    statistics = [json.loads((each / "statistics.json").read_text()) for each in (two, whole)]
    assert statistics[0] == pytest.approx(statistics[1], rel=1e-12)


def saved_steps(folder: Path) -> int:
    path = folder / "statistics.json"
    return json.loads(path.read_text())["steps"] if path.exists() else 0


@pytest.mark.slow
def test_sigterm_at_random_moments_saves_and_changes_nothing(whole: Path, tmp_path: Path) -> None:
    folder, moments = tmp_path / "terminated", random.Random(4)
    for _ in range(2):
        before = saved_steps(folder)
        with commands(long_rollout(folder, seconds=1e9)) as (command,):  # which saves nothing by itself
            wait_for_shards(folder, before // 256 + moments.randrange(2, 30), command)
            time.sleep(moments.random() * 0.02)
            command.process.send_signal(signal.SIGTERM)
            status, out, err = command.end()
        assert (status, err) == (143, "terminated\n")
        assert saved_steps(folder) > before
        assert f"{saved_steps(folder):,} steps each" in out
    with commands(long_rollout(folder)) as (command,):
        assert command.end()[0] == 0
    assert files(folder) == files(whole)


@pytest.mark.slow
def test_sigterm_to_any_of_two_processes_saves_what_both_have_collected(whole: Path, tmp_path: Path) -> None:
    two = tmp_path / "two"
    program = SHORT_CHUNKS.format(256 * 16, 1e9)
    for targets in ((0,), (1, 0)):
        before = saved_steps(two)
        with commands(*pair(*LONG, *RECORD_LONG, "--out", str(two), program=program)) as found:
            wait_for_shards(two, 2 * before // 256 + 10, found[0])
            for each in targets:
                found[each].process.send_signal(signal.SIGTERM)
            ends = [each.end() for each in found]
        assert [(status, err) for status, _, err in ends] == [(143, "terminated\n")] * 2
        assert saved_steps(two) > before
        assert f"{saved_steps(two):,} steps each" in ends[0][1]
    with commands(*pair(*LONG, *RECORD_LONG, "--out", str(two), program=program)) as found:
        assert [each.end()[0] for each in found] == [0, 0]
    mine, theirs = recorded(whole), recorded(two)
    for name, array in mine.items():
        np.testing.assert_array_equal(theirs[name], array)
    assert json.loads((two / "statistics.json").read_text()) == pytest.approx(
        json.loads((whole / "statistics.json").read_text()), rel=1e-12
    )


@pytest.mark.slow
def test_ctrl_c_saves_what_was_collected(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    args = ("rollout", "Counter-v0", "--num-envs", "64", "--steps", "2000000", "--out", str(folder))
    with envcore(*args, before="from envcore_runs import saved_rollout; saved_rollout._CHUNK = 2**15\n") as terminal:
        terminal.wait_for("%")
        time.sleep(2)
        interrupt(terminal)
        assert "interrupted: these are the results up to then" in terminal.text
    steps = json.loads((folder / "statistics.json").read_text())["steps"]
    assert 0 < steps < 2_000_000
    assert steps % 512 == 0
    assert f"{steps:,} steps each" in terminal.text
    assert not list(folder.glob(".*"))


def test_more_is_recorded_than_the_disk_holds(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10**6, 10**6 - 5000, 5000))
    out = tmp_path / "new" / "run"
    status, _, err = run(
        "rollout", "Counter-v0", "--num-envs", "6", "--steps", "300", "--out", str(out), "--record", "reward"
    )
    assert (status, out.exists()) == (1, False)
    assert err == (
        f"error: --record would write 7.2 kB to {out}, but only 5 kB are free: take fewer steps, or record less.\n"
    )
    recorded = out / "trajectories" / "step-0.safetensors"
    recorded.parent.mkdir(parents=True)
    recorded.write_bytes(bytes(2200))
    check_disk(out, 7200)  # of which 2,200 are there
    with pytest.raises(FileError):
        check_disk(out, 7201)
