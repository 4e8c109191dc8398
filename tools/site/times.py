"""How long the cells of the tutorials take: `uv run python tools/site/times.py [NAME...]` writes `data/times.json`.

Seconds of one core, those of the compiler too, cell by cell; without names, of all tutorials, which takes minutes. The
pages say so below each cell that takes a while.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

from docutils import nodes

DATA = Path(__file__).with_name("data") / "times.json"
_ROOT = Path(__file__).parents[2]
_PAGES = _ROOT / "tools" / "site" / "pages" / "tutorials"
_NOTEBOOKS = _ROOT / "plugins" / "baselines" / "examples"
_CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```", re.DOTALL | re.MULTILINE)
_LEAST = 3  # seconds that are worth a line


def main() -> None:
    """Measures the tutorials, and writes the file after each."""
    from suites import write_by_id  # imports environments, which the pages do not need

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    cells = tutorials()
    names = parser.parse_args().names or list(cells)
    if unknown := set(names) - set(cells):
        sys.exit(f"error: no tutorial is called {min(unknown)}")
    found = json.loads(DATA.read_text()) if DATA.exists() else {}
    for name in names:
        with multiprocessing.get_context("spawn").Pool(1) as fresh:
            found[name] = fresh.apply(seconds, (cells[name],))
        write_by_id(DATA, found)
        print(name, found[name], flush=True)


def tutorials() -> dict[str, list[str]]:
    """The code of the cells of each tutorial, by the name of its page."""
    found = {path.stem: _CELL.findall(path.read_text()) for path in _PAGES.glob("*.md")}
    for path in _NOTEBOOKS.glob("*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        found[path.stem] = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return {name: sources for name, sources in sorted(found.items()) if sources}


def seconds(sources: list[str]) -> list[float]:
    """Runs cells one after the other, in this process and an empty folder: the seconds of each."""
    os.environ["MPLBACKEND"] = "Agg"  # shows no figures
    sys.modules["__main__"] = main_module = types.ModuleType("__main__")  # where pickle looks for the cells' classes
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for source in sources:
            began = time.process_time()
            exec(compile(source, "<cell>", "exec"), vars(main_module))
            taken.append(round(time.process_time() - began, 1))
        os.chdir(_ROOT)
    return taken


def say(app: Any, doctree: nodes.document, docname: str) -> None:
    """Adds a line to each cell of a tutorial that takes a while."""
    taken = json.loads(DATA.read_text()).get(docname.removeprefix("tutorials/"), ())
    cells = [each for each in doctree.findall(nodes.container) if each.get("nb_element") == "cell_code"]
    for cell, needed in zip(cells, taken, strict=True) if taken else ():
        if needed >= _LEAST:
            cell += nodes.paragraph("", f"About {rounded(needed)} of one core.", classes=["took"])


def rounded(needed: float) -> str:
    """Seconds as people say them: "4 seconds", "25 seconds", "3 minutes"."""
    if needed < 90:
        return f"{round(needed) if needed < 10 else 5 * round(needed / 5)} seconds"
    return f"{round(needed / 60)} minutes"


if __name__ == "__main__":
    main()
