"""Training on several devices and in several processes."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from several_processes import SOON, Command, commands, connected, pair

TRAIN = ("train", "ppo", "CartPole-v1", "--seeds", "3", "--setting", "total_steps=40000", "--seed", "2", "--out")
FILES = ("checkpoint.safetensors", "curve.csv", "curve.png", "run.json")


def files(folder: Path) -> dict[str, bytes]:
    assert sorted(path.name for path in folder.iterdir()) == list(FILES)
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.slow
def test_two_processes_train_what_one_trains(tmp_path: Path) -> None:
    two, four = tmp_path / "two", tmp_path / "four"
    with commands(*pair(*TRAIN, str(two))) as found:
        (first, out, err), (second, nothing, _) = (each.end() for each in found)
    assert (first, second, nothing) == (0, 0, ""), err
    assert out.startswith(f"{two}: 3 agents, ")
    with commands(Command(*TRAIN, str(four), num_devices=4)) as (command,):
        assert command.end()[0] == 0
    assert files(four) == files(two)


@pytest.mark.slow
def test_training_in_two_processes_goes_on_after_one_was_killed(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with commands(*pair(*TRAIN, str(whole))) as found:
        assert [each.end()[0] for each in found] == [0, 0]
    for number in range(2):
        with commands(*pair(*TRAIN, str(killed))) as found:
            until = time.monotonic() + SOON
            while not (killed / "run.json").exists() and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(6 + number)
            found[number].process.send_signal(signal.SIGKILL)
            assert found[1 - number].end()[0] != 0 or (killed / "curve.png").exists()
    with commands(*pair(*TRAIN, str(killed))) as found:
        assert [each.end()[0] for each in found] == [0, 0]
    assert files(killed) == files(whole)


@pytest.mark.slow
def test_all_processes_must_see_the_folder(tmp_path: Path) -> None:
    one = tmp_path / "one"
    with commands(Command(*TRAIN, str(one))) as (command,):
        assert command.end()[0] == 0
    before, (first, second) = files(one), connected(2)
    with commands(Command(*TRAIN, str(one), *first), Command(*TRAIN, str(tmp_path / "other"), *second)) as found:
        ends = [each.end() for each in found]
    assert all(status == 1 and "the folder must be on a file system that they share" in err for status, _, err in ends)
    assert files(one) == before
