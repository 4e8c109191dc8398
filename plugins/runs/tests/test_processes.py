"""Devices and processes of a command."""

from __future__ import annotations

import ipaddress
import os
import re
import signal
import socket
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from command_line import Run
from envcore_runs import processes
from envcore_runs.program_cache import SOUND_SINCE
from several_processes import SOON, Command, commands, connected, free_port, pair


def numbers(out: str) -> list[str]:
    """The lines of a report that do not depend on the machine."""
    return [line.strip() for line in out.splitlines() if re.match("environment |episodes |return |length ", line)]


COUNTING = """
import atexit, sys
import envcore_cli, jax
events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
atexit.register(lambda: print(events.count("/jax/compilation_cache/cache_misses"), file=sys.stderr))
envcore_cli.main()
"""
"""`envcore`, which at the end says how many programs it did not find in the cache."""

ROLLOUT = ("rollout", "CartPole-v1", "--num-envs", "64", "--steps", "300", "--seed", "3")


@pytest.mark.slow
def test_two_processes_report_what_one_reports() -> None:
    with commands(*pair(*ROLLOUT), Command(*ROLLOUT, num_devices=4), Command(*ROLLOUT, num_devices=1)) as found:
        (first, one_out, err), (second, two_out, two_err), (third, four, _), (fourth, alone, _) = (
            each.end() for each in found
        )
    assert (first, second, third, fourth) == (0, 0, 0, 0), err
    assert (err, two_err) == ("", "")
    assert len(numbers(one_out)) == 4
    assert two_out == ""
    assert numbers(one_out) == numbers(four) == numbers(alone)
    assert "steps/s on 4 x cpu of 2 processes" in one_out
    assert "steps/s on 4 x cpu," in four


SLURM = {"SLURM_JOB_ID": "{id}", "SLURM_STEP_NODELIST": "127.0.0.1", "SLURM_NTASKS": "2"}
OPEN_MPI = {"OMPI_MCA_orte_hnp_uri": "{uri}.0;tcp://127.0.0.1:1", "OMPI_COMM_WORLD_SIZE": "2"}
RANKS = {"SLURM": ("SLURM_PROCID", "SLURM_LOCALID"), "Open MPI": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")}


@pytest.mark.slow
@pytest.mark.parametrize(("cluster", "variables"), [("SLURM", SLURM), ("Open MPI", OPEN_MPI)])
def test_processes_of_a_cluster_find_each_other(cluster: str, variables: dict[str, str]) -> None:
    job = os.getpid() % 4096  # JAX takes the port from the job's number
    shared = {name: value.format(id=job, uri=job * 4096) for name, value in variables.items()}
    each = [{**shared, **dict.fromkeys(RANKS[cluster], str(rank))} for rank in range(2)]
    with commands(*(Command(*ROLLOUT, variables=variables) for variables in each)) as found:
        (first, out, err), (second, nothing, _) = (command.end() for command in found)
    assert (first, second, nothing) == (0, 0, ""), err
    assert "steps/s on 4 x cpu of 2 processes" in out


def test_a_process_can_be_alone_in_a_cluster() -> None:
    variables = {name: value.format(id=1) for name, value in SLURM.items()} | dict.fromkeys(RANKS["SLURM"], "0")
    with commands(Command(*ROLLOUT, "--num-processes", "1", variables=variables)) as (alone,):
        status, out, err = alone.end()
    assert status == 0, err
    assert "steps/s on 2 x cpu," in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("process_id", "message"),
    [
        ("0", "error: not all processes have connected to 127.0.0.1:{port} within 2 s: are they all running?\n"),
        ("1", "error: nothing answers at 127.0.0.1:{port} within 2 s: is process 0 running, and can its port be "),
    ],
)
def test_an_absent_process_is_an_error_in_time(process_id: str, message: str) -> None:
    port = free_port()
    flags = ("--coordinator", f"127.0.0.1:{port}", "--num-processes", "2", "--connect-timeout", "2")
    with commands(Command(*ROLLOUT, *flags, "--process-id", process_id)) as (command,):
        status, out, err = command.end()
    assert (status, out) == (1, "")
    assert message.format(port=port) in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (ROLLOUT, (*ROLLOUT, "--seed", "1"), "process 1 was given --seed 1, and process 0 --seed 3"),
        (
            ROLLOUT,
            ("rollout", "Acrobot-v1", "--steps", "7", "--policy", "legal"),
            "process 1 was given Acrobot-v1, and process 0 CartPole-v1",
        ),
    ],
)
def test_processes_with_other_commands_end(first: tuple[str, ...], second: tuple[str, ...], message: str) -> None:
    flags = connected(2)
    with commands(Command(*first, *flags[0]), Command(*second, *flags[1], num_devices=1)) as found:
        ends = [each.end() for each in found]
    assert ends == [(1, "", f"error: {message}: give all processes the same command.\n")] * 2


@pytest.mark.slow
def test_a_number_that_is_given_twice_ends_both() -> None:
    flags = connected(2)[0]
    with commands(Command(*ROLLOUT, *flags), Command(*ROLLOUT, *flags)) as found:
        ends = [each.end() for each in found]
    message = "error: several processes were given --process-id 0: give each a number of its own.\n"
    assert ends == [(1, "", message)] * 2


ENDLESS = ("rollout", "CartPole-v1", "--num-envs", "64", "--steps", "2000000000")
ANNOUNCED = """
import envcore_cli
from envcore_runs import notes
from envcore_runs.measured_rollout import MeasuredRollout

advance = MeasuredRollout.advance


def announced(self, limit):
    MeasuredRollout.advance = advance
    notes.PATIENCE, notes.SELDOM = 1.0, 1000.0
    print("running", flush=True)
    return advance(self, limit)


MeasuredRollout.advance = announced
envcore_cli.main()
"""
"""`envcore`, which says that its rollout has begun, and soon for whom it waits."""


def wait_until_running(*found: Command) -> None:
    for each in found:
        assert each.process.stdout is not None
        while "will take about" in (line := each.process.stdout.readline()):
            pass  # on a slow machine
        assert line == "running\n"


@pytest.mark.slow
@pytest.mark.parametrize("killed", [0, 1])
def test_a_process_that_dies_ends_the_others(killed: int) -> None:
    with commands(*pair(*ENDLESS, program=ANNOUNCED)) as found:
        wait_until_running(*found)
        found[killed].process.send_signal(signal.SIGKILL)
        status, _, err = found[1 - killed].end()
    assert (status, err) == (1, f"error: process {killed} of this command has ended.\n")


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [0, 1])
def test_a_process_that_is_stopped_is_waited_for(stopped: int, tmp_path: Path) -> None:
    """The rollout is saved every five seconds, which shows that it goes on."""
    args = (*ENDLESS, "--out", str(tmp_path / "run"))
    with commands(*pair(*args, program=ANNOUNCED)) as found:
        wait_until_running(*found)
        other, process = found[1 - stopped].process, found[stopped].process
        process.send_signal(signal.SIGSTOP)
        assert other.stderr is not None
        assert other.stderr.readline() == f"note: waiting for process {stopped}, 1 s so far.\n"
        saved, until = tmp_path / "run" / "statistics.json", time.monotonic() + SOON
        before = saved.stat().st_mtime_ns if saved.exists() else 0
        process.send_signal(signal.SIGCONT)
        while not (saved.exists() and saved.stat().st_mtime_ns > before) and time.monotonic() < until:
            assert (process.poll(), other.poll()) == (None, None)
            time.sleep(0.1)
        assert saved.stat().st_mtime_ns > before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="the sockets of a process are not seen here")
def test_nothing_listens_on_other_interfaces() -> None:
    """Gloo, which is JAX's, listens at the address of the machine's name, which need not be the loopback."""
    named = {_as_the_kernel(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    with commands(*pair(*ENDLESS, program=ANNOUNCED)) as found:
        wait_until_running(*found)
        for each in found:
            addresses = set(listening(each.process.pid))
            assert any(address.endswith("0100007F") for address in addresses)
            assert {address for address in addresses if not address.endswith("0100007F")} <= named


def _as_the_kernel(address: str | int) -> str:
    """An IP address as the kernel writes it: the bytes of each word in the machine's order."""
    packed = ipaddress.ip_address(str(address).partition("%")[0]).packed
    return "".join(packed[at : at + 4][::-1].hex().upper() for at in range(0, len(packed), 4))


def listening(pid: int) -> list[str]:
    """The addresses at which a process listens, as the kernel writes them."""
    sockets = {str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listens = "0A"
    return [row[1].partition(":")[0] for row in rows if row[3] == listens and f"socket:[{row[9]}]" in sockets]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--devices", "0"), "--devices must be at least 1, got 0"),
        (("--devices", "64"), "--devices 64, but JAX has 2 in this process"),
        (
            ("--connect-timeout", str(2**62)),
            "--connect-timeout must be at most 1,000,000, got 4,611,686,018,427,387,904",
        ),
        (("--connect-timeout", "0"), "--connect-timeout must be at least 1, got 0"),
        (("--num-processes", "2"), "--num-processes and --process-id need --coordinator HOST:PORT"),
        (("--coordinator", "a:99999"), "--coordinator must be HOST:PORT, as in 10.0.0.1:1234, got 'a:99999'"),
        (
            ("--coordinator", "a:1", "--num-processes", "2", "--process-id", "2"),
            "--process-id must be at least 0 and less than --num-processes, got 2",
        ),
    ],
)
def test_errors_are_one_line(run: Run, args: tuple[str, ...], message: str) -> None:
    status, _, err = run("rollout", "Counter-v0", *args)
    assert (status, err) == (1, f"error: {message}.\n")


def test_one_process_gathers_its_own_numbers() -> None:
    rows = np.array([[1.5, 2**-60]])
    np.testing.assert_array_equal(processes.gathered(rows), rows)


@pytest.mark.slow
@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_the_second_start_compiles_nothing(tmp_path: Path) -> None:
    def misses() -> str:
        with commands(Command(*ROLLOUT, "--cache", str(tmp_path), program=COUNTING)) as (command,):
            status, _, err = command.end()
        assert status == 0, err
        return err.splitlines()[-1]

    assert int(misses()) > 1
    assert int(misses()) == 0
