"""Settings: defaults, one file per environment, and the errors for invalid values."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

import envcore
import mnist_files
import numpy as np
import pytest
from envcore_baselines import algorithms, settings
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo import PPO
from envcore_baselines.settings import Fraction, Natural, Positive, Weight

CONFIGS = settings.folder_of(PPO)


@dataclasses.dataclass(frozen=True)
class Toy:
    steps: Positive = 100
    rate: Fraction = 0.5
    kind: Literal["plain", "fancy"] = "plain"
    fast: bool = False
    hidden: tuple[Positive, ...] = (64, 64)
    memory: Natural = 0
    weight: Weight = 0.5
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
    assert algorithms.grid("ppo", {"clip": np.array([0.1, 0.2])}) == {"clip": [0.1, 0.2]}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("speed", 1, "there is no setting 'speed'. The settings are steps, rate, kind, fast, hidden, memory, "),
        ("steps", 0, "steps is 0. Expected `int` >= 1."),
        ("steps", True, "steps is True. Expected `int`, got `bool`."),
        ("rate", float("nan"), "rate is nan. Expected `float` >= 0.0."),
        ("kind", "odd", "kind is 'odd'. Expected one of ('plain', 'fancy')."),
        ("hidden", [0], "hidden is [0]. Expected `int` >= 1 - at `$[0]`."),
    ],
)
def test_an_invalid_value(name: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"here: {message}")):
        settings.build(Toy, {name: value}, "here")


def test_printed_settings_are_read_back() -> None:
    config = Toy(7, 0.25, "fancy", True, (3, 4))
    assert settings.build(Toy, tomllib.loads(settings.as_toml(config, "toy"))["toy"], "here") == config

    @dataclasses.dataclass
    class Unusual:
        limit: float = float("inf")
        goal: float | None = None

    assert tomllib.loads(settings.as_toml(Unusual(), "toy"))["toy"] == {"limit": float("inf")}


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
