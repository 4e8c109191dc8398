"""The command as a user types it, in this process; tests/test_readme.py runs the console script itself."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import envcore
import jax
import pytest

if TYPE_CHECKING:
    from command_line import Run


def test_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out == f"envcore {envcore.__version__}, jax {jax.__version__}, Python {platform.python_version()}\n"


@pytest.mark.parametrize(
    "args",
    [
        "list",
        "rollout nope",
        pytest.param("render nope --out x.gif", marks=pytest.mark.slow),  # no more than its options is imported
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
    status = 0 if args == "list" else 1
    assert done.stderr.splitlines()[-1] == f"status {status}, heavy: []"


def test_rollout_with_set_and_option(run: Run) -> None:
    args = ("--num-envs", "5", "--steps", "80", "--set", "bonus=2", "--option", "goal=2")
    assert " to 4.00)" in run("rollout", "Counter-v0", *args, "--set", "max_steps_in_episode=6")[1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("rollout", "Conter-v0"), "Did you mean 'Counter-v0'"),
        (("rollout", "Counter-v0", "--num-envs", "0"), "num_envs must be a positive integer, got 0"),
        (("info", "Broken-v0"), "cannot be imported"),
        (("info", "Counter-v0", "--set", "bonus"), "--set must be NAME=VALUE, as in --set size=8, got 'bonus'"),
        (("info", "Counter-v0", "--set", "bonus=much"), "Counter's params.bonus must be float32, got <U4."),
    ],
)
def test_errors_are_one_line(run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    code, _, err = run(*(arg.format(tmp=tmp_path) for arg in args))
    assert code == 1
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert not list(tmp_path.iterdir())
