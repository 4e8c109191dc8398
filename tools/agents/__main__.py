"""Puts trained agents into envcore-baselines: `uv run python tools/agents DIR...`, with folders of `envcore train`.

The best agent of a run is the one with the highest mean return of its greedy episodes. It replaces the environment's
file if it is better than the agent there. The measured return is written into the file, which a test compares with the
return that it measures itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from pathlib import Path

import jax
import numpy as np
from envcore_baselines.evaluation import episode_returns
from envcore_baselines.trained import FOLDER, TrainedAgent
from envcore_baselines.training import Run

SEED = 1_000_000  # not one that an agent was evaluated with while its settings were chosen


def main() -> None:
    """Parses the command line, and prints a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--episodes", type=int, default=1000, help="greedy episodes of each agent")
    args = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for folder in args.runs:
        best = best_of(folder, args.episodes)
        path = FOLDER / f"{best.run.env_id}.safetensors"
        there = TrainedAgent.of_file(path).mean_return if path.exists() else -np.inf
        if best.mean_return > there:
            best.save(path)
        found = f"{best.run.env_id}: {best.run.algorithm}, seed {best.run.seed}, {best.mean_return:.4g}"
        verdict = f"{path.stat().st_size:,} bytes" if best.mean_return > there else f"not better than {there:.4g}"
        print(f"{found} ± {best.std_return:.3g}, {verdict}", flush=True)


def best_of(folder: Path, num_episodes: int) -> TrainedAgent:
    """The best agent of a run, as it is after it was saved and loaded."""
    run = Run.load(folder)
    agents = TrainedAgent.of_run(run, *run.make(), folder)
    return max((measured(agent, num_episodes) for agent in agents), key=lambda agent: agent.mean_return)


def measured(agent: TrainedAgent, num_episodes: int) -> TrainedAgent:
    """The agent, rounded as in a file, with the returns of its episodes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.safetensors"
        agent.save(path)
        rounded = TrainedAgent.of_file(path, agent.env, agent.params).agent
    agent = dataclasses.replace(agent, agent=rounded)  # with the learner of all, for which playing is compiled once
    returns, _ = episode_returns(agent.learner, agent.params, agent.agent, jax.random.key(SEED), num_episodes, True)
    returns = np.asarray(returns, np.float64)
    return dataclasses.replace(
        agent, mean_return=float(returns.mean()), std_return=float(returns.std()), episodes=num_episodes
    )


if __name__ == "__main__":
    main()
