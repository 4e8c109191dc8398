"""Learning curves for the pages of the environments: `uv run python tools/site/curves.py DIR...`.

The folders are those of finished runs of `envcore train`. What is kept of each, `data/curves/ID.json`, are at most 50
points: steps of an agent, and the mean, lowest and highest return over the agents.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import charts
import numpy as np
from envcore_baselines.training import CURVE_CSV, Run

FOLDER = Path(__file__).with_name("data") / "curves"
_POINTS = 50


def main() -> None:
    """Writes a file for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    for folder in parser.parse_args().runs:
        run = Run.load(folder)
        found = {"algorithm": run.algorithm, "seeds": run.num_seeds, **thinned((folder / CURVE_CSV).read_text())}
        path = FOLDER / f"{run.env_id}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found) + "\n")
        print(path)


def thinned(csv: str) -> dict[str, Any]:
    """The points of a run's curve, means of neighbors where there are more than 50; without those that lack a seed."""
    table = np.genfromtxt(csv.splitlines()[1:], delimiter=",", ndmin=2)
    table = table[~np.isnan(table).any(axis=1)]
    bins = np.array_split(table, min(_POINTS, len(table)))
    steps, returns = [int(each[-1, 0]) for each in bins], np.array([each[:, 3:].mean(axis=0) for each in bins])
    ends = {"mean": returns.mean(axis=1), "low": returns.min(axis=1), "high": returns.max(axis=1)}
    return {"steps": steps, **{name: [float(f"{x:.4g}") for x in values] for name, values in ends.items()}}


def section(env_id: str, command: str, best: float | None) -> list[str]:
    """The lines of a page about the curve, or about how to make one.

    Args:
      env_id: the environment.
      command: trains the agents that earn `best`.
      best: that return, of the trained agents; None if it is not known.
    """
    path = FOLDER / f"{env_id}.json"
    if not path.exists():
        return [f"No learning curve was kept; `{command} --seeds 5 --out DIR` draws one, `DIR/curve.png`.", ""]
    curve: dict[str, Any] = json.loads(path.read_text())
    label = f"{env_id}: return of an episode over steps of an agent"
    chart = charts.curve(curve["steps"], curve["mean"], curve["low"], curve["high"], label, best)
    seeds = curve["seeds"]
    what = "while it explores, of one agent" if seeds == 1 else f"while it explores: mean and range of {seeds} agents"
    text = (
        f"Return of an episode over the steps of an agent, {what}. The dashed line is the return above. "
        f"`{command} --seeds {seeds} --out DIR` gives the same curve on the same machine, and a similar one elsewhere."
    )
    return [
        "```{raw} html",
        chart,
        "```",
        "",
        text,
        "",
    ]


if __name__ == "__main__":
    main()
