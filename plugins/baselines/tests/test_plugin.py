"""What the baselines announce, and what is imported for it."""

from __future__ import annotations

import subprocess
import sys

import envcore
import pytest
from envcore_baselines.plugin import envcore_algorithms, envcore_commands, envcore_policies


def test_the_installed_baselines_are_announced() -> None:
    (found,) = [each for each in envcore.registry.plugins if each.distribution == "envcore-baselines"]
    assert found.specs == (*envcore_commands(), *envcore_policies(), *envcore_algorithms())
    assert [spec.name for spec in found.specs if spec.kind == "command"] == ["train", "evaluate", "bsuite"]
    algorithms = [spec.name for spec in found.specs if spec.kind == "algorithm"]
    assert algorithms == ["ppo", "es", "dqn", "pqn", "sac", "bootstrapped_dqn"]


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import envcore_baselines, envcore_baselines.plugin", {"jax", "numpy", "optax", "rich", "typer"}),
        ("import envcore_baselines.bsuite.commands", {"jax", "numpy", "envcore_bsuite"}),
        ("import envcore_baselines.commands", {"jax", "numpy", "optax", "matplotlib"}),
    ],
)
def test_announcing_and_options_import_nothing_heavy(statement: str, unwanted: set[str]) -> None:
    code = f"import sys; {statement}; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_training_from_python_needs_no_command_line() -> None:
    code = """
import sys
sys.modules["typer"] = sys.modules["envcore_cli"] = None
import envcore_baselines

small = dict(total_steps=128, num_envs=4, rollout_steps=16, minibatches=2, hidden=[8])
print(len(envcore_baselines.train("ppo", "CartPole-v1", **small).agents))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "1\n", done.stderr
