"""The algorithms by name."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import pytest
from envcore import registry
from envcore.plugins import PluginRecord
from envcore.registration import Registry
from envcore.specs import AlgorithmSpec
from envcore_baselines import algorithms
from envcore_baselines.errors import ConfigError
from envcore_baselines.plugin import envcore_algorithms
from envcore_baselines.ppo import PPO, PPOConfig
from guessing import Guess, GuessConfig
from toy import Counter


def test_an_environment_that_observes_no_numbers() -> None:
    env = Counter(goal=-1)
    with pytest.raises(ConfigError, match=r"^Counter has empty observations: Box\(.*, \(0,\), float32\)"):
        algorithms.learner("pqn", env, env.default_params, algorithms.config("pqn", None, {}))


def test_an_algorithm_of_the_user() -> None:
    config = algorithms.config(Guess, "CartPole-v1", {"label": "a"})
    assert config == GuessConfig(label="a")
    assert type(algorithms.learner(Guess, Counter(), Counter().default_params, config)) is Guess


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (Guess.init, "an algorithm must be a class with a dataclass Config for its settings, got <function"),
        (type("Mine", (Guess,), {"Config": int}), "an algorithm must be a class with a dataclass Config .* got <class"),
    ],
)
def test_a_class_that_training_cannot_use(algorithm: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        algorithms.learner(algorithm, Counter(), Counter().default_params, algorithms.config(algorithm, None, {}))


def test_tuned_settings_are_those_of_the_algorithms_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package: Any = types.ModuleType("a_suite")
    package.__path__, package.Theirs = [str(tmp_path)], type("Theirs", (PPO,), {"__module__": "a_suite"})
    monkeypatch.setitem(sys.modules, "a_suite", package)
    theirs = AlgorithmSpec("ppo", "Theirs.", "a_suite:Theirs")
    ours = PluginRecord("envcore-baselines", "0", "", "", "loaded", tuple(envcore_algorithms()))
    records = PluginRecord("a-suite", "1.0", "", "", "loaded", (theirs,)), ours
    monkeypatch.setattr("envcore.registration.discover", lambda: records)
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))
    with pytest.raises(ConfigError, match="use 'a-suite:ppo' or 'envcore-baselines:ppo'"):
        algorithms.config("ppo", None, {})
    assert algorithms.config("a-suite:ppo", "CartPole-v1", {}) == PPOConfig()
    assert algorithms.config("envcore-baselines:ppo", "CartPole-v1", {}) != PPOConfig()
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "CartPole-v1.toml").write_text("[ppo]\nclip = 0.3\n")
    assert algorithms.config("a-suite:ppo", "CartPole-v1", {}) == PPOConfig(clip=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppo", "pqn"])
def test_more_gradient_steps_than_an_optimizer_counts(name: str) -> None:
    env, config = Counter(), algorithms.config(name, None, {"total_steps": 10**12})
    learner = algorithms.learner(name, env, env.default_params, config)
    assert learner.num_updates * config.epochs * config.minibatches > 2**31
    _, metrics = jax.eval_shape(lambda key: learner.update(learner.init(key)), jax.random.key(0))
    assert metrics["loss"].shape == ()
