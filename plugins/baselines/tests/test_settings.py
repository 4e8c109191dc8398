"""Settings: defaults, one file per environment, and the errors for invalid values."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import envcore
import mnist_files
import numpy as np
import pytest
from envcore_baselines import algorithms, settings
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo import PPO

CONFIGS = settings.folder_of(PPO)


@dataclasses.dataclass(frozen=True)
class Toy:
    steps: int = 100
    rate: Annotated[float, (0, 1)] = 0.5
    kind: Literal["plain", "fancy"] = "plain"
    fast: bool = False
    hidden: tuple[int, ...] = (64, 64)
    size: int = 8
    memory: int = 0
    weight: float = 0.5
    label: str = "none"


def test_values_replace_defaults() -> None:
    found = settings.build(Toy, {"steps": 2e5, "rate": 1, "kind": "fancy", "fast": True, "hidden": [8]}, "here")
    assert found == Toy(200_000, 1.0, "fancy", True, (8,))
    assert (type(found.steps), type(found.rate)) == (int, float)
    assert settings.build(Toy, {}, "here") == Toy()


def test_numbers_of_numpy() -> None:
    given = {
        "steps": np.int64(7),
        "rate": np.float32(0.5),
        "fast": np.True_,
        "hidden": (np.int32(8), 4),
        "weight": np.array(2.0),
    }
    found = settings.build(Toy, given, "here")
    assert found == Toy(steps=7, rate=0.5, fast=True, hidden=(8, 4), weight=2.0)
    assert {type(each) for each in dataclasses.asdict(found).values()} == {int, float, str, bool, tuple}
    assert algorithms.grid("ppo", {"clip": np.array([0.1, 0.2])}, {}) == {"clip": [0.1, 0.2]}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("speed", 1, "there is no setting 'speed'. The settings are steps, rate, kind, fast, hidden, size, "),
        ("steps", 0, "steps must be an integer from 1 to 2,147,483,647, got 0"),
        ("steps", 1.5, "steps must be an integer from 1 to 2,147,483,647, got 1.5"),
        ("steps", True, "steps must be an integer from 1 to 2,147,483,647, got True"),
        ("memory", -1, "memory must be an integer from 0 to 2,147,483,647, got -1"),
        ("rate", "fast", "rate must be a number from 0 to 1, got 'fast'"),
        ("rate", float("nan"), "rate must be a number from 0 to 1, got nan"),
        ("rate", 1.1, "rate must be a number from 0 to 1, got 1.1"),
        ("weight", -0.5, "weight must be a number from 0 to 1,000,000, got -0.5"),
        ("kind", "odd", "kind must be one of 'plain', 'fancy', got 'odd'"),
        ("fast", 1, "fast must be true or false, got 1"),
        ("label", 1, "label must be a string, got 1"),
        ("hidden", [0], r"hidden must be a list of positive integers, such as \[64, 64\], got \[0\]"),
        ("hidden", 64, r"hidden must be a list of positive integers, such as \[64, 64\], got 64"),
    ],
)
def test_an_invalid_value(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^here: {message}"):
        settings.build(Toy, {name: value}, "here")


def test_printed_settings_are_read_back() -> None:
    config = Toy(7, 0.25, "fancy", True, (3, 4))
    assert settings.build(Toy, tomllib.loads(settings.as_toml(config, "toy"))["toy"], "here") == config


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_files_of_environments_hold_valid_settings(path: Any, tmp_path: Path) -> None:
    images = {"folder": str(mnist_files.write(tmp_path, mnist_files.random_images()))}
    env, params = envcore.make(path.stem, **(images if path.stem == "MNISTBandit-bsuite" else {}))
    tables = tomllib.loads(path.read_text())
    assert tables
    for name, values in tables.items():
        config = algorithms.config(name, path.stem, {})
        assert {field: getattr(config, field) for field in values} == {
            field: tuple(value) if isinstance(value, list) else value for field, value in values.items()
        }
        algorithms.learner(name, env, params, config)


def test_given_settings_come_before_those_of_the_file() -> None:
    tuned = settings.of_environment("CartPole-v1", "ppo", CONFIGS)
    config = algorithms.config("ppo", "CartPole-v1", {"total_steps": 123})
    assert config.total_steps == 123
    assert config.learning_rate == tuned["learning_rate"] != algorithms.config("ppo", None, {}).learning_rate
    assert settings.of_environment("Nothing-v0", "ppo", CONFIGS) == {}
