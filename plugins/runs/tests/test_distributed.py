"""Devices and processes of a command."""

from __future__ import annotations

import re
import signal

import pytest
from envcore.errors import InvalidArgumentError
from envcore_runs import distributed
from several_processes import Command, commands, connected, pair


def numbers(out: str) -> list[str]:
    """The lines of a report that do not depend on the machine."""
    return [line.strip() for line in out.splitlines() if re.match("environment |episodes |return |length ", line)]


ROLLOUT = ("rollout", "CartPole-v1", "--num-envs", "64", "--steps", "300", "--seed", "3")


@pytest.mark.slow
def test_two_processes_report_what_one_reports() -> None:
    with commands(*pair(*ROLLOUT), Command(*ROLLOUT, num_devices=4), Command(*ROLLOUT, num_devices=1)) as found:
        (first, one_out, err), (second, two_out, _), (third, four, _), (fourth, alone, _) = (
            each.end() for each in found
        )
    assert (first, second, third, fourth) == (0, 0, 0, 0), err
    assert len(numbers(one_out)) == 4
    assert numbers(two_out) == []
    assert numbers(one_out) == numbers(four) == numbers(alone)
    assert "steps/s on 4 x cpu of 2 processes" in one_out
    assert "steps/s on 4 x cpu," in four


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "num_devices", "message"),
    [
        (("--seed", "1"), 2, "process 1 differs from process 0 in its command: they must match."),
        ((), 1, "the processes have different numbers of devices: start all of them with the same number."),
    ],
)
def test_processes_that_differ_end_with_one_line(more: tuple[str, ...], num_devices: int, message: str) -> None:
    flags = connected(2)
    second = Command(*ROLLOUT, *more, *flags[1], num_devices=num_devices)
    with commands(Command(*ROLLOUT, *flags[0]), second) as found:
        ends = [each.end() for each in found]
    assert [(status, err) for status, _, err in ends] == [(1, f"error: {message}\n")] * 2


RUNNING = """
import envcore_cli
from envcore_runs.loop import Loop
advance = Loop.advance
def announced(self, limit):
    Loop.advance = advance
    print("running", flush=True)
    return advance(self, limit)
Loop.advance = announced
envcore_cli.main()
"""
"""`envcore`, which says that its rollout has begun."""


@pytest.mark.slow
@pytest.mark.parametrize("killed", [0, 1])
def test_a_process_that_dies_ends_the_others(killed: int) -> None:
    with commands(*pair(*ROLLOUT[:4], "--steps", "2000000000", program=RUNNING)) as found:
        for each in found:
            assert each.process.stdout is not None
            assert "running\n" in iter(each.process.stdout.readline, "")
        found[killed].process.send_signal(signal.SIGKILL)
        assert found[1 - killed].end()[0] != 0


@pytest.mark.parametrize(
    ("args", "variables", "message"),
    [
        (("--process-id", "1"), {}, "coordinator_address should be defined"),
        (("--coordinator", "127.0.0.1:1"), {}, "Number of processes must be defined"),
        ((), {"SLURM_NTASKS": "4"}, r"coordinator_address should be defined.* To run alone, pass num_processes=1\."),
    ],
)
def test_errors_are_one_line(args: tuple[str, ...], variables: dict[str, str], message: str) -> None:
    with commands(Command(*ROLLOUT, *args, variables=variables)) as (command,):
        status, _, err = command.end()
    assert status == 1
    assert re.fullmatch(rf"error: JAX cannot connect the processes: \w+: {message}.*\n", err)


@pytest.mark.parametrize(
    ("coordinator", "address"),
    [("127.0.0.1:9", "127.0.0.1:9"), ("localhost:9", "localhost:9"), ("[::1]:9", "[::1]:9"), ("node3:9", None)],
)
def test_where_process_0_listens(coordinator: str, address: str | None) -> None:
    assert distributed._address(coordinator) == address


def test_things_are_split_evenly() -> None:
    assert [distributed.sharding("n", count).mesh.size for count in (1, 2, 3, 4)] == [1, 2, 1, 2]
    assert distributed.sharding("n", 4, devices=1).mesh.size == 1
    assert [distributed.sharding_of_some(count).mesh.size for count in (1, 3)] == [1, 2]
    with pytest.raises(InvalidArgumentError, match="devices is 64, but JAX has 2 in this process"):
        distributed.sharding("n", 4, devices=64)
