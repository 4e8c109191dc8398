"""`envcore bsuite` as a user types it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from envcore.suggestions import how_to_install
from envcore_bsuite.analysis import load_results, score

if TYPE_CHECKING:
    from command_line import Run

FEW = ("--only", "bandit/0", "--only", "bandit_noise/3", "--only", "bsuite/memory_len/0")
AGENT = """
import jax.numpy as jnp
from envcore_baselines.bsuite import Agent

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


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("run", "random", "--out", "{tmp}", "--only", "deep_see"),
            "has no experiment or setting 'deep_see'",
        ),
        (
            ("run", "agent.py", "--out", "{tmp}"),
            "bootstrapped_dqn, ppo, recurrent_ppo or MODULE:FUNCTION, as in",
        ),
        (("run", "json:nothing", "--out", "{tmp}"), "AGENT json:nothing cannot be imported: AttributeError"),
        (("score", "{tmp}"), "holds no logs. Their names are like"),
    ],
)
def test_errors_are_one_line(run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    code, _, err = run("bsuite", *(arg.format(tmp=tmp_path) for arg in args))
    assert code == 1
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "forgotten", "needed"),
    [
        (("score",), "envcore_bsuite.analysis", "pandas"),
        (("run", "random", "--out"), "envcore_baselines.bsuite", "envcore_bsuite"),
    ],
)
def test_without_the_extra_it_says_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], forgotten: str, needed: str
) -> None:
    for name in [name for name in sys.modules if name.startswith((forgotten, "envcore_bsuite"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, needed, None)
    code, out, err = run("bsuite", *command, str(tmp_path))
    assert (code, out) == (1, "")
    assert err == f"error: envcore bsuite needs {needed}: {how_to_install('envcore-bsuite[analysis]')}.\n"
