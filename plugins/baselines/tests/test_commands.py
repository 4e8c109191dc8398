"""`envcore train` and `envcore evaluate` as a user types them."""

from __future__ import annotations

import dataclasses
import json
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.core
from envcore import registry
from envcore_baselines import algorithms, commands, training
from envcore_baselines.run import Run as PlannedRun
from envcore_baselines.run import saved_curve
from envcore_baselines.training import CURVE_CSV, CURVE_PNG
from envcore_runs.folder import CHECKPOINT, claimed
from PIL import Image

if TYPE_CHECKING:
    from command_line import Run

SMALL: dict[str, Any] = {"total_steps": 128, "num_envs": 4, "rollout_steps": 16, "minibatches": 2, "hidden": "[8]"}
SETTINGS = [part for name, value in SMALL.items() for part in ("--setting", f"{name}={value}")]
TRAIN = ("train", "ppo", "Counter-v0", "--seeds", "2", "--seed", "3", "--set", "bonus=0.25", "--option", "goal=2")


def test_train_and_evaluate(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, text, err = run(*TRAIN, *SETTINGS, "--out", str(out))
    assert (code, err) == (0, "")
    assert text.startswith(f"{out}: 2 agents, 128 steps each; last return 0.")
    assert sorted(path.name for path in out.iterdir()) == [CHECKPOINT, CURVE_CSV, CURVE_PNG, "run.json"]
    with Image.open(out / CURVE_PNG) as image:
        assert image.size == (900, 600)
    assert (out / CURVE_CSV).read_text().splitlines()[-1].startswith("128,seed_4,0.")

    before = {path: path.read_bytes() for path in out.iterdir()}
    assert run(*TRAIN, *SETTINGS, "--out", str(out))[:2] == (0, text)
    assert {path: path.read_bytes() for path in out.iterdir() if path.suffix != ".png"}.items() <= before.items()

    code, text, err = run("evaluate", str(out), "--episodes", "50", "--sample")
    assert (code, err) == (0, "")
    rows = [line.split() for line in text.splitlines()]
    assert text.splitlines()[0].startswith("2 agents: return 0.")
    assert [row[0] for row in rows[1:]] == ["agent", "seed_3", "seed_4"]
    assert all(0.3 < float(row[1]) <= 0.5 for row in rows[2:])  # counting to 2 earns 0.25 twice


def test_evaluate_takes_the_id_of_a_shipped_agent(run: Run) -> None:
    registry.register("CartPole-v1", "envcore_classic_control.cartpole:CartPole")
    code, text, err = run("evaluate", "CartPole-v1", "--episodes", "3")
    assert (code, err) == (0, "")
    header, row = text.splitlines()
    assert header.split() == ["agent", "return", "std", "over", "episodes"]
    assert row.split()[1:] == ["500", "0"]
    code, _, err = run("evaluate", "CartPole-v2")
    assert code == 1
    assert "CartPole-v2 is neither the folder of a run nor an environment with a trained agent. Did you mean" in err
    code, _, err = run("evaluate", "CartPole-v1", "--best")
    assert (code, err) == (1, "error: best needs the folder of a run, because a shipped agent has no curve.\n")


def test_an_algorithm_of_the_working_directory(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    shutil.copy(Path(__file__).with_name("guessing.py"), "my_guess.py")
    code, text, err = run("train", "my_guess:Guess", "Counter-v0", "--out", "run", "--setting", "label='x y'")
    assert (code, err) == (0, "")
    assert text.startswith("run: 1 agent, 40 steps each; last return 36")
    assert json.loads(Path("run/run.json").read_text())["algorithm"] == "my_guess:Guess"
    assert run("evaluate", "run", "--episodes", "2")[0] == 0
    assert run("train", "my_guess:Guess", "Counter-v0", "--show") == (
        0,
        '["my_guess:Guess"]\ntotal_steps = 40\nlabel = "none"\n',
        "",
    )


@pytest.mark.slow
def test_params_that_are_drawn_for_each_episode(run: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    train = ("train", "ppo", "Counter-v0", "--randomize", "bonus=0.5,2", *SETTINGS, "--out", out)
    code, text, err = run(*train)
    assert (code, err) == (0, "")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["randomize"] == {"bonus": [0.5, 2]}
    assert run(*train)[:2] == (0, text)
    assert run("evaluate", out, "--episodes", "2")[0] == 0
    policy = ("--num-envs", "2", "--steps", "4", "--policy", f"trained:{out}")
    assert run("rollout", "Counter-v0", *policy)[0] == 0
    other = run("rollout", "Counter-v0", "--option", "goal=4", *policy)[2]
    assert "does not fit Counter: it is for Counter-v0 with options {}." in other
    assert "holds another run" in run(*train, "--randomize", "max_steps_in_episode=5,9")[2]


@pytest.mark.slow
def test_ctrl_c_saves_the_points_so_far(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(*TRAIN, *SETTINGS, "--out", str(tmp_path / "whole"))[0] == 0
    out, point = tmp_path / "parts", training._point

    def interrupted(*args: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return point(*args)

    with monkeypatch.context() as patch:
        patch.setattr(training, "_point", interrupted)
        options: dict[str, Any] = {"option": ["goal=2"], "set_": ["bonus=0.25"], "setting": SETTINGS[1::2]}
        context = typer.Context(typer.core.TyperCommand("train"))
        with pytest.raises(KeyboardInterrupt):
            commands.train(context, "ppo", "Counter-v0", out, seeds=2, seed=3, **options)
    assert len(saved_curve(out)) == 1
    assert run(*TRAIN, *SETTINGS, "--out", str(out))[0] == 0
    for name in (CHECKPOINT, CURVE_CSV):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pop", "Counter-v0"), "there is no algorithm 'pop'. Did you mean 'ppo'? Available: bootstrapped_dqn, "),
        (("no_module:Mine", "Counter-v0"), "algorithm no_module:Mine cannot be imported: ModuleNotFound"),
        (("guess.py:Guess", "Counter-v0"), "For your own, pass MODULE:CLASS, as in `import MODULE`."),
        (("ppo", "Nope-v0"), "Nope-v0"),
        (("ppo", "Counter-v0", "--setting", "clip"), "--setting must be NAME=VALUE"),
        (("ppo", "Counter-v0", "--setting", "clip=-1"), "clip is -1. Expected `float` >= 0.0."),
        (("ppo", "Counter-v0", "--setting", "torso=conv"), "torso = 'conv' needs observations"),
        (("ppo", "Counter-v0", "--randomize", "bonus=2"), "the range of 'bonus' must be two finite numbers"),
        (("ppo", "Counter-v0", "--set", "bonus=nan"), "Counter's params.bonus must be finite, got nan."),
    ],
)
def test_bad_input(run: Run, arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    code, text, err = run("train", *arguments, "--out", "x")
    assert (code, text) == (1, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_is_needed(run: Run) -> None:
    assert run("train", "ppo", "Counter-v0") == (1, "", "error: --out is missing: pass the folder for the results.\n")


def test_a_folder_that_cannot_be_used(run: Run, tmp_path: Path) -> None:
    code, _, err = run("evaluate", str(tmp_path))
    assert code == 1
    assert "holds no run" in err
    out = tmp_path / "run"
    config = dataclasses.asdict(algorithms.config("ppo", None, {**SMALL, "hidden": [8]}))
    made = PlannedRun("ppo", "Counter-v0", {"goal": 2}, {"bonus": 0.25}, config, 3, 2)
    with claimed(out, dataclasses.asdict(made)):
        code, _, err = run(*TRAIN, *SETTINGS, "--out", str(out))
        assert (code, err.count("\n")) == (1, 1)
        assert f"another process is writing to {out}: wait until it has ended" in err
    assert run("evaluate", str(out)) == (
        1,
        "",
        f"error: {out} holds no trained agents yet: repeat the command that trains them.\n",
    )
    (out / CHECKPOINT).write_bytes(b"no tensors")
    code, _, err = run(*TRAIN, *SETTINGS, "--out", str(out))
    assert (code, err.count("\n")) == (1, 1)
    assert f"{out / CHECKPOINT} is damaged" in err
    assert (out / CHECKPOINT).read_bytes() == b"no tensors"
