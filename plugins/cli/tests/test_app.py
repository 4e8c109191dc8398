"""The command as a user types it, in this process; tests/test_readme.py runs the console script itself."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import envcore
import jax
import pytest
import toy
from envcore import registry

if TYPE_CHECKING:
    from command_line import Run


def test_an_option_that_no_environment_can_take(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy.Counter, "default_params", property(lambda self: [0] * int(self.goal)))
    status, _, err = run("info", "Counter-v0", "--option", "goal=inf")
    assert status == 1
    assert err.startswith("error: Counter-v0 does not work with options={'goal': inf}: ")
    assert err.count("\n") == 1


def test_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out == f"envcore {envcore.__version__}, jax {jax.__version__}, Python {platform.python_version()}\n"


@pytest.mark.parametrize(
    "args",
    [
        "list",
        "rollout nope",
        *(
            pytest.param(args, marks=pytest.mark.slow)
            for args in (
                "--version",
                "info nope",
                "render nope --out x.gif",  # of envcore-viewer; no more than its options is imported
                "play nope",
                "gallery nope --out g",
                "info nope --set a=1",
                "rollout CartPole --option size",
            )
        ),
    ],
)
def test_answers_that_need_no_jax_do_not_import_it(args: str) -> None:
    code = f"""
import sys
from envcore_cli import main
sys.argv = ["envcore", *{args.split()!r}]
try:
    main()
except SystemExit as leaving:
    heavy = [each for each in ("jax", "numpy", "PIL") if each in sys.modules]
    sys.exit(f"status {{leaving.code or 0}}, heavy: {{heavy}}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    status = 0 if args in ("--version", "list") else 1
    assert done.stderr.splitlines()[-1] == f"status {status}, heavy: []"


def test_rollout_with_set_and_option(run: Run) -> None:
    args = ("--num-envs", "5", "--steps", "80", "--set", "bonus=2", "--option", "goal=2")
    assert " to 4.00)" in run("rollout", "Counter-v0", *args, "--set", "max_steps_in_episode=6")[1]


@pytest.mark.slow
def test_rollout_without_steps_runs_for_a_second_and_says_how_many_steps(run: Run) -> None:
    _, out, _ = run("rollout", "Counter-v0", "--num-envs", "64")
    rate, seconds = re.search(r"speed +([0-9,]+) steps/s on .*, over ([0-9.]+) s", out).groups()  # pyright: ignore
    steps = int(re.search(r"64 in parallel, ([0-9,]+) steps each", out)[1].replace(",", ""))  # pyright: ignore
    assert float(seconds) >= 1
    assert int(rate.replace(",", "")) == pytest.approx(64 * steps / float(seconds), rel=0.06)


def test_rollout_is_the_same_for_the_same_seed(run: Run) -> None:
    def facts() -> list[str]:
        out = run("rollout", "Spring-v0", "--num-envs", "9", "--steps", "150")[1].splitlines()
        return [line for line in out if line.startswith(("episodes", "return", "length"))]

    registry.register("Spring-v0", "toy:Spring")
    assert facts() == facts() != []


POLICIES = """
import jax.numpy as jnp

def count(policy_params, obs, key):
    assert obs.shape == (4,)
    return jnp.int32(1)

def outside(policy_params, obs, key):
    return jnp.int32(7)
"""


def test_rollout_with_a_custom_policy(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rollout_agent.py").write_text(POLICIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    args = ("rollout", "Counter-v0", "--num-envs", "3", "--steps", "30", "--episodes", "4", "--policy")
    code, out, _ = run(*args, "rollout_agent:count")
    assert code == 0
    assert "12 (the first 4 episodes of each environment)" in out
    assert "1.50 ± 0.00 (from 1.50 to 1.50)" in out
    code, _, err = run(*args, "rollout_agent:outside")
    assert code == 1
    assert err == "error: policy rollout_agent:outside returned actions that are not in Discrete(2).\n"
    assert "has no attribute 'f'" in run(*args, "rollout_agent:f")[2]


def test_an_empty_path_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("rollout", "Counter-v0", "--out", "")
    assert (code, out) == (2, "")
    assert "the path is empty." in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("rollout", "Conter-v0"), "Did you mean 'Counter-v0'"),
        (("rollout", "Counter-v0", "--num-envs", "0"), "num_envs must be a positive integer, got 0"),
        (("rollout", "Counter-v0", "--steps", "0"), "steps must be a positive integer, got 0"),
        (("rollout", "Counter-v0", "--seed", "99999999999999999999"), "seed must be an integer from 0 to"),
        (("info", "Broken-v0"), "cannot be imported"),
        (("rollout", "Counter-v0", "--num-envs", "10000000000"), " fit."),
        (("rollout", "Counter-v0", "--num-envs", "2147483648000"), "num_envs 2,147,483,648,000 would take about"),
        (
            ("info", "Counter-v0", "--set", "boni=1"),
            "Counter-v0 has no param 'boni'; its params: max_steps_in_episode, bonus.",
        ),
        (("info", "Counter-v0", "--set", "goal=1"), "'goal' is an option of its constructor."),
        (("info", "Counter-v0", "--set", "bonus"), "--set must be NAME=VALUE, as in --set size=8, got 'bonus'"),
        (("info", "Counter-v0", "--set", "bonus=much"), "Counter's params.bonus must be float32, got <U4."),
        (("info", "Counter-v0", "--set", "bonus=(1, 2)"), "params.bonus must have shape (), got (2,)"),
        (
            ("info", "Counter-v0", "--set", "max_steps_in_episode=0"),
            "must be at least 1, or envcore.NO_TIME_LIMIT for none, got 0",
        ),
        *(
            ((command, "Counter-v0", "--set", f"bonus={value}"), f"Counter's params.bonus must {message}.")
            for command in ("info", "rollout")
            for value, message in (("nan", "be finite, got nan"), ("1e300", "be finite, got inf"))
        ),
        (("info", "Counter-v0", "--option", "size=1"), "has no option 'size'; its options: goal"),
        (("info", "Counter-v0", "--option", "bonus=1"), "or --set bonus=... on the command line"),
        (("info", "Counter-v0", "--option", "goal=[1]"), "must be hashable"),
        (("info", "Counter-v0", "--option", "goal=many"), "Counter-v0 does not work with options={'goal': 'many'}: "),
    ],
)
def test_errors_are_one_line(run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    code, _, err = run(*(arg.format(tmp=tmp_path) for arg in args))
    assert code == 1
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert not list(tmp_path.iterdir())
