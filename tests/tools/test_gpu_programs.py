"""`tools/benchmark --gpu-programs`: programs compiled for a GPU that is not there, and their table."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import envcore
import jax
import pytest
from envcore_testing.numerics import numerics
from tool_modules import TOOLS

ROW: dict[str, Any] = {
    "id": "Pong-misc",
    "num_envs": 2048,
    "program": "envcore",
    "target": "h100",
    "jax": "0.10.2",
    "kernels": 9.0,
    "starts": 10.0,
    "inner_loops": 1.0,
    "copies": 0.0,
    "bytes": 2048e4,
    "temporary": 3e6,
    "compile_seconds": 1.25,
}


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS / "benchmark"))
    registry: Any = envcore.registry  # other tests find it without the environments that do nothing
    monkeypatch.setattr(registry, "_local", {**registry._local})
    monkeypatch.setattr(registry, "_cached", None)
    return importlib.import_module("programs")


@pytest.fixture
def compiler(programs: Any) -> Any:
    return importlib.import_module("gpu_compiler")


@pytest.mark.parametrize("name", ["h100", "h200", "a100"])
def test_a_target_is_described_as_xla_reads_it(compiler: Any, name: str) -> None:
    text = compiler.TARGETS[name].config()
    assert text.count("{") == text.count("}")
    assert f'device_description_str: "NVIDIA {name.upper()}' in text
    major = 8 if name == "a100" else 9
    assert f"cuda_compute_capability {{ major: {major} minor: 0 }}" in text
    bandwidth = {"h100": 3_352, "h200": 4_800, "a100": 2_039}[name]
    assert f"memory_bandwidth: {bandwidth}000000000\n" in text


def test_without_the_compiler_it_says_so(compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler._sharding.cache_clear()
    monkeypatch.setattr(compiler, "is_installed", lambda: False)
    with pytest.raises(SystemExit, match="not installed; use `uv run --group gpu-compiler`"):
        compiler.compile_for("h100", lambda x: x, 1.0)


def test_every_environment_in_every_program(programs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_has_gymnax", lambda env_id: env_id == "Seaquest-MinAtar")
    every = programs.environments()
    assert every == programs.environments()  # a second call registers nothing twice
    assert {"CartPole-v1", "MNISTBandit-bsuite", "WindyGridworld-v0", *programs.NOTHING} < set(every)
    assert not [each for each in every if "/" in each]
    found = list(programs.cases(every))
    assert len(set(found)) == len(found)
    for name in ("envcore", "import swap", "rewards only", "PPO"):
        ids = {*every} - ({*programs.NOTHING} if name == "PPO" else set())
        assert {(env_id, num) for env_id, num, each in found if each == name} == {
            (env_id, num) for env_id in ids for num in (2_048, 65_536, 1_048_576)
        }
    learners = {env_id for env_id, _, each in found if each == "PureJaxRL's PPO"}
    assert {"CartPole-v1", "Pong-misc"} < learners < {*every} - {"Pendulum-v1", *programs.NOTHING}
    gymnax = ("gymnax", "PureJaxRL's PPO on gymnax")
    seaquest = [case[1:] for case in found if case[2] in gymnax]
    assert seaquest == [(num, name) for name in gymnax for num in (2_048, 65_536, 1_048_576)]


def compiled_here(target: str, fun: Any, *structs: Any) -> Any:
    return jax.jit(fun).lower(*structs).compile()


def test_no_images_are_downloaded(programs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "compile_for", compiled_here)
    assert programs.measure("MNISTBandit-bsuite", 2048, "rewards only", "h100")["kernels"] > 0


@pytest.mark.parametrize("name", ["envcore", "import swap", pytest.param("PPO", marks=pytest.mark.slow)])
def test_a_row(programs: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "compile_for", compiled_here)
    with numerics():  # optax relies on it
        row = programs.measure("CartPole-v1", 2048, name, "h200")
    assert (row["id"], row["num_envs"], row["program"], row["target"]) == ("CartPole-v1", 2048, name, "h200")
    assert row["starts"] >= row["kernels"] > 5
    assert (row["inner_loops"] > 0) == (name != "envcore")  # `jax.random` has loops on a CPU
    assert row["bytes"] > 2048 * 4 * 4
    assert row["temporary"] > 0
    assert row["compile_seconds"] > 0


def test_what_does_not_compile_has_a_row_that_says_why(programs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any) -> None:
        raise RuntimeError("INTERNAL: no ptxas\nsecond line")

    monkeypatch.setattr(programs, "compile_for", fails)
    row = programs.measure("CartPole-v1", 2048, "envcore", "h100")
    assert row["error"] == "INTERNAL: no ptxas"
    assert "| CartPole-v1 | 2,048 | envcore | INTERNAL: no ptxas |" in programs.markdown([row], header=False)


def test_a_second_run_goes_on(programs: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[tuple[str, int, str]] = []

    def measure(env_id: str, num_envs: int, name: str, target: str) -> Any:
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append((env_id, num_envs, name))
        return ROW | {"id": env_id, "num_envs": num_envs, "program": name, "target": target}

    monkeypatch.setattr(programs, "measure", measure)
    monkeypatch.setattr(jax, "clear_caches", lambda: None)
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([ROW | {"target": "a100"}]))
    with pytest.raises(KeyboardInterrupt):
        programs.compile_all(path, [], "h100")
    assert [row["target"] for row in json.loads(path.read_text())] == ["a100", "h100", "h100", "h100"]
    first = done.copy()
    done.clear()
    with pytest.raises(KeyboardInterrupt):
        programs.compile_all(path, [], "h100")
    assert not {*first} & {*done}
    assert len(json.loads(path.read_text())) == 7
    done.clear()
    with pytest.raises(KeyboardInterrupt):
        programs.compile_all(path, [first[0][0]], "h100")
    assert done[0] == first[0]  # what is named is compiled again


def test_an_unknown_id_is_named(programs: Any, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="error: no program for Tetris-v0; ids are Nothing-v0"):
        programs.compile_all(tmp_path / "rows.json", ["Tetris-v0"], "h100")


def test_times_are_bound_by_starts_or_by_bytes(programs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "us_per_start", lambda: 1.5)
    assert programs.microseconds(ROW) == 15
    assert programs.microseconds(ROW | {"bytes": 4.8e9}) == pytest.approx(1_000)


def test_the_time_of_a_kernel_is_a_median_of_measured_ones(
    programs: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [{"id": "A", "num_envs": 2048, "variant": "envcore", "us": us, "kernels": 10.0} for us in (10, 12, 30)]
    rows += [rows[0] | {"num_envs": 65_536, "us": 900}, rows[0] | {"variant": "unroll 4", "us": 1}]
    path = tmp_path / "gpu.json"
    path.write_text(json.dumps(rows))
    monkeypatch.setattr(programs, "_MEASURED", path)
    assert programs.us_per_start() == 1.2


def test_a_line_of_the_table(programs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "us_per_start", lambda: 1.5)
    monkeypatch.setattr(programs, "_measured", lambda: {("Pong-misc", 2048, "envcore"): 20.6})
    header, _, line = programs.markdown([ROW], header=True).splitlines()
    assert header.startswith("| id | environments | program | kernels | starts | inner loops | copies |")
    assert line == "| Pong-misc | 2,048 | envcore | 9 | 10 | 1 | 0 | 10000 | 3 | 1.2 | 15 | 20.6 |"


LIGHT_AND_HEAVY = (
    "MountainCar-v0",
    "Acrobot-v1",
    "CartPole-v1",
    "SimpleBandit-bsuite",
    "DeepSeaStochastic-bsuite",
    "FrozenLake-misc",
    "MetaMaze-misc",
    "PointRobot-misc",
    "Pong-misc",
    "Reacher-misc",
    "Swimmer-misc",
    "Breakout-MinAtar",
    "Seaquest-MinAtar",
    "WindyGridworld-v0",
)
ROLLOUTS = ("CartPole-v1", "Asterix-MinAtar", "Seaquest-MinAtar")
COUNT = """
import json, sys
sys.path.insert(0, sys.argv[1])
import jax
jax.config.update("jax_platforms", "cpu")  # before any other use of JAX
import programs
print(json.dumps([programs.measure(env_id, 2048, name, "h100") for env_id, name in json.loads(sys.argv[2])]))
"""


def test_the_table_has_the_kernels_and_bytes_of_one_environment() -> None:
    table = json.loads((TOOLS / "site/data/programs.json").read_text())
    rows = [row for row in table if (row["num_envs"], row["program"]) == (2048, "envcore")]
    # Three more than the loop's own, and one more for Swimmer, whose state has arrays of three sizes.
    assert {row["id"]: row["kernels"] for row in rows if row["kernels"] > 12} == {"Swimmer-misc": 13}
    assert max(row["kernels"] for row in table if (row["num_envs"], row["program"]) == (2048, "rewards only")) <= 10
    assert {row["id"]: row["bytes"] for row in rows if not 16 <= row["bytes"] < 20_000} == {}


@pytest.mark.exhaustive
def test_no_environment_has_gained_a_kernel(compiler: Any) -> None:
    if not compiler.is_installed():
        pytest.skip("XLA's compiler for GPUs is not installed: uv sync --group gpu-compiler")
    asked = [(env_id, "envcore") for env_id in LIGHT_AND_HEAVY] + [(env_id, "rewards only") for env_id in ROLLOUTS]
    command = [sys.executable, "-c", COUNT, str(TOOLS / "benchmark"), json.dumps(asked)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    table = json.loads((TOOLS / "site/data/programs.json").read_text())
    known = {(row["id"], row["program"]): row["kernels"] for row in table if row["num_envs"] == 2048}
    gained = [row for row in found if row.get("kernels", 1e9) > known[row["id"], row["program"]]]
    assert not gained
