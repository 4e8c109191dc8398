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


def test_mountain_car() -> None:
    execute(
        read_notebook("mountain_car"),
        """
import numpy as np

assert all_obs.shape == (2, 4, 1000, 2) and all_reward.shape == all_done.shape == (2, 4, 1000)
assert len(all_obs.sharding.device_set) == 2
assert (all_reward == -1).all()
np.testing.assert_array_equal(jnp.argwhere(all_done[1, 2])[:, 0], [199, 399, 599, 799, 999])
pushes = [jnp.diff(all_obs[0, car, :199, 1]) + 0.0025 * jnp.cos(3 * all_obs[0, car, :198, 0]) for car in range(4)]
for push in pushes:
    np.testing.assert_array_equal(np.unique(np.round(1000 * push)), [-1, 0, 1])  # all actions are taken
assert not np.allclose(pushes[0], pushes[1])  # each car takes its own

position, velocity = np.moveaxis(np.asarray(pumped_obs), -1, 0)
np.testing.assert_array_equal(pumped_done, position >= 0.5)  # the last observation of each episode is stored
assert (pumped_done.sum(axis=-1) >= 5).all()
expected = velocity + np.where(velocity < 0, -0.001, 0.001) - 0.0025 * np.cos(3 * position)
continues = ~pumped_done[..., :-1] & (position[..., 1:] > -1.2)  # the left wall stops a car
np.testing.assert_allclose(velocity[..., 1:][continues], expected[..., :-1][continues], atol=1e-6)

assert (random_episodes == 100).all() and (random_returns == -200).all()
assert -121 < pumped_returns.mean() < -118
""",
    )
