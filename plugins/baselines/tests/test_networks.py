"""Networks of the user's: what is one, which algorithms take one, and that runs find it again."""

from __future__ import annotations

import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import envcore_baselines
import jax
import numpy as np
import pytest
from envcore.errors import FileError, InvalidArgumentError
from envcore_baselines import algorithms, training
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo import PPO
from envcore_baselines.run import Run
from envcore_baselines.trained import TrainedAgent
from own_network import Linear, LinearValues
from toy import Counter

if TYPE_CHECKING:
    from command_line import Run as Command

SMALL: dict[str, Any] = {"num_envs": 4, "rollout_steps": 8, "epochs": 1, "hidden": (4,), "total_steps": 32 * 9}
SMALL_DQN: dict[str, Any] = {"num_envs": 4, "total_steps": 400, "min_replay_size": 8, "target_period": 1}
SETTINGS = [part for name, value in SMALL.items() for part in ("--setting", f"{name}={value}")]


@pytest.fixture(autouse=True)
def three_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_POINTS", 3)


@pytest.mark.parametrize(
    ("network", "error", "message"),
    [
        (3, ConfigError, r"the network must have init\(key, obs\) and apply\(weights, obs\), got 3"),
        ("own_network:init", ConfigError, "the network must have .* got <function init"),
        ("own_network:nothing", InvalidArgumentError, "network own_network:nothing cannot be imported: AttributeError"),
        ("own_network", InvalidArgumentError, "network must be MODULE:NAME, as in `import MODULE`, got 'own_network'"),
    ],
)
def test_what_is_none(network: Any, error: type[Exception], message: str) -> None:
    env, config = Counter(), algorithms.config("ppo", None, SMALL)
    with pytest.raises(error, match=f"^{message}"):
        algorithms.learner("ppo", env, env.default_params, config, network)


@pytest.mark.slow
@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(("algorithm", "settings"), [("pqn", SMALL), ("dqn", SMALL_DQN)])
def test_values_of_actions_by_it(algorithm: str, settings: dict[str, Any]) -> None:
    (agent,) = envcore_baselines.train(algorithm, "Counter-v0", network=LinearValues, **settings).agents
    obs, _ = agent.env.reset(jax.random.key(0), agent.params)
    (weights,) = jax.tree.leaves(jax.tree.map(np.asarray, agent.agent["policy"]))
    assert weights.any()  # they are zero before
    action, _ = agent.act((), obs, jax.random.key(1))
    assert action == (obs @ weights).argmax()


@pytest.mark.slow
@pytest.mark.usefixtures("run")
def test_a_sweep_with_it_and_an_algorithm_that_no_name_leads_to() -> None:
    class Mine(PPO): ...

    sweep = {"learning_rate": [1e-4, 1e-2]}
    slow, fast = envcore_baselines.train(Mine, Counter(), network=Linear(2), sweep=sweep, **SMALL).agents
    distances = [np.abs(np.asarray(each.agent.network["policy"])).sum() for each in (slow, fast)]
    assert 0 < 10 * distances[0] < distances[1]


def test_a_run_finds_it_again(run: Command, tmp_path: Path) -> None:
    found = envcore_baselines.train("ppo", "Counter-v0", network=Linear, out=tmp_path / "run", **SMALL)
    saved = Run.load(tmp_path / "run")
    assert saved.network == "own_network:Linear"
    (agent,) = TrainedAgent.of_run(tmp_path / "run")
    jax.tree.map(np.testing.assert_array_equal, agent.agent, found.agents[0].agent)
    agent.save(tmp_path / "agent.safetensors")
    assert TrainedAgent.of_file(tmp_path / "agent.safetensors").run.network == "own_network:Linear"
    assert run("evaluate", str(tmp_path / "run"), "--episodes", "2")[0] == 0
    with pytest.raises(FileError, match="holds another run"):
        envcore_baselines.train("ppo", "Counter-v0", out=tmp_path / "run", **SMALL)
    for network in (Linear(2), type("Local", (Linear,), {})):
        with pytest.raises(InvalidArgumentError, match=r"the network .* has no name by which a saved run can find it"):
            envcore_baselines.train("ppo", "Counter-v0", network=network, out=tmp_path / "other", **SMALL)


def test_the_command(run: Command, tmp_path: Path) -> None:
    train = ("train", "ppo", "Counter-v0", *SETTINGS, "--out", str(tmp_path), "--network", "own_network:Linear")
    code, _, err = run(*train)
    assert (code, err) == (0, "")
    assert Run.load(tmp_path).network == "own_network:Linear"
    without_settings = ("Counter-v0", "--out", str(tmp_path / "es"), "--network", "own_network:Linear")
    code, _, err = run("train", "es", *without_settings)
    assert (code, err) == (1, "error: ES does not take a network. Use ppo, pqn or dqn.\n")


WITHOUT_WEIGHTS = types.SimpleNamespace(init=lambda key, obs: {}, apply=lambda weights, obs: obs[:, :2])


@pytest.mark.parametrize(
    ("algorithm", "network", "message"),
    [
        (
            "ppo",
            Linear(3),
            r"map .* to outputs float32 \(n, 2\) and values float32 \(n,\), got \[\(\(2, 3\), ",
        ),
        (
            "pqn",
            LinearValues(3),
            r"map .* to values float32 \(n, 2\), got \[\(\(2, 3\), 'float32'\)\] for n = 2",
        ),
        ("dqn", Linear(2), r"map observations to values float32 \(n, 2\), got \[\(\(2, 2\), 'float32'\), "),
        ("dqn", WITHOUT_WEIGHTS, "have weights to train, all of them floats"),
    ],
)
def test_a_network_that_does_not_fit(algorithm: str, network: Any, message: str) -> None:
    env, config = Counter(), algorithms.config(algorithm, None, {"num_envs": 4})
    with pytest.raises(ConfigError, match=f"the network must {message}"):
        algorithms.learner(algorithm, env, env.default_params, config, network)
