"""The README is correct: its Python runs in order, CI runs its commands, and its table lists all environments."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import envcore
import pytest
from envcore import registry
from envcore.registration import Registry
from envcore_testing.numerics import numerics
from PIL import Image

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run_python_blocks(readme: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the Python blocks in `folder`, where they may write files, with a separate registry."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))
    module = types.ModuleType("readme")
    monkeypatch.setitem(sys.modules, "readme", module)  # dataclasses and pickle look up their module
    for number, code in enumerate(blocks("python", readme.read_text())):
        # As a reader's JAX promotes dtypes; the tests' is strict, which not every library bears.
        with numerics():
            exec(compile(code, f"{readme}, Python block {number}", "exec"), vars(module))


def test_python_blocks_run_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_python_blocks(ROOT / "README.md", tmp_path, monkeypatch)
    assert "(200, 2048)" in capsys.readouterr().out


@pytest.mark.slow
def test_the_three_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    """Up to numbers: another processor may round in another way, so that an agent learns something else."""
    (shown,) = blocks("console")
    script = Path(sys.executable).with_name("envcore")
    for command, expected in re.findall(r"^\$ envcore (.*)\n((?:[^$].*\n)+)", shown, re.MULTILINE):
        done = subprocess.run(
            [script, *shlex.split(command)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        outlines = [re.sub(r"[\d.,]+", "0", " ".join(text.split())) for text in (done.stdout, expected)]
        assert outlines[0] == outlines[1]
    with Image.open(tmp_path / "cartpole.gif") as image:
        assert image.n_frames > 100  # pyright: ignore[reportAttributeAccessIssue]


def test_the_table_lists_all_environments() -> None:
    cells = [line.strip("|").split("|") for line in README.splitlines() if line.startswith("| [")]
    rows = {f"envcore-{row[0].split(']')[0].strip(' [')}": re.findall(r"\w+", row[1]) for row in cells}
    for each in envcore.registry.values():
        if each.distribution != "envcore-example" and not each.spec.family:
            name = each.spec.id.rpartition("-")[0]
            assert name in rows[each.distribution], f"the README's table lacks {each.spec.id}"
