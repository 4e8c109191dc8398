"""Tasks on a real cluster of two nodes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import envcore_ray
import pytest
import ray
from counting import Count, Task
from envcore.errors import InvalidArgumentError
from envcore_bsuite.agents import random_agent
from envcore_bsuite.runner import run
from envcore_ray.errors import ClusterError, TasksFailedError
from envcore_ray.workers import RayWorkers
from envcore_runs import interrupt
from several_processes import free_port

pytestmark = [
    # Ray starts its processes from one that has used JAX, which warns of that, also where nothing can catch it.
    pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

IDS = ("memory_len/0", "memory_len/2", "bandit/3", "catch/1")


class Record:
    """What tasks report: numbers by task, the nodes they ran on, and which have finished."""

    def __init__(self) -> None:
        self.numbers: dict[str, list[int]] = {}
        self.nodes: dict[str, list[str]] = {}
        self.finished: list[str] = []

    def handle(self, name: str, update: tuple[str, int], state: int | None) -> None:
        node, number = update
        self.numbers.setdefault(name, []).append(number)
        self.nodes.setdefault(name, []).append(node)

    def finish(self, name: str) -> None:
        self.finished.append(name)


def logs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".csv"}


def second_node(cluster: Any) -> str:
    """The id of the node that is not the head."""
    (node,) = cluster.worker_nodes
    return node.node_id


def test_importing_the_package_imports_neither_ray_nor_jax() -> None:
    code = "import sys, envcore_ray, envcore_ray.plugin; print([x for x in ('ray', 'jax') if x in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert envcore_ray.RayWorkers is RayWorkers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_cpus": -1}, "num_cpus and num_gpus must be at least 0, got -1 and 0"),
        ({"num_gpus": -0.5}, "num_cpus and num_gpus must be at least 0, got 1 and -0.5"),
        ({"address": "ray://a:1"}, "address must be HOST:PORT .* or 'auto', got 'ray://a:1'"),
        ({"attempts": 0}, "attempts must be a positive integer, got 0"),
    ],
)
def test_invalid_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        RayWorkers(**arguments)


def test_without_tasks_nothing_is_started() -> None:
    record = Record()
    RayWorkers().run({}, 1, record.handle, record.finish)
    assert not ray.is_initialized()


@pytest.mark.slow
def test_the_failing_and_the_killing_tasks_are_named_and_the_others_finish(cluster: Any) -> None:
    tasks = {
        "good": Task(Count(4)),
        "resumed": Task(Count(4), 2),
        "bad": Task(Count(9, fails_at=2)),
        "deadly": Task(Count(9, kills_at=0)),
    }
    record = Record()
    workers = RayWorkers(cluster.address, attempts=2)
    with pytest.raises(TasksFailedError, match=r"^2 of 4 tasks failed 2 times in a row: ") as failed:
        workers.run(tasks, 1e9, record.handle, record.finish)
    assert failed.value.reasons.keys() == {"bad", "deadly"}
    assert failed.value.reasons["bad"] == "ValueError: no 2 and more lines"
    assert "Error: " in failed.value.reasons["deadly"]
    assert sorted(record.finished) == ["good", "resumed"]
    assert (record.numbers["good"], record.numbers["resumed"]) == ([0, 1, 2, 3], [2, 3])
    assert record.numbers["bad"] == [0, 1, 0, 1]
    assert not ray.is_initialized()


@pytest.mark.slow
def test_a_task_continues_from_its_last_state_and_may_fail_again_after_it(cluster: Any) -> None:
    record = Record()
    with pytest.raises(TasksFailedError, match="1 of 1 tasks failed 3 times in a row: a "):
        RayWorkers(cluster.address, attempts=3).run({"a": Task(Count(9, fails_at=5))}, 0, record.handle, record.finish)
    assert record.numbers["a"] == [0, 1, 2, 3, 4]  # the state is 5: nothing is played twice


@pytest.mark.slow
def test_both_nodes_work_and_one_that_is_lost_is_replaced(cluster: Any, capfd: pytest.CaptureFixture[str]) -> None:
    tasks = {name: Task(Count(40, seconds=0.05)) for name in "abcd"}
    record, lost = Record(), second_node(cluster)

    def handle(name: str, update: Any, state: Any) -> None:
        record.handle(name, update, state)
        if cluster.worker_nodes and update == (lost, 20):
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    capfd.readouterr()
    RayWorkers(cluster.address, attempts=2).run(tasks, 0.1, handle, record.finish)
    assert capfd.readouterr() == ("", "")  # Ray would print its state
    assert not cluster.worker_nodes
    assert sorted(record.finished) == list("abcd")
    moved = [name for name in tasks if len(set(record.nodes[name])) == 2]
    assert len(moved) == 1
    for name, numbers in record.numbers.items():
        assert set(numbers) == set(range(40))
        again = len(numbers) - 40
        assert again == 0 if name not in moved else 0 <= again < 10


@pytest.mark.slow
@pytest.mark.parametrize(("hangs_at", "saved"), [(None, {"a", "b"}), (1, {"a"})])
def test_an_interrupt_asks_for_the_last_states_of_those_that_answer_in_time(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, hangs_at: int | None, saved: set[str]
) -> None:
    record, states, wait = Record(), dict[str, int](), ray.wait
    was_interrupted = False

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        nonlocal was_interrupted
        if not was_interrupted and record.numbers.keys() == {"a", "b"}:
            was_interrupted = True
            raise KeyboardInterrupt
        return wait(*args, **kwargs)

    def handle(name: str, update: Any, state: int | None) -> None:
        record.handle(name, update, state)
        if state is not None:
            states[name] = state

    tasks = {"a": Task(Count(10**6, seconds=0.05)), "b": Task(Count(10**6, seconds=0.05, hangs_at=hangs_at))}
    monkeypatch.setattr(ray, "wait", interrupted)
    monkeypatch.setattr(interrupt, "grace", lambda: 5.0)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        RayWorkers(cluster.address).run(tasks, 1e9, handle, record.finish)
    assert time.monotonic() - began < 55
    assert states == {name: record.numbers[name][-1] + 1 for name in saved}
    assert record.finished == []


@pytest.mark.slow
def test_a_task_that_fits_on_no_node_is_an_error_in_time(cluster: Any) -> None:
    record = Record()
    workers = RayWorkers(cluster.address, num_cpus=2, num_gpus=0.5, patience=2)
    with pytest.raises(ClusterError, match=r"no node of the Ray cluster has 2 CPU and 0\.5 GPU, which a task needs"):
        workers.run({"a": Task(Count(3))}, 1, record.handle, record.finish)


def test_an_address_without_a_cluster_is_one_line() -> None:
    address = f"127.0.0.1:{free_port()}"
    record = Record()
    with pytest.raises(ClusterError, match=f"^nothing answers at {address}: Connection refused.$"):
        RayWorkers(address).run({"a": Task(Count(3))}, 1, record.handle, record.finish)


def test_an_address_that_ray_does_not_know_is_one_line() -> None:
    record = Record()
    with pytest.raises(ClusterError, match=r"^cannot use Ray at elsewhere: ") as error:
        RayWorkers("elsewhere").run({"a": Task(Count(3))}, 1, record.handle, record.finish)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_bsuite_on_a_cluster_writes_the_logs_of_the_local_runner(cluster: Any, tmp_path: Path) -> None:
    run(random_agent, tmp_path / "local", IDS)
    run(random_agent, tmp_path / "cluster", IDS, workers=RayWorkers(cluster.address))
    assert len(logs(tmp_path / "local")) == 4
    assert logs(tmp_path / "cluster") == logs(tmp_path / "local")
    assert not list((tmp_path / "cluster").glob(".*"))


@pytest.mark.slow
def test_an_interrupted_run_on_a_cluster_continues_here(cluster: Any, tmp_path: Path) -> None:
    run(random_agent, tmp_path / "local", ["memory_len/22"])

    class Interrupted(RayWorkers):
        def run(self, tasks: Any, seconds: float, handle: Any, finish: Any) -> None:
            def interrupted(name: str, update: Any, state: Any) -> None:
                handle(name, update, state)
                if any(len(rows) == 8 for rows in update.rows.values()):
                    raise KeyboardInterrupt

            super().run(tasks, seconds, interrupted, finish)

    folder, workers = tmp_path / "cluster", Interrupted(cluster.address)
    with pytest.raises(KeyboardInterrupt):
        run(random_agent, folder, ["memory_len/22"], workers=workers, checkpoint_seconds=0)
    assert not ray.is_initialized()
    assert list(folder.glob(".checkpoint-*"))
    run(random_agent, folder, ["memory_len/22"])
    assert logs(folder) == logs(tmp_path / "local")
