"""`envcore bsuite` as a user types it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from envcore.suggestions import how_to_install
from envcore_bsuite.analysis import load_results, score
from PIL import Image

if TYPE_CHECKING:
    from command_line import Run

FEW = ("--only", "bandit/0", "--only", "bandit_noise/3", "--only", "bsuite/memory_len/0")
AGENT = """
import jax.numpy as jnp
from envcore_bsuite.agents import Agent

def first(env):
    def act(state, obs, key):
        return jnp.int32(0), state
    return Agent(lambda key: None, act, lambda state, transition, key: state)

number = 3
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a run of a few settings, by the console script itself."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "my_agent.py").write_text(AGENT)
    for agent in ("random", "my_agent:first"):
        out = folder / agent.rpartition(":")[2]
        command = [Path(sys.executable).with_name("envcore"), "bsuite", "run", agent, "--out", out, *FEW]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_run_writes_the_logs_of_what_is_asked_for(results: Path) -> None:
    for name in ("random", "first"):
        ids = set(load_results(results / name)["bsuite_id"])
        assert ids == {"bandit/0", "bandit_noise/3", "memory_len/0"}
        assert score(load_results(results / name))["finished"].all()


@pytest.mark.slow
def test_score_prints_what_the_analysis_computes(run: Run, results: Path) -> None:
    code, out, err = run("bsuite", "score", str(results / "random"))
    assert (code, err) == (0, "")
    scores = score(load_results(results / "random")).set_index("bsuite_env")["score"]
    lines = [line.split() for line in out.splitlines()]
    for name in ("bandit", "bandit_noise", "memory_len"):
        assert [name, f"{scores[name]:.3f}"] in [line[:2] for line in lines]
    assert ["memory", f"{scores['memory_len']:.3f}"] in lines
    assert not any(line[:1] == ["exploration"] for line in lines)  # none of its experiments was played
    assert "unfinished" not in out


@pytest.mark.slow
def test_radar_draws_one_agent_or_several(run: Run, results: Path, tmp_path: Path) -> None:
    code, out, err = run("bsuite", "radar", str(results / "random"))
    assert (code, err) == (0, "")
    assert f"{results / 'random' / 'radar.png'} shows the scores of random." in out
    path = tmp_path / "both.png"
    assert run("bsuite", "radar", str(results / "random"), str(results / "first"), "--out", str(path))[0] == 0
    with Image.open(path) as image, Image.open(results / "random" / "radar.png") as alone:
        assert image.size == alone.size
        assert image.tobytes() != alone.tobytes()
    (tmp_path / "link").symlink_to("target")
    assert run("bsuite", "radar", str(results / "random"), "--out", str(tmp_path / "link"))[0] == 0
    assert (tmp_path / "target").read_bytes() == (results / "random" / "radar.png").read_bytes()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run", "random", "--out", "{tmp}", "--only", "deep_see"), "bsuite has no experiment and no id 'deep_see'"),
        (("run", "random", "--out", "{tmp}", "--only", "bandit/0", "--workers", "0"), "workers must be "),
        (("run", "agent.py", "--out", "{tmp}"), "AGENT must be random or MODULE:FUNCTION, as in `import MODULE`"),
        (("run", "no_such_agent:make", "--out", "{tmp}"), "AGENT no_such_agent:make cannot be imported: Module"),
        (("run", "json:nothing", "--out", "{tmp}"), "AGENT json:nothing cannot be imported: AttributeError"),
        (("run", "json:__name__", "--out", "{tmp}"), "AGENT json:__name__ is not a function, but 'json'"),
        (("score", "{tmp}"), "holds no logs; their names are like"),
        (("score", "{tmp}/nowhere"), "is not a folder; give the one that holds an agent's logs"),
        (("radar", "{tmp}"), "holds no logs"),
    ],
)
def test_errors_are_one_line(run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    code, _, err = run("bsuite", *(arg.format(tmp=tmp_path) for arg in args))
    assert code == 1
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_radar_plot_of_an_unknown_format(run: Run, results: Path, tmp_path: Path) -> None:
    code, _, err = run("bsuite", "radar", str(results / "random"), "--out", str(tmp_path / "a.txt"))
    assert code == 1
    assert "cannot write" in err
    assert "upported" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["score", "radar"])
def test_without_the_extra_it_says_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("envcore_bsuite.analysis")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("envcore_bsuite.analysis", raising=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    code, out, err = run("bsuite", command, str(tmp_path))
    assert (code, out) == (1, "")
    assert err == f"error: envcore_bsuite.analysis needs pandas: {how_to_install('envcore-bsuite[analysis]')}.\n"


def test_an_empty_path_is_an_error(run: Run) -> None:
    for args in (("run", "random", "--out", ""), ("score", ""), ("radar", "")):
        code, out, err = run("bsuite", *args)
        assert (code, out) == (2, "")
        assert "the path is empty." in err


@pytest.mark.slow
def test_sigterm_saves_what_was_played(tmp_path: Path) -> None:
    envcore, whole, parts = Path(sys.executable).with_name("envcore"), tmp_path / "whole", tmp_path / "parts"

    def command(out: Path) -> list[str | Path]:
        return [envcore, "bsuite", "run", "random", "--only", "memory_len/22", "--workers", "2", "--out", out]

    with subprocess.Popen(command(parts), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 120
        while not list(parts.glob("*.csv")) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (143, "terminated\n")
    assert list(parts.glob(".checkpoint-*"))
    for folder in (parts, whole):
        subprocess.run(command(folder), check=True, stdout=subprocess.DEVNULL)
    (log,) = whole.glob("*.csv")
    assert (parts / log.name).read_bytes() == log.read_bytes()
