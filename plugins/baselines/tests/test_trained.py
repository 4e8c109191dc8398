"""Trained agents: those that the package brings play as well as their files say."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import envcore_baselines
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import registry
from envcore.errors import InvalidArgumentError
from envcore.rollout import run_rollout, start_rollout
from envcore.wrappers import RunningStatistics
from envcore_baselines import trained
from envcore_baselines.trained import TrainedAgent, episode_returns
from envcore_runs import checkpoint
from toy import Counter

if TYPE_CHECKING:
    from command_line import Run

KEY = jax.random.key(0)
SMALL: dict[str, Any] = {"total_steps": 64, "num_envs": 4, "rollout_steps": 8, "hidden": (8,)}
QUICK = ("CartPole-v1", "FrozenLake-misc", "MemoryChain-bsuite")


@pytest.fixture
def run_folder(tmp_path: Path, run: Run) -> Path:
    """The folder of a finished run of two agents on Counter-v0."""
    envcore_baselines.train("ppo", "Counter-v0", seed=7, seeds=2, out=tmp_path / "run", **SMALL)
    return tmp_path / "run"


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id", [pytest.param(each, marks=[] if each in QUICK else pytest.mark.slow) for each in trained.names()]
)
def test_it_earns_the_published_return(env_id: str) -> None:
    agent = envcore_baselines.load(env_id)
    num = 50 if env_id.endswith("MinAtar") else 200  # games of thousands of steps
    returns, ended = episode_returns(agent.learner, agent.params, agent.agent, KEY, num, True)
    error = agent.std_return * (1 / num + 1 / agent.episodes) ** 0.5
    assert float(returns.mean()) == pytest.approx(agent.mean_return, abs=4 * error + 1e-3)
    assert ended.all()


def test_all_files_together_are_small() -> None:
    assert len(trained.names()) >= 21
    assert sum(path.stat().st_size for path in trained.FOLDER.iterdir()) < 2_000_000


def test_it_plays_in_a_rollout() -> None:
    agent = envcore_baselines.load("FrozenLake-misc")
    start = start_rollout(agent.env, KEY, agent.params)
    _, rewards = jax.jit(
        lambda start: run_rollout(
            agent.env, agent.policy, start, 5000, agent.params, collect=lambda transition: transition.reward
        )
    )(start)
    assert float(rewards.sum()) > 40


def test_a_memory_is_no_policy() -> None:
    agent = envcore_baselines.load("MemoryChain-bsuite")
    obs, _ = agent.env.reset(KEY, agent.params)
    with pytest.raises(InvalidArgumentError, match=r"MemoryChain-bsuite has a memory, .*: call `act` for each step"):
        agent.policy(None, obs, KEY)


def test_the_first_agent_of_a_run(run_folder: Path) -> None:
    env, params = Counter(), Counter().default_params
    agent = trained.player("Counter-v0", env, params, str(run_folder))
    assert (agent.run.seed, agent.run.num_seeds, agent.episodes) == (7, 1, 0)
    other = TrainedAgent.of_run(run_folder, env, params)[1]
    assert other.run.seed == 8
    assert any((x != y).any() for x, y in zip(*map(jax.tree.leaves, (agent.agent, other.agent)), strict=True))


@pytest.mark.usefixtures("run")
def test_agents_with_an_object_of_their_learner(tmp_path: Path) -> None:
    out = tmp_path / "run"
    envcore_baselines.train("guessing:Optimizing", "Counter-v0", out=out)
    for env, params in ((None, None), (Counter(), Counter().default_params)):
        (agent,) = TrainedAgent.of_run(out, env, params)
        assert agent.agent.count == 40


def test_a_saved_agent_plays_the_same(run_folder: Path, tmp_path: Path) -> None:
    env, params = Counter(), Counter().default_params
    agent = trained.player("Counter-v0", env, params, str(run_folder))
    agent = dataclasses.replace(agent, mean_return=1.5, std_return=0.25, episodes=10)
    agent.save(tmp_path / "agent")
    loaded = TrainedAgent.of_file(tmp_path / "agent", env, params)
    assert (loaded.run, loaded.mean_return, loaded.std_return, loaded.episodes) == (agent.run, 1.5, 0.25, 10)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-6), agent.agent, loaded.agent)
    assert all(x.dtype == y.dtype for x, y in zip(*map(jax.tree.leaves, (agent.agent, loaded.agent)), strict=True))


def test_an_agent_that_no_file_describes(tmp_path: Path) -> None:
    (agent,) = envcore_baselines.train("ppo", Counter(), **SMALL).agents
    agent.save(tmp_path / "agent")
    for changes in ({"env_id": "__main__:Walk"}, {"network": f"{__name__}:f.<locals>.Net"}, {"options": {"env": {}}}):
        unnamed = dataclasses.replace(agent, run=dataclasses.replace(agent.run, **changes))
        with pytest.raises(InvalidArgumentError):
            unnamed.save(tmp_path / "unnamed")
    assert not (tmp_path / "unnamed").exists()
    with pytest.raises(InvalidArgumentError, match="num_episodes must be a positive integer, got 0"):
        agent.play(0, jax.random.key(0))


def test_statistics_and_large_numbers_are_saved_as_they_are(run_folder: Path, tmp_path: Path) -> None:
    env, params = Counter(), Counter().default_params
    agent = trained.player("Counter-v0", env, params, str(run_folder))
    statistics = RunningStatistics(jnp.full((2, 2), 1e6), jnp.full((2, 2), 1e-9), jnp.float32(9))
    network = jax.tree.map(lambda x: x * 1e9 if x.ndim == 2 else x, agent.agent.network)
    made = agent.agent._replace(network=network, statistics=statistics)
    dataclasses.replace(agent, agent=made).save(tmp_path / "agent")
    tensors, _ = checkpoint.load(tmp_path / "agent", dict)
    assert {x.dtype.name for x in tensors.values()} == {"float32"}
    for name, x in tensors.items():
        if "statistics" in name:
            np.testing.assert_array_equal(x, getattr(statistics, name.rsplit(".", 1)[1]))


@pytest.fixture
def suites(run: Run) -> None:
    """Environments of the suites, in the registry of `run`."""
    registry.register("CartPole-v1", "envcore_classic_control.cartpole:CartPole")
    registry.register("DeepSea-bsuite", "envcore_bsuite.deep_sea:DeepSea")
    registry.register("MemoryChain-bsuite", "envcore_bsuite.memory_chain:MemoryChain")


@pytest.mark.slow
@pytest.mark.usefixtures("suites")
def test_as_a_policy_of_the_command_line(run: Run, run_folder: Path) -> None:
    rollout = ("rollout", "--num-envs", "64", "--steps", "500", "--policy")
    code, text, err = run(*rollout, "trained", "CartPole-v1")
    assert (code, err) == (0, "")
    assert "500.00 ± 0.00 (from 500.00 to 500.00)" in text
    code, text, err = run(*rollout, f"trained:{run_folder}", "Counter-v0")
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("suites")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("trained", "Counter-v0"), "there is no trained agent for Counter-v0."),
        (("trained:nowhere", "Counter-v0"), "nowhere holds no run: there is no run.json in it."),
        (("trained", "DeepSea-bsuite", "--option", "size=9"), "does not fit at "),
        (("trained", "MemoryChain-bsuite"), "policy trained has a memory"),
        (("trainee", "Counter-v0"), "policy must be random, legal, trained or MODULE:FUNCTION"),
    ],
)
def test_policies_that_cannot_be_played(args: tuple[str, ...], message: str, run: Run) -> None:
    code, text, err = run("rollout", "--num-envs", "2", "--steps", "2", "--policy", *args)
    assert (code, text) == (1, "")
    assert message in err
    assert err.count("\n") == 1
