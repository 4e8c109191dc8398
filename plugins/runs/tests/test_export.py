"""Exported programs, in a process that has only JAX."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import jax
import numpy as np
import pytest
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rollout import random_policy
from envcore.wrappers import Batched, LogWrapper
from envcore_runs.export import export_policy, export_reset, export_rollout, export_step
from flax.serialization import to_state_dict
from toy import Counter, Deck, Spring

ONLY_JAX = """
import json, sys
from pathlib import Path

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("envcore", "flax", "chex", "optax", "pluggy"):
            raise ModuleNotFoundError(f"only JAX is installed, not {name}")

sys.meta_path.insert(0, Refuse())
import jax.export

here = Path(sys.argv[1])
reset, step, act, rollout = (
    jax.export.deserialize((here / name).read_bytes()).call for name in ("reset", "step", "act", "rollout")
)
found = {}
for num_envs in (1, 3):
    keys = jax.random.split(jax.random.PRNGKey(num_envs), num_envs)
    obs, state = reset(keys)
    action = act(keys, obs)
    obs, state, reward, terminated, truncated = step(keys, state, action)
    _, _, rewards, ends, cuts = rollout(keys)
    results = (jax.tree.leaves(obs), jax.tree.leaves(state), reward, terminated, truncated, rewards, ends, cuts)
    found[num_envs] = jax.tree.map(lambda x: x.tolist(), results)
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    "env",
    [
        pytest.param(Spring(), marks=pytest.mark.slow),
        pytest.param(Deck(), marks=pytest.mark.slow),
        LogWrapper(Counter()),
    ],
    ids=repr,
)
def test_exported_programs_do_the_same_without_envcore(env: Environment, tmp_path: Path) -> None:
    check_exported(env, tmp_path, sys.executable)


@pytest.mark.slow
def test_exported_programs_run_where_only_jax_is_installed(tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    versions = [f"{name}=={metadata.version(name)}" for name in ("jax", "jaxlib", "numpy")]
    subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")], check=True)
    install = ["uv", "pip", "install", "--quiet", "--python", str(python), *versions, "flatbuffers"]
    subprocess.run(install, check=True)
    check_exported(Spring(), tmp_path, str(python))


def check_exported(env: Environment, tmp_path: Path, python: str) -> None:
    """Compares programs that are exported here with what they do in a process of some Python."""
    policy = random_policy(env)
    programs = {
        "reset": export_reset(env),
        "step": export_step(env),
        "act": export_policy(policy, env),
        "rollout": export_rollout(env, policy, 30),
    }
    for name, exported in programs.items():
        assert exported.platforms == ("cpu", "cuda", "tpu")
        (tmp_path / name).write_bytes(exported.serialize())
    command = [python, "-c", ONLY_JAX, str(tmp_path)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for num_envs in (1, 3):
        keys = jax.random.split(jax.random.PRNGKey(num_envs), num_envs)
        obs, state = jax.vmap(env.reset)(keys)
        action = jax.vmap(lambda key, obs: policy(None, obs, key))(keys, obs)
        obs, state, reward, _, info = jax.vmap(env.step)(keys, state, action)
        leaves = jax.tree.leaves(to_state_dict(state))
        step = (jax.tree.leaves(obs), leaves, reward, info["terminated"], info["truncated"])
        *_, rewards, terminated, truncated = found[str(num_envs)]
        assert found[str(num_envs)][:5] == jax.tree.map(lambda x: x.tolist(), list(step))
        assert np.shape(rewards) == np.shape(terminated) == np.shape(truncated) == (num_envs, 30)
        assert np.any(terminated) or np.any(truncated)


def test_params_are_part_of_the_program() -> None:
    env = Counter()
    exported = export_step(env, env.default_params.replace(bonus=7.0), platforms=("cpu",))
    keys = jax.random.split(jax.random.PRNGKey(0), 2)
    _, state = export_reset(env).call(keys)
    assert exported.call(keys, state, np.array([0, 1], np.int32))[2].tolist() == [0, 7]


def test_errors() -> None:
    with pytest.raises(InvalidArgumentError, match="only single environments can be exported, this is a batch of"):
        export_step(Batched(Counter(), 3))
    with pytest.raises(InvalidArgumentError, match="num_steps must be a positive integer"):
        export_rollout(Counter(), random_policy(Counter()), 0)
