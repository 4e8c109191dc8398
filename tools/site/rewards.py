"""The rewards that are seen in play in every environment of our suites: `uv run python tools/site/rewards.py [ID...]`.

It writes `data/rewards.json`: by id, the smallest and the largest reward of random play and of the trained agent.
Without ids it plays all, which takes minutes and downloads MNIST.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import envcore
import envcore_baselines
import jax
import jax.numpy as jnp
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_baselines.trained import names
from suites import our_environments

_DATA = Path(__file__).with_name("data") / "rewards.json"


def main() -> None:
    """Plays the environments, and adds what is found to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    found = json.loads(_DATA.read_text())
    for env_id in parser.parse_args().ids or [each.spec.id for each in our_environments()]:
        found[env_id] = seen(env_id)
        lines = [f" {json.dumps(name)}: {json.dumps(ends)}" for name, ends in sorted(found.items())]
        _DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(env_id, found[env_id], flush=True)


def seen(env_id: str) -> list[float]:
    """The smallest and the largest reward that are seen."""
    env, params = envcore.make(env_id)
    batch = Batched(env, 256)
    ends = [_rewards(batch, random_policy(batch), params, 1000)]
    if env_id in names():
        agent = envcore_baselines.load(env_id)
        ends.append(_rewards(agent.env, agent.policy, agent.params, 20_000))
    rounded = (float(f"{number:.4g}") for number in (min(low for low, _ in ends), max(high for _, high in ends)))
    return list(rounded)


def _rewards(env: Any, policy: Any, params: Any, num_steps: int) -> tuple[float, float]:
    @jax.jit
    def play(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = start_rollout(env, key, params)
        earned = run_rollout(env, policy, start, num_steps, params, collect=lambda step: step.reward)[1]
        return jnp.min(earned), jnp.max(earned)

    low, high = play(jax.random.key(0))
    return float(low), float(high)


def sentence(env_id: str) -> str:
    """The rewards of an environment, as its table says them."""
    ends = json.loads(_DATA.read_text())[env_id]
    largest = max(map(abs, ends))
    low, high = (0.0 if abs(reward) < 1e-5 * largest else reward for reward in ends)
    return f"{low:g} on every step" if low == high else f"from {low:g} to {high:g} in play"


if __name__ == "__main__":
    main()
