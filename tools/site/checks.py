"""What is found in every environment of our suites by running it: `uv run python tools/site/checks.py [ID...]`.

It writes `data/checks.json`: by id, the number of the conformance kit's rules that are kept, why others do not apply,
and the smallest and largest reward of random play and of the trained agent. Without ids it checks all, which takes
minutes and downloads MNIST. It fails at the first broken rule.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import envcore
import envcore_baselines
import jax
import jax.numpy as jnp
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_baselines.trained import names
from envcore_testing import check_rules
from suites import our_environments, write_by_id

DATA = Path(__file__).with_name("data") / "checks.json"


def main() -> None:
    """Checks the environments, and adds what is found to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    ids = parser.parse_args().ids or [each.spec.id for each in our_environments()]
    found = json.loads(DATA.read_text()) if DATA.exists() else {}
    for env_id in ids:
        found[env_id] = check(env_id) | {"rewards": rewards(env_id)}
        write_by_id(DATA, found)
        print(env_id, found[env_id], flush=True)


def check(env_id: str) -> dict[str, Any]:
    """The number of "kept" rules, and the "skipped" ones with the reason; exits if one is broken."""
    results = list(check_rules(*envcore.make(env_id)))
    for each in results:
        if each.error is not None:
            sys.exit(f"error: {each.error}")
    skipped = {each.rule: each.skipped for each in results if each.skipped is not None}
    return {"kept": len(results) - len(skipped), "skipped": skipped}


def rewards(env_id: str) -> list[float]:
    """The smallest and the largest reward that are seen."""
    env, params = envcore.make(env_id)
    batch = Batched(env, 256)
    seen = [_rewards(batch, random_policy(batch), params, 1000)]
    if env_id in names():
        agent = envcore_baselines.load(env_id)
        seen.append(_rewards(agent.env, agent.policy, agent.params, 20_000))
    rounded = (float(f"{number:.4g}") for number in (min(low for low, _ in seen), max(high for _, high in seen)))
    return list(rounded)


def _rewards(env: Any, policy: Any, params: Any, num_steps: int) -> tuple[float, float]:
    @jax.jit
    def play(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        start = start_rollout(env, key, params)
        earned = run_rollout(env, policy, start, num_steps, params, collect=lambda step: step.reward)[1]
        return jnp.min(earned), jnp.max(earned)

    low, high = play(jax.random.key(0))
    return float(low), float(high)


def rows(env_id: str) -> dict[str, str]:
    """The rows of an environment's table about what was found; none if it was not checked."""
    found = json.loads(DATA.read_text()).get(env_id)
    if found is None:
        return {}
    largest = max(map(abs, found["rewards"]))
    low, high = (0.0 if abs(reward) < 1e-5 * largest else reward for reward in found["rewards"])
    reward = f"{low:g} on every step" if low == high else f"from {low:g} to {high:g} in play"
    kept, skipped = found["kept"], found["skipped"]
    others = "; the others: " + ", ".join(f"`{rule}` ({why})" for rule, why in skipped.items()) if skipped else ""
    rules = f"{kept} [rules](../reference/testing.md) that apply to it{others}"
    return {"reward": reward, "contract": f"`envcore check {env_id}` keeps all {rules}"}


if __name__ == "__main__":
    main()
