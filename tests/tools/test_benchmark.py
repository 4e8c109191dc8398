"""The benchmark: the readings of its programs, its rows and its report. The peer libraries are not installed here."""

from __future__ import annotations

import dataclasses
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import envcore
import jax
import numpy as np
import pytest
from envcore_testing.compilation import quick_jit
from envcore_testing.numerics import numerics
from tool_modules import TOOLS, load_tool

NUM_ENVS, NUM_STEPS = 3, 5
KEY = jax.random.PRNGKey(3)


@pytest.fixture
def workloads(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS / "benchmark"))
    return importlib.import_module("workloads")


def played_by_hand(env_id: str) -> float:
    """The rewards of gymnax's loop, and column `number` of the observations before step `number`."""
    env: Any
    env, params = envcore.make(env_id)
    reset, step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))
    key, key_reset = jax.random.split(KEY, 2)
    obs, state = reset(jax.random.split(key_reset, NUM_ENVS), params)
    total = 0.0
    for number in range(NUM_STEPS):
        flat = np.asarray(obs, np.float32).reshape(NUM_ENVS, -1)
        total += flat[:, number % flat.shape[1]].sum()
        key, key_act, key_step = jax.random.split(key, 3)
        action = jax.random.randint(key_act, (NUM_ENVS,), 0, env.action_space(params).n)
        obs, state, reward = step(jax.random.split(key_step, NUM_ENVS), state, action, params)[:3]
        total += float(reward.sum())
    return total


@pytest.mark.parametrize("reading", ["own", "float32"])
@pytest.mark.parametrize(
    "env_id",
    ["CartPole-v1", *(pytest.param(each, marks=pytest.mark.slow) for each in ("FrozenLake-misc", "Seaquest-MinAtar"))],
)
def test_the_loop_reads_another_column_in_each_step(workloads: Any, env_id: str, reading: str) -> None:
    run = workloads.envcore_same_loop(env_id, NUM_ENVS, NUM_STEPS, reading)
    assert float(jax.jit(run)(KEY)) == pytest.approx(played_by_hand(env_id), rel=1e-5)


def instructions_of_loops(program: str) -> list[str]:
    """The arrays that `while` bodies of a compiled program and their callees store, but not those inside fusions."""
    computations = {}
    for part in program.split("\n}\n"):
        found = re.search(r"^(?:ENTRY )?%(\S+) \(.*\{$", part, flags=re.MULTILINE)
        if found:
            computations[found[1]] = part[found.end() :].splitlines()
    inside, left = set(), re.findall(r"body=%([\w.-]+)", program)
    while left:
        name = left.pop()
        if name not in inside:
            inside.add(name)
            left += re.findall(r"(?:to_apply|body)=%([\w.-]+)", "\n".join(computations[name]))
    return [line for name in inside for line in computations[name] if " = " in line]


@pytest.mark.slow
@pytest.mark.parametrize("reading", ["own", "float32"])
@pytest.mark.parametrize("builder", ["memory_floor", "envcore_same_loop", "envcore_vmap", "envcore_rollout"])
def test_every_step_stores_the_whole_observation(workloads: Any, builder: str, reading: str) -> None:
    """The compiled loop stores floats for all cells in one reading, and none in the other."""
    run = getattr(workloads, builder)("Breakout-MinAtar", NUM_ENVS, NUM_STEPS, reading)
    inside = instructions_of_loops(str(jax.jit(run).lower(KEY).compile().as_text()))
    written = [line for line in inside if re.search(r" (convert|fusion|compare|broadcast|call|bitcast)\(", line)]
    floats, bools = (
        any(f" = {dtype}[{NUM_ENVS},{shape}]" in line for line in written for shape in ("400", "10,10,4"))
        for dtype in ("f32", "pred")
    )
    assert floats if reading == "float32" else bools and not floats


@pytest.mark.parametrize("reading", ["own", "float32"])
def test_the_floor_writes_new_numbers_in_each_step(workloads: Any, reading: str) -> None:
    run = workloads.memory_floor("Breakout-MinAtar", NUM_ENVS, NUM_STEPS, reading)
    # Zeros at first, then whether the sum of the environment's number and the step's is odd.
    expected = sum((env + step) % 2 for step in range(1, NUM_STEPS) for env in range(NUM_ENVS))
    assert float(jax.jit(run)(KEY)) == expected


def test_float32_observations_are_read_once(workloads: Any) -> None:
    both = {"own": "bool", "float32": "float32"}
    for variant in ("memory floor", "envcore, same loop", "envcore", "envcore rollout"):
        assert workloads.readings(variant, "Freeway-MinAtar") == both
        assert workloads.readings(variant, "CartPole-v1") == {"float32": "float32"}
    assert workloads.readings("envcore", "FrozenLake-misc") == {"own": "int32", "float32": "float32"}
    assert workloads.readings("envcore + MLP", "Freeway-MinAtar") == {"network": "network"}


@pytest.mark.slow
@pytest.mark.parametrize("program", ["envcore + PPO", "envcore + its PPO"])
def test_training_on_envcore(workloads: Any, program: str) -> None:
    """gymnax is not installed here; with it, only `reset` and `step` are exchanged."""
    assert workloads.readings(program, "Freeway-MinAtar") == {"network": "network"}
    run = quick_jit(workloads.VARIANTS[program]("CartPole-v1", 8, 64, "network"))
    with numerics():  # optax relies on it
        first, again, other = (float(run(key)) for key in (KEY, KEY, jax.random.key(1)))
    assert first == again != other
    assert first > 200  # of 512 rewards, those of episodes that ended; the sum of the weights is small


@pytest.mark.slow
def test_a_row_for_each_program_and_reading(workloads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = importlib.import_module("measure")
    monkeypatch.setattr(jax, "clear_caches", lambda: None)
    monkeypatch.setitem(workloads.BASELINES, "envcore rollout", "envcore")
    variants = ["memory floor", "envcore", "envcore rollout"]
    rows = measure.measure("Breakout-MinAtar", NUM_ENVS, NUM_STEPS, variants, repeats=2, compiles=1, devices=1)
    assert [(row["variant"], row["reads"]) for row in rows] == [(v, r) for v in variants for r in ("bool", "float32")]
    rates = {(row["variant"], row["reads"]): row["steps_per_second"] for row in rows}
    for row in rows:
        rate, reads = row["steps_per_second"], row["reads"]
        assert row["of_floor"] == pytest.approx(rates["memory floor", reads] / rate)
        if row["variant"] == "envcore rollout":
            assert row["ratio"] == pytest.approx(rate / rates["envcore", reads])
        else:
            assert row["ratio"] is None  # no gymnax here


def test_a_baseline_with_float32_alone_is_compared_in_that(workloads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    measure = importlib.import_module("measure")
    monkeypatch.setattr(jax, "clear_caches", lambda: None)
    monkeypatch.setattr(
        measure, "readings", lambda variant, _: {"float32": "float32"} if variant == "gymnax" else {"own": "bool"}
    )
    monkeypatch.setitem(workloads.VARIANTS, "gymnax", workloads.envcore_vmap)
    rows = measure.measure("Breakout-MinAtar", NUM_ENVS, NUM_STEPS, ["gymnax", "envcore"], 1, 1, 1)
    assert rows[1]["ratio"] == pytest.approx(rows[1]["steps_per_second"] / rows[0]["steps_per_second"])


def test_one_line_per_row() -> None:
    row = {
        "id": "CartPole-v1",
        "num_envs": 2048,
        "variant": "envcore",
        "reads": "float32",
        "steps_per_second": 42.683e6,
        "ratio": 4.9012,
        "of_floor": 1.2345,
        "baseline": "gymnax",
        "compile_seconds": 1.234,
    }
    bare = {**row, "ratio": None, "of_floor": None}
    lines = load_tool("benchmark/report.py").markdown([row, bare], header=True).splitlines()
    assert lines[0] == "| id | environments | reads | program | M steps/s | ratio | to | of floor | compile s |"
    assert set(lines[1]) == {"|", "-"}
    assert lines[2] == "| CartPole-v1 | 2,048 | float32 | envcore | 42.7 | 4.90 | gymnax | 1.23 | 1.23 |"
    assert lines[3] == "| CartPole-v1 | 2,048 | float32 | envcore | 42.7 |  | gymnax |  | 1.23 |"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Another checkout of envcore, whose only program is this one's with ten times as many steps."""
    (tmp_path / ".venv/bin").mkdir(parents=True)
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    folder = tmp_path / "tools/benchmark"
    folder.mkdir(parents=True)
    (folder / "workloads.py").write_text(
        "import importlib.util, sys\n"
        f"sys.path.append({str(TOOLS / 'benchmark')!r})\n"
        f"spec = importlib.util.spec_from_file_location('now', {str(TOOLS / 'benchmark/workloads.py')!r})\n"
        "now = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(now)\n"
        "VARIANTS = {'envcore': lambda env_id, num_envs, num_steps, reading: now.VARIANTS['envcore'](\n"
        "    env_id, num_envs, 10 * num_steps, reading)}\n"
    )
    return tmp_path


@pytest.mark.slow
@pytest.mark.long
def test_two_versions_take_turns(workloads: Any, checkout: Path) -> None:
    versions = importlib.import_module("versions")
    (row,) = versions.compare(checkout, "CartPole-v1", 64, 2000, ["envcore"], repeats=3, compiles=1)
    assert len(row["seconds"]) == 3
    assert 0.03 < row["time_ratio"] < 0.6  # it takes a tenth of the steps
    header, _, line = versions.markdown([row], header=True).splitlines()
    assert header.endswith("| time after / before | compile time after / before |")
    assert line.startswith("| CartPole-v1 | 64 | float32 | envcore | ")


def test_a_version_that_does_not_run_ends_the_comparison(workloads: Any, checkout: Path) -> None:
    (checkout / "tools/benchmark/workloads.py").write_text("raise SystemExit(3)")
    versions = importlib.import_module("versions")
    with pytest.raises(SystemExit, match="ended with status 3"):
        versions.compare(checkout, "CartPole-v1", 8, 10, ["envcore"], repeats=1, compiles=1)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "reading"), [("envcore rollout", "float32"), ("envcore + MLP", "network")])
def test_a_program_on_all_devices_does_the_same(workloads: Any, variant: str, reading: str) -> None:
    whole = jax.jit(workloads.VARIANTS[variant]("CartPole-v1", 8, NUM_STEPS, reading))(KEY)
    split = jax.jit(workloads.on_all_devices(variant, "CartPole-v1", 8, NUM_STEPS, reading))(KEY)
    assert float(split) == pytest.approx(float(whole), rel=1e-5)


@pytest.mark.slow
def test_cores_take_turns(workloads: Any) -> None:
    scaling = importlib.import_module("scaling")
    (row,) = scaling.scale(2, "CartPole-v1", 4096, 500, ["envcore", "envcore rollout"], repeats=3, compiles=1)
    assert len(row["seconds"]) == 3
    assert row["variant"] == "envcore rollout"
    assert all(0.2 < ratio < 5 for ratio in row["ratios"])
    header, _, line = scaling.markdown([row], header=True).splitlines()
    assert header.endswith("| one core | threads | devices | to one core | to threads |")
    assert line.startswith("| CartPole-v1 | 4,096 | float32 | envcore rollout | ")


@pytest.fixture
def gpu(workloads: Any) -> Any:
    return importlib.import_module("gpu")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [{"unroll": 4}, {"is_packed": True}, {"boundary": True}, {"boundary": False}, {"unroll": 3, "is_packed": True}],
)
@pytest.mark.parametrize("env_id", ["CartPole-v1", pytest.param("Breakout-MinAtar", marks=pytest.mark.slow)])
def test_cheaper_iterations_do_the_same(gpu: Any, env_id: str, change: dict[str, Any]) -> None:
    def total(**change: Any) -> float:
        case = gpu.Case(env_id, NUM_ENVS, "envcore", **change)
        with gpu._boundary(case.boundary):
            return float(quick_jit(gpu.program_of(case, 12))(jax.random.key(1)))

    assert total(**change) == pytest.approx(total(), rel=1e-5)


def test_a_row_of_the_table_for_gpus(gpu: Any) -> None:
    case = gpu.Case("CartPole-v1", 8, "unroll 2", unroll=2)
    row = gpu.measure(case, 8)
    assert row["kernels"] > 5
    header, _, line = gpu.markdown([row], header=True).splitlines()
    assert header.startswith("| id | environments | program | M steps/s | us / iteration | kernels | ms / 1 M steps |")
    assert line.startswith("| CartPole-v1 | 8 | unroll 2 | ")


@pytest.mark.slow
def test_a_fused_rollout_is_a_row_of_its_own(gpu: Any) -> None:
    case = gpu.Case("Catch-bsuite", 8, gpu.REWARDS, is_fused=True)
    assert case in {dataclasses.replace(each, num_envs=8) for each in gpu.cases()}
    ours, theirs = (gpu.program_of(dataclasses.replace(case, is_fused=x), 12)(jax.random.key(1)) for x in (True, False))
    assert np.array_equal(ours, theirs)
    assert np.any(ours)
    line = gpu.markdown([gpu.measure(case, 12)], header=False)
    assert line.startswith("| Catch-bsuite | 8 | rewards only, fused | ")


def test_every_suite_is_measured_at_every_size(gpu: Any) -> None:
    found = gpu.cases()
    for num_envs in gpu.STEPS:
        ids = {case.env_id for case in found if case.num_envs == num_envs}
        assert all(ids & set(suite) for suite in importlib.import_module("workloads").SUITES.values())
    assert len(set(found)) == len(found)


def test_without_a_gpu_it_says_so(gpu: Any) -> None:
    with pytest.raises(SystemExit, match="--gpu needs a GPU; JAX has cpu"):
        gpu.measure_all(1)


@pytest.mark.slow
def test_what_does_not_fit_into_the_time_is_named(gpu: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rows, without = gpu.measure_all(0, is_trial=True)
    assert rows == []
    assert len(without) == len(gpu.cases((8,)))
    assert "CartPole-v1, 8, envcore: no time" in capsys.readouterr().out


@pytest.mark.slow
def test_a_bridge_and_its_library_take_turns(workloads: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bridges = importlib.import_module("bridges")
    (row,) = bridges.measure_all(("pgx/2048", "nowhere/Walk"), NUM_ENVS, NUM_STEPS, repeats=2)
    assert (row["id"], row["num_envs"]) == ("pgx/2048", NUM_ENVS)
    assert row["ratio"] > 0
    assert "nowhere/Walk is left out: nowhere is not installed" in capsys.readouterr().out
    assert bridges.markdown([row], header=True).splitlines()[-1].startswith("| pgx/2048 | 3 | ")


@pytest.mark.slow
def test_waiting_is_measured_without_and_with_kept_programs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS / "benchmark"))
    waiting, processes = map(importlib.import_module, ("waiting", "processes"))
    cold = processes.last_line(waiting.__file__, "envcore", "step", "Catch-bsuite", str(tmp_path))
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*-cache")}
    assert any(name.startswith("jit_step") for name in kept)
    cached = processes.last_line(waiting.__file__, "envcore", "step", "Catch-bsuite", str(tmp_path), "--cached")
    assert min(cold, cached) > 0
    assert kept == {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*-cache")}  # nothing was compiled
    assert processes.last_line(waiting.__file__, "envcore", "step", "Nothing-v9", str(tmp_path)) is None
    assert "Nothing-v9" in capfd.readouterr().err
    seconds = {"step": [1.25, 0.5], "rollout": [2.0, 1.0], "update": [None, None]}
    row = {"id": "Catch-bsuite", "variant": "envcore", **seconds}
    assert waiting.markdown([row], header=False) == "| Catch-bsuite | envcore | 1.25 (0.50) | 2.00 (1.00) |  |"
