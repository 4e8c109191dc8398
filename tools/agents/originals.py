"""Evaluate the trained agents in the original environments: `uv run python tools/agents/originals.py [ID...]`.

The agents play the installed Gymnasium, MinAtar and bsuite, with greedy actions as in envcore. The returns are written
to tools/site/data/originals.json. The fidelity page compares them with the returns in envcore. Rows of other ids are
kept.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import envcore_baselines
import jax
import jax.numpy as jnp
import numpy as np
from envcore_baselines.trained import TrainedAgent

PATH = Path(__file__).parents[1] / "site" / "data" / "originals.json"
EPISODES = 400

Reset = Callable[[], Any]
"""Returns the first observation."""
Step = Callable[[Any], tuple[Any, float, bool]]
"""Takes an action, and returns the next observation, the reward and whether the episode is over."""


def gymnasium(env_id: str, seed: int) -> tuple[Reset, Step]:
    """Makes a Gymnasium environment."""
    import gymnasium

    names = {"FrozenLake-misc": "FrozenLake-v1"}
    env = gymnasium.make(names.get(env_id, env_id))
    seeds = iter([seed])

    def step(action: Any) -> tuple[Any, float, bool]:
        obs, reward, terminated, truncated, _ = env.step(action if np.ndim(action) else int(action))
        return obs, float(reward), terminated or truncated

    return lambda: env.reset(seed=next(seeds, None))[0], step


def minatar(env_id: str, seed: int) -> tuple[Reset, Step]:
    """Makes a MinAtar game, which repeats the last action with probability 0.1."""
    from minatar import Environment

    name = {"SpaceInvaders-MinAtar": "space_invaders"}.get(env_id, env_id.removesuffix("-MinAtar").lower())
    game = Environment(name)
    game.seed(seed)
    actions = game.minimal_action_set()

    def reset() -> Any:
        game.reset()
        return game.state()

    def step(action: Any) -> tuple[Any, float, bool]:
        reward, is_over = game.act(actions[int(action)])
        return game.state(), float(reward), bool(is_over)

    return reset, step


BSUITE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "CartPole-bsuite": ("bsuite.environments.cartpole", "Cartpole", {}),
    "CartPoleSwingup-bsuite": ("bsuite.experiments.cartpole_swingup.cartpole_swingup", "CartpoleSwingup", {}),
    "Catch-bsuite": ("bsuite.environments.catch", "Catch", {}),
    "DeepSea-bsuite": ("bsuite.environments.deep_sea", "DeepSea", {"size": 8, "mapping_seed": 0}),
    "DeepSeaStochastic-bsuite": (
        "bsuite.environments.deep_sea",
        "DeepSea",
        {"size": 8, "mapping_seed": 0, "deterministic": False},
    ),
    "DiscountingChain-bsuite": ("bsuite.environments.discounting_chain", "DiscountingChain", {"mapping_seed": 0}),
    "MemoryChain-bsuite": ("bsuite.environments.memory_chain", "MemoryChain", {"memory_length": 5}),
    "MountainCar-bsuite": ("bsuite.environments.mountain_car", "MountainCar", {}),
    "SimpleBandit-bsuite": ("bsuite.environments.bandit", "SimpleBandit", {"mapping_seed": 0}),
    "UmbrellaChain-bsuite": ("bsuite.environments.umbrella_chain", "UmbrellaChain", {"chain_length": 10}),
}
"""Module, class and arguments of the original environment, by envcore's id."""


def bsuite(env_id: str, seed: int) -> tuple[Reset, Step]:
    """Makes a bsuite environment."""
    module, name, arguments = BSUITE[env_id]
    seeds = {} if "bandit" in module or "discounting" in module else {"seed": seed}  # these take no seed
    env = getattr(importlib.import_module(module), name)(**arguments, **seeds)

    def step(action: Any) -> tuple[Any, float, bool]:
        shown = env.step(int(action))
        return shown.observation, float(shown.reward), bool(shown.last())

    return lambda: env.reset().observation, step


ORIGINALS: dict[str, tuple[str, Callable[[str, int], tuple[Reset, Step]]]] = {
    **dict.fromkeys(
        [
            "Acrobot-v1",
            "CartPole-v1",
            "MountainCar-v0",
            "MountainCarContinuous-v0",
            "Pendulum-v1",
            "FrozenLake-misc",
        ],
        ("Gymnasium", gymnasium),
    ),
    **dict.fromkeys(
        [f"{name}-MinAtar" for name in ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders")],
        ("MinAtar", minatar),
    ),
    **dict.fromkeys(BSUITE, ("bsuite", bsuite)),
}
"""The library of each original environment, and the function that makes it."""


def returns_in_original(agent: TrainedAgent, make: Callable[[int], tuple[Reset, Step]], episodes: int) -> np.ndarray:
    """Plays greedy episodes in a batch of original environments, and returns their returns, float64 (episodes,).

    Args:
      agent: the agent.
      make: makes an original environment, given a seed.
      episodes: number of episodes.
    """
    originals = [make(seed) for seed in range(episodes)]
    space: Any = agent.env.observation_space(agent.params)
    as_seen = functools.partial(np.asarray, dtype=space.dtype)
    act = jax.jit(jax.vmap(agent.act, (0, 0, None)))
    memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (episodes, *jnp.shape(x))), agent.start_memory())
    obs = np.stack([as_seen(reset()) for reset, _ in originals])
    returns, is_over = np.zeros(episodes), np.zeros(episodes, bool)
    while not is_over.all():
        actions, memory = act(memory, obs, jax.random.key(0))
        actions = np.asarray(actions)
        for number in np.flatnonzero(~is_over):
            shown, reward, is_over[number] = originals[number][1](actions[number])
            obs[number], returns[number] = as_seen(shown), returns[number] + reward
    return returns


def row_of(env_id: str, episodes: int = EPISODES) -> dict[str, Any]:
    """Compares an agent's mean returns in envcore and in the original environment.

    `z` is the difference of the means in standard errors. None if all returns are equal.
    """
    agent, (library, make) = envcore_baselines.load(env_id), ORIGINALS[env_id]
    found = returns_in_original(agent, lambda seed: make(env_id, seed), episodes)
    error = math.hypot(found.std() / episodes**0.5, agent.std_return / agent.episodes**0.5)
    return {
        "id": env_id,
        "original": f"{library} {version(library.lower())}",
        "episodes": episodes,
        "mean": float(found.mean()),
        "std": float(found.std()),
        "mean_in_envcore": agent.mean_return,
        "std_in_envcore": agent.std_return,
        "episodes_in_envcore": agent.episodes,
        "z": float(found.mean() - agent.mean_return) / error if error > 1e-6 else None,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses the command line, plays, and writes the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="environments (default: all with an original)")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="episodes per agent (default: %(default)s)")
    args = parser.parse_args(arguments)
    if unknown := set(args.ids) - set(ORIGINALS):
        parser.error(f"{min(unknown)} has no original here. Choose from {', '.join(ORIGINALS)}")
    rows = {row["id"]: row for row in (json.loads(PATH.read_text()) if PATH.exists() else [])}
    for env_id in args.ids or ORIGINALS:
        row = rows[env_id] = row_of(env_id, args.episodes)
        z = "" if row["z"] is None else f", z {row['z']:.1f}"
        print(
            f"{env_id}: {row['mean']:.4g} in {row['original']}, {row['mean_in_envcore']:.4g} in envcore{z}", flush=True
        )
        PATH.write_text(json.dumps([rows[each] for each in ORIGINALS if each in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
