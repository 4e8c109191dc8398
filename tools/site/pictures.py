"""Animations for the pages of the environments: `uv run python tools/site/pictures.py [ID...]`.

They are kept in `data/pictures`: of the baselines' trained agents, or of random play. Without ids it makes those that
are missing. MNISTBandit's was made by `envcore render --policy trained:DIR --steps 16 --height 256` from a run in DIR.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from envcore_baselines.trained import names
from envcore_cli.app import app
from suites import our_environments

FOLDER = Path(__file__).with_name("data") / "pictures"


def main() -> None:
    """Renders the environments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    missing = [each.spec.id for each in our_environments() if not (FOLDER / f"{each.spec.id}.webp").exists()]
    for env_id in parser.parse_args().ids or missing:
        policy, path = "trained" if env_id in names() else "random", str(FOLDER / f"{env_id}.webp")
        command = ["render", env_id, "--out", path, "--policy", policy, "--steps", "150", "--height", "256"]
        app(command, standalone_mode=False)


if __name__ == "__main__":
    main()
