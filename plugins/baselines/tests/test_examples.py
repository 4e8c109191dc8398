"""The examples run as notebooks, their results are right, and each notebook has the cells of its script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

BASELINES = Path(__file__).parents[1]
EXAMPLES = BASELINES / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read_notebook(name: str) -> Any:
    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def execute(notebook: Any, checks: str) -> None:
    """Runs the cells in a kernel, and then `checks`, which sees their names."""
    notebook.cells.append(nbformat.v4.new_code_cell(checks))
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(EXAMPLES)}}).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_the_cells_of_its_script_and_no_outputs(path: Path) -> None:
    expected = jupytext.read(path.with_suffix(".py")).cells
    cells = read_notebook(path.stem).cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [(cell.cell_type, cell.source) for cell in expected]
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_readme_lists_all_examples() -> None:
    commands = re.findall(
        r"`uv run python plugins/baselines/examples/(\w+)\.py`", (BASELINES / "README.md").read_text()
    )
    assert sorted(commands) == [path.stem for path in NOTEBOOKS]


def test_getting_started() -> None:
    execute(
        read_notebook("getting_started"),
        """
import numpy as np

assert env.step(key_step, state, action, params)[1].time == next_state.time == 1
assert -16.3 * 200 < episode_return < -200
assert batch_returns.shape == (10,) and len(set(batch_returns.tolist())) == 10
np.testing.assert_allclose(batch_returns[3], rollout(keys[3], policy, params), rtol=1e-4)
assert population_returns.shape == (5, 10)
one = jax.tree.map(lambda x: x[2], policies)
np.testing.assert_allclose(population_returns[2], batch_rollout(keys, one, params), rtol=1e-4)
assert gravity_returns.shape == (4, 10)
np.testing.assert_allclose(gravity_returns[2], batch_returns, rtol=1e-4)  # gravity 10 is the default
assert len(set(gravity_returns.mean(axis=1).tolist())) == 4
assert device_returns.shape == (jax.device_count(), 4)
assert len(device_returns.sharding.device_set) == 2
np.testing.assert_allclose(device_returns[1], batch_rollout(device_keys[1], policy, params), rtol=1e-4)
assert manager_returns.shape == (5, 10)
assert rewards.shape == (200, 2048)
assert -1400 < rewards.sum(axis=0).mean() < -1100
""",
    )
