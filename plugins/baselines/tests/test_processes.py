"""Training on several devices and in several processes."""

from __future__ import annotations

import csv
import signal
from pathlib import Path

import pytest
from several_processes import Command, commands, connected, pair

TRAIN = ("train", "ppo", "CartPole-v1", "--seeds", "3", "--setting", "total_steps=40000", "--seed", "2", "--out")
FILES = ("checkpoint.safetensors", "curve.csv", "curve.png", "run.json")


def files(folder: Path) -> dict[str, bytes]:
    assert sorted(path.name for path in folder.iterdir()) == list(FILES)
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def by_two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training in two processes."""
    folder = tmp_path_factory.mktemp("processes") / "two"
    with commands(*pair(*TRAIN, str(folder))) as found:
        (first, out, err), (second, other, _) = (each.end() for each in found)
    assert (first, second) == (0, 0), err
    assert f"{folder}: 3 agents, " in out
    assert "agents" not in other
    return folder


@pytest.mark.slow
def test_two_processes_train_what_one_trains(by_two: Path, tmp_path: Path) -> None:
    four = tmp_path / "four"
    with commands(Command(*TRAIN, str(four), num_devices=4)) as (command,):
        assert command.end()[0] == 0
    assert files(four) == files(by_two)


@pytest.mark.slow
def test_on_several_devices_a_seed_learns_the_same_whatever_their_number_and_the_other_seeds(tmp_path: Path) -> None:
    curves: list[dict[str, list[dict[str, str]]]] = []
    for seed, num in ((2, 4), (3, 2)):
        out = tmp_path / str(num)
        sizes = ("--seed", str(seed), "--seeds", str(num), "--devices", str(num))
        train = ("train", "ppo", "CartPole-v1", "--setting", "total_steps=40000", *sizes, "--out", str(out))
        with commands(Command(*train, num_devices=4)) as (command,):
            assert command.end()[0] == 0
        rows = list(csv.DictReader((out / "curve.csv").read_text().splitlines()))
        names = [f"seed_{seed + number}" for number in range(num)]
        curves.append({name: [{**row, "agent": ""} for row in rows if row["agent"] == name] for name in names})
    assert curves[0]["seed_2"] != curves[0]["seed_3"]
    assert all(curves[0][name] == curves[1][name] for name in ("seed_3", "seed_4"))


SLOW = """
import sys, time
import envcore_cli
from envcore_baselines import training
training.train.__kwdefaults__["checkpoint_seconds"] = 1e9
point, told = training._point, []
def noticed(*args):
    if args[-1] >= 3:
        told or print("trained", file=sys.stderr, flush=True)
        told.append(True)
        time.sleep(0.1)
    return point(*args)
training._point = noticed
envcore_cli.main()
"""
"""`envcore`, which saves nothing by itself, says that the curve has three points, and goes on slowly from there."""


def wait_until_trained(command: Command) -> None:
    assert command.process.stderr is not None
    while (line := command.process.stderr.readline()) != "trained\n":
        assert line, "the command has ended"


@pytest.mark.slow
def test_training_in_two_processes_goes_on_after_one_was_killed(by_two: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    for number in range(2):
        with commands(*pair(*TRAIN, str(killed), program=SLOW.replace("1e9", "0.0"))) as found:
            for each in found:
                wait_until_trained(each)
            assert (killed / "checkpoint.safetensors").exists()
            found[number].process.send_signal(signal.SIGKILL)
            assert found[1 - number].end()[0] != 0
    with commands(*pair(*TRAIN, str(killed))) as found:
        assert [each.end()[0] for each in found] == [0, 0]
    assert files(killed) == files(by_two)


@pytest.mark.slow
def test_sigterm_to_one_of_two_processes_saves_the_training(by_two: Path, tmp_path: Path) -> None:
    out = tmp_path / "terminated"
    with commands(*pair(*TRAIN, str(out), program=SLOW)) as found:
        for each in found:
            wait_until_trained(each)
        found[1].process.send_signal(signal.SIGTERM)
        ends = [each.end() for each in found]
    assert [status for status, _, _ in ends] == [143] * 2, ends
    assert len((out / "curve.csv").read_text().splitlines()) > 3
    with commands(*pair(*TRAIN, str(out))) as found:
        assert [each.end()[0] for each in found] == [0, 0]
    assert files(out) == files(by_two)


@pytest.mark.slow
def test_all_processes_must_see_the_folder(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with commands(Command(*TRAIN, "one", folder=here)) as (command,):
        assert command.end()[0] == 0
    before, (first, second) = files(here / "one"), connected(2)
    with commands(Command(*TRAIN, "one", *first, folder=here), Command(*TRAIN, "one", *second, folder=there)) as found:
        ends = [each.end() for each in found]
    assert all(status == 1 and "the folder must be on a file system that they share" in err for status, _, err in ends)
    assert files(here / "one") == before


EAGER = """
import jax.numpy as jnp
from envcore_baselines.ppo import PPO

LIMIT = jnp.array(3.0)  # computed when the module is imported


class Mine(PPO):
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["es", "eager_agents:Mine"])
def test_two_processes_join_before_an_algorithm_computes_something(algorithm: str, tmp_path: Path) -> None:
    (tmp_path / "eager_agents.py").write_text(EAGER)
    out = tmp_path / "run"
    train = ("train", algorithm, "CartPole-v1", "--seeds", "2", "--setting", "total_steps=2000", "--out", str(out))
    with commands(*pair(*train, folder=tmp_path)) as found:
        ends = [each.end() for each in found]
    assert [status for status, _, _ in ends] == [0, 0], ends
    assert set(FILES) <= {path.name for path in out.iterdir()}
