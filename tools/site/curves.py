"""Learning curves for the pages of the environments: `uv run python tools/site/curves.py DIR...`.

The folders are those of finished runs of `envcore train`, with `--evaluate` for a second line. What is kept of each,
`data/curves/ID.json`, are at most 50 points: steps of an agent, and the mean, lowest and highest return over the
agents, of training and of greedy episodes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import charts
import numpy as np
from envcore_baselines.curve import Curve
from envcore_baselines.run import Run, saved_curve

FOLDER = Path(__file__).with_name("data") / "curves"
_POINTS = 50
_GREEDY = "greedy_return"
_ENDS = ("mean", "low", "high")


def main() -> None:
    """Writes a file for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    for folder in parser.parse_args().runs:
        run = Run.load(folder)
        found: dict[str, Any] = {
            "algorithm": run.algorithm,
            "seeds": run.num_seeds,
            **thinned(saved_curve(folder)),
        }
        if run.evaluation_episodes:
            found["greedy"]["episodes"] = run.evaluation_episodes
        path = FOLDER / f"{run.env_id}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found) + "\n")
        print(path)


def thinned(curve: Curve) -> dict[str, Any]:
    """The points of a curve, means of neighbors where there are more than 50; without those that lack an agent.

    What the agents earn in greedy episodes is "greedy", if they were evaluated.
    """
    known = np.flatnonzero(~np.isnan(curve.array()).any(axis=1))
    bins = np.array_split(known, min(_POINTS, len(known)))

    def band(rows: np.ndarray) -> dict[str, list[float]]:
        returns = np.array([rows[each].mean(axis=0) for each in bins])
        ends = {"mean": returns.mean(axis=1), "low": returns.min(axis=1), "high": returns.max(axis=1)}
        return {name: [float(f"{x:.4g}") for x in values] for name, values in ends.items()}

    found: dict[str, Any] = {"steps": [curve.steps[each[-1]] for each in bins], **band(curve.array())}
    return found | ({"greedy": band(curve.array(_GREEDY))} if _GREEDY in curve.metrics else {})


def section(env_id: str, command: str, best: str, peers: Mapping[str, float]) -> list[str]:
    """The lines of a page about the curve, or about how to make one.

    Args:
      env_id: the environment.
      command: trains the agents that earn `best`.
      best: that return, of the trained agents: mean and standard deviation, "121.0 ± 7.8".
      peers: what other libraries' agents earn, by their names.
    """
    path = FOLDER / f"{env_id}.json"
    if not path.exists():
        return [f"No learning curve was kept; `{command} --seeds 5 --out DIR` draws one, `DIR/curve.png`.", ""]
    found: dict[str, Any] = json.loads(path.read_text())
    seeds, greedy = found["seeds"], found.get("greedy")
    who = "members of the population" if found["algorithm"] == "es" else "sampled actions"
    bands: dict[str, Any] = {f"{who}, while it learns": (found, charts.OURS)}
    evaluated = ""
    if greedy:
        bands["greedy, while it learns"] = greedy, charts.GREEDY
        evaluated = f" --evaluate {greedy['episodes']}"
    mean, _, spread = best.partition(" ± ")
    end = f"greedy, after training: {best}", float(mean), float(spread)
    levels = {f"{name}'s agent": level for name, level in peers.items()}
    chart = charts.curve(found["steps"], bands, end, f"{env_id}: return of an episode over steps of an agent", levels)
    lines = "The line is that of one agent" if seeds == 1 else f"Lines and bands are mean and range of {seeds} agents"
    text = (
        f"{lines}; the dot is the return above. `{command} --seeds {seeds}{evaluated} --out DIR` gives a similar curve."
    )
    return ["```{raw} html", chart, "```", "", text, ""]


if __name__ == "__main__":
    main()
