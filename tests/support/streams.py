"""What every environment of our suites gives for one key: `uv run python tests/support/streams.py` writes it anew.

The numbers behind a key may change between minor releases of envcore, not by accident: see the documentation, "Versions
and reproducibility".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import envcore
import jax
import numpy as np
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore_testing.compilation import quick_jit

RECORDED = Path(__file__).parents[1] / "golden" / "streams.json"
IDS = [
    found.spec.id
    for found in envcore.registry.values()
    if not found.spec.family and found.distribution != "envcore-example" and "MNIST" not in found.spec.id
]
_STEPS = 40
_LIMIT = 25  # so that every environment ends an episode


def summary(env_id: str) -> dict[str, Any]:
    """Sums over a rollout of random play: of rewards, ends, actions and the numbers in observations."""
    env, params = envcore.make(env_id)
    params = params.replace(max_steps_in_episode=np.int32(_LIMIT))

    def play(key: jax.Array) -> Any:
        start = start_rollout(env, key, params)
        keep = lambda step: (step.reward, step.done, step.action, step.next_obs)  # noqa: E731
        return run_rollout(env, random_policy(env), start, _STEPS, params, collect=keep)[1]

    parts = quick_jit(play)(jax.random.key(2026))
    sums = [float(sum(np.asarray(leaf, np.float64).sum() for leaf in jax.tree.leaves(part))) for part in parts]
    return dict(zip(("reward", "done", "action", "obs"), sums, strict=True))


def main() -> None:
    """Writes the file."""
    rows = [f" {json.dumps(env_id)}: {json.dumps(summary(env_id))}" for env_id in IDS]
    RECORDED.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
