"""Add trained agents to envcore-baselines: `uv run python tools/agents DIR...`, with folders of `envcore train`.

The best agent of a run has the highest mean return over greedy episodes. Candidates are the agents at the end of
training and at the best points of their curves. The best agent replaces the environment's agent in the package if it is
better on the same episodes. Its return is then measured on new episodes and stored in the file. A test checks this
return.

`uv run python tools/agents --again [ID...]` measures the agents in the package again.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from pathlib import Path

import jax
import numpy as np
from envcore_baselines.trained import FOLDER, TrainedAgent, episode_returns, names, path_of

CHOOSING, MEASURING = 1_000_000, 2_000_000
"""Seeds of the episodes, which differ from the seeds used to tune settings."""


def main() -> None:
    """Parses the command line, and prints a line per run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, metavar="DIR")
    parser.add_argument("--episodes", type=int, default=1000, help="greedy episodes per agent (default: 1000)")
    parser.add_argument(
        "--again", nargs="*", metavar="ID", help="measure these agents in the package again (default: all)"
    )
    args = parser.parse_args()
    if args.again is not None:
        for env_id in args.again or names():
            agent = measured(TrainedAgent.of_file(path_of(env_id)), args.episodes, MEASURING)
            agent.save(path_of(env_id))
            print(f"{env_id}: {agent.mean_return:.4g} ± {agent.std_return:.3g}", flush=True)
    FOLDER.mkdir(exist_ok=True)
    for folder in args.runs:
        best = best_of(folder, args.episodes)
        path = FOLDER / f"{best.run.env_id}.safetensors"
        there = -np.inf
        if path.exists():
            there = measured(TrainedAgent.of_file(path), args.episodes, CHOOSING).mean_return
        verdict = f"not better than {there:.4g} on the same episodes"
        if best.mean_return > there:
            best = measured(best, args.episodes, MEASURING)
            best.save(path)
            verdict = f"{path.stat().st_size:,} bytes"
        found = f"{best.run.env_id}: {best.run.algorithm}, seed {best.run.seed}, {best.mean_return:.4g}"
        print(f"{found} ± {best.std_return:.3g}, {verdict}", flush=True)


def best_of(folder: Path, num_episodes: int) -> TrainedAgent:
    """Returns the best agent of a run, after saving and loading, with the returns that it was selected by."""
    agents = [agent for best in (False, True) for agent in TrainedAgent.of_run(folder, best=best)]
    return max((measured(agent, num_episodes, CHOOSING) for agent in agents), key=lambda agent: agent.mean_return)


def measured(agent: TrainedAgent, num_episodes: int, seed: int) -> TrainedAgent:
    """Measures an agent's returns, with weights rounded as in the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.safetensors"
        agent.save(path)
        rounded = TrainedAgent.of_file(path, agent.env, agent.params).agent
    agent = dataclasses.replace(agent, agent=rounded)  # shares the learner, so that playing is compiled once
    returns, _ = episode_returns(agent.learner, agent.params, agent.agent, jax.random.key(seed), num_episodes, True)
    returns = np.asarray(returns, np.float64)
    return dataclasses.replace(
        agent, mean_return=float(returns.mean()), std_return=float(returns.std()), episodes=num_episodes
    )


if __name__ == "__main__":
    main()
