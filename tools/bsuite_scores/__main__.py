# /// script
# requires-python = "==3.11.*"
# dependencies = [
#     "bsuite==0.3.6",
#     "matplotlib==3.6.3",
#     "mizani==0.8.1",
#     "numpy==1.26.4",
#     "pandas==1.5.3",
#     "plotnine==0.10.1",
#     "setuptools<81",
# ]
# ///
"""Record the scores that bsuite's analysis gives to several agents, with the agents' logs.

    uv run tools/bsuite_scores/__main__.py [agents ...]

bsuite's analysis needs old libraries. uv reads them from the head of this file and installs them in a separate
environment. One agent is bsuite's random agent, with fewer episodes and without mnist's data. The other agents' logs
are generated from a seed. Their scores range from 0 to 1, and some logs stop early, continue for too long or contain
two runs. The random agent's logs differ each time, because most of bsuite's environments have no seed.
"""

from __future__ import annotations

import argparse
import glob
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import agents
import numpy as np
import pandas as pd
from bsuite import sweep
from bsuite.experiments import summary_analysis
from bsuite.logging import csv_load

_GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "bsuite_scores"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="NAME", help="agents (default: all)")
    parser.add_argument("--out", type=Path, default=_GOLDEN, help="folder for the recordings")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # the old libraries warn about each other
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.agents or agents.AGENTS:
        with tempfile.TemporaryDirectory() as folder:
            agents.AGENTS[name](Path(folder))
            scores, tags = official_scores(Path(folder))
            path = args.out / f"{name}.npz"
            pack(Path(folder), path, scores, tags)
        print(f"{name}: {len(scores)} scores, {path.stat().st_size / 1e6:.2f} MB")


def official_scores(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Runs bsuite's analysis of the logs in a folder, and returns the scores and their means by tag.

    bsuite reads files in the order of the file system. Here they are sorted in the order of bsuite's sweep.
    """
    order = {f"bsuite_id_-_{bsuite_id.replace('/', '-')}.csv": i for i, bsuite_id in enumerate(sweep.SWEEP)}
    paths = sorted(map(str, folder.glob("*.csv")), key=lambda path: order[Path(path).name])
    with mock.patch.object(glob, "glob", return_value=paths):
        results = csv_load.load_one_result_set(str(folder))
    scores = summary_analysis.bsuite_score(results)
    return scores, summary_analysis.ave_score_by_tag(scores, [])


def pack(folder: Path, path: Path, scores: pd.DataFrame, tags: pd.DataFrame) -> None:
    """Writes an agent's logs and scores to one file."""
    logs = {file.stem: pd.read_csv(file) for file in sorted(folder.glob("*.csv"))}
    rows = pd.concat(logs.values(), ignore_index=True)
    names = list(logs)
    meta = {
        "logs": names,
        "scores": scores.to_dict("records"),
        "tags": dict(sorted(zip(tags["tag"], tags["score"], strict=True))),
        "versions": {"bsuite": "0.3.6", "numpy": np.__version__, "pandas": pd.__version__},
    }
    arrays: dict[str, Any] = {str(name): _narrow(rows[name].to_numpy()) for name in rows}
    arrays["log"] = np.repeat(np.arange(len(names), dtype=np.int16), [len(log) for log in logs.values()])
    np.savez_compressed(path, **arrays, meta=np.array(json.dumps(meta, default=bool)))


def _narrow(values: np.ndarray) -> np.ndarray:
    """Converts whole numbers to int32, so that they compress better."""
    narrow = values.astype(np.int32) if np.isfinite(values).all() else values
    return narrow if (narrow == values).all() else values


if __name__ == "__main__":
    main()
