"""The examples run as notebooks, their results are right, and each notebook has the cells of its script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

jupytext, nbformat = pytest.importorskip("jupytext"), pytest.importorskip("nbformat")  # of the group `full`
pytestmark = pytest.mark.slow

BASELINES = Path(__file__).parents[1]
EXAMPLES = BASELINES / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read_notebook(name: str) -> Any:
    return nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)


def shortened(name: str, **sizes: tuple[int | str, int]) -> Any:
    """A notebook with other values of its constants, by name: the value that it has, and the one to run it with."""
    notebook = read_notebook(name)
    for constant, (size, smaller) in sizes.items():
        line = f"{constant} = {size}"
        (cell,) = [cell for cell in notebook.cells if line in cell.source]
        cell.source = cell.source.replace(line, f"{constant} = {smaller}")
    return notebook


def execute(notebook: Any, checks: str, folder: Path) -> None:
    """Runs the cells in a kernel, in an empty folder, and then `checks`, which sees their names; no file is written."""
    from nbclient import NotebookClient

    notebook.cells.append(nbformat.v4.new_code_cell(checks))
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_the_cells_of_its_script_and_their_outputs(path: Path) -> None:
    expected = jupytext.read(path.with_suffix(".py")).cells
    cells = read_notebook(path.stem).cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [(cell.cell_type, cell.source) for cell in expected]
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    prints = [cell for cell in code if re.search(r"^print\(", cell.source, re.MULTILINE)]
    assert all(cell.outputs for cell in prints)
    outputs = [output for cell in code for output in cell.outputs]
    assert outputs
    assert all(output.get("name") == "stdout" or output.output_type == "display_data" for output in outputs)
    pictures = [output.data["image/png"] for output in outputs if "data" in output]
    assert len(pictures) == sum("plt.show()" in cell.source for cell in code)
    assert all(len(picture) < 80_000 for picture in pictures)  # 60 kB in base64
    assert path.stat().st_size < 100_000


def test_readme_lists_all_examples() -> None:
    commands = re.findall(
        r"`uv run python plugins/baselines/examples/(\w+)\.py`", (BASELINES / "README.md").read_text()
    )
    assert sorted(commands) == [path.stem for path in NOTEBOOKS]


@pytest.mark.slow
def test_getting_started(tmp_path: Path) -> None:
    execute(
        read_notebook("getting_started"),
        """
import numpy as np

assert -16.3 * 200 < episode_return < -200
np.testing.assert_allclose(batch_returns[3], rollout(keys[3], policy, params), rtol=1e-4)
one = jax.tree.map(lambda x: x[2], policies)
np.testing.assert_allclose(population_returns[2], batch_rollout(keys, one, params), rtol=1e-4)
np.testing.assert_allclose(gravity_returns[2], batch_returns, rtol=1e-4)  # gravity 10 is the default
np.testing.assert_allclose(device_returns[1], batch_rollout(device_keys[1], policy, params), rtol=1e-4)
""",
        tmp_path,
    )


@pytest.mark.slow
def test_mountain_car(tmp_path: Path) -> None:
    execute(
        read_notebook("mountain_car"),
        """
assert all_obs.shape == (2, 4, 1000, 2) and len(all_obs.sharding.device_set) == 2
assert jnp.argwhere(all_done[1, 2])[:, 0].tolist() == [199, 399, 599, 799, 999]
assert (pumped_done == (pumped_obs[..., 0] >= 0.5)).all()  # the last observation of each episode is stored
assert (random_episodes == 100).all() and (random_returns == -200).all()
assert -121 < pumped_returns.mean() < -118
""",
        tmp_path,
    )


@pytest.mark.slow
def test_anakin_learns(tmp_path: Path) -> None:
    execute(
        shortened("anakin", SPACE_INVADERS_ITERATIONS=(200, 3)),
        """
import numpy as np

assert len(jax.devices()) == 2
assert catch_returns[0] < 0 and catch_returns[-1] >= 0.95
assert all(np.isfinite(invaders_returns)) and len(invaders_returns) == 5
""",
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.long
def test_evolution(tmp_path: Path) -> None:
    execute(
        read_notebook("evolution"),
        """
assert cartpole_curve[0] < 50 and cartpole_curve[-1] > 200
assert cartpole_returns.shape == (200,) and cartpole_returns.mean() >= 475
assert (swing_up_returns.mean(axis=1) > -200).all()
assert (swing_up_returns > -500).mean() >= 0.99
""",
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.long
def test_meta_rl_beats_thompson_sampling(tmp_path: Path) -> None:
    execute(
        shortened("meta_rl", TOTAL_STEPS=("500_000", 250_000)),
        """
assert 2.6 < regrets["Thompson sampling"].mean() < 3.0
assert regrets["PPO with a memory"].mean() < regrets["Thompson sampling"].mean()
""",
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.long
def test_planning_beats_its_network(tmp_path: Path) -> None:
    execute(
        shortened("planning", TOTAL_STEPS=("800_000", 400_000), NUM_EPISODES=(64, 32)),
        """
error = np.hypot(search_return[1], alone_return[1])
assert search_return[0] - alone_return[0] > 3 * error
""",
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.long
def test_gradient_learns_pendulum(tmp_path: Path) -> None:
    execute(read_notebook("gradient"), "assert returns[0] < -900 and returns[-1] > -250", tmp_path)


PODRACER = """
import re, sys, timeit
import chex, envcore, jax, optax, rlax
import haiku as hk
from jax import lax, random
from jax import numpy as jnp

jax.config.update("jax_num_cpu_devices", 2)
jax.tree_map = jax.tree.map
from podracer import PodracerEnv

cells = re.findall(r"In \\[None\\]:\\n(.*?)\\n\\n(?=#|In \\[None\\]:|Running on)", open(sys.argv[1]).read(), re.DOTALL)
exec("\\n\\n".join(cells[1:-1]))  # without the installation and the call
for env in (Catch(), PodracerEnv(*envcore.make("Catch-bsuite"))):
    run_experiment(env, 16, 16, 1e-4, 10, 42)
"""


@pytest.mark.slow
def test_podracer_notebook_runs_as_printed_and_with_our_catch() -> None:
    notebook = Path(__file__).with_name("podracer_notebook.md")
    command = [sys.executable, "-c", PODRACER, str(notebook)]
    done = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"EXECUTION: .* FPS=\d", done.stdout)) == 2
