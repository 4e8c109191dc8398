"""Makes the examples' notebooks from their scripts and executes them: `uv run python tools/notebooks [NAME...]`.

Without names, all of `plugins/baselines/examples`. What changes from run to run without need, such as the ids of cells
and the times of their execution, is left out. A cell that fails ends the command, and its notebook stays as it was.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "plugins" / "baselines" / "examples"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def main() -> None:
    """Parses the command line, and writes each notebook once it has been executed."""
    names = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=names, help="of the scripts, without .py")
    for name in parser.parse_args().names:
        nbformat.write(executed(EXAMPLES / f"{name}.py"), EXAMPLES / f"{name}.ipynb")
        print(f"{name}.ipynb", flush=True)


def executed(script: Path) -> Any:
    """The notebook of a script, with outputs; it is executed in a folder of its own."""
    notebook = jupytext.read(script)
    notebook.metadata = {"kernelspec": KERNEL}
    with tempfile.TemporaryDirectory() as folder:
        where = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, timeout=1200, resources=where, record_timing=False, coalesce_streams=True)
        client.execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}  # without Python's version
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
    return notebook


if __name__ == "__main__":
    main()
