"""The ids make the same environments as bsuite's own loader."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any
from unittest import mock

import bsuite
import envcore
import mnist_files
import numpy as np
import pytest
from bsuite import sweep as original_sweep
from envcore import spaces
from envcore_bsuite import sweep
from envcore_bsuite.plugin import envcore_env_specs
from envcore_bsuite.sweep import EXPERIMENTS
from envcore_testing import check_env

SPECS = envcore_env_specs()
IDS = {
    "CartPole",
    "CartPoleSwingup",
    "Catch",
    "DeepSea",
    "DeepSeaStochastic",
    "DiscountingChain",
    "MNISTBandit",
    "MemoryChain",
    "MountainCar",
    "SimpleBandit",
    "UmbrellaChain",
}
NEEDS_DATA = ("mnist", "mnist_noise", "mnist_scale")


def test_ids() -> None:
    assert {spec.id for spec in SPECS if not spec.family} == {f"{name}-bsuite" for name in IDS}
    assert len(SPECS) == 11 + 468
    assert [spec.id for spec in SPECS if spec.family] == [f"bsuite/{bsuite_id}" for bsuite_id in original_sweep.SWEEP]
    assert all(spec.summary and spec.source for spec in SPECS)


# The original's attributes, and their names here.
OPTIONS = {
    "DeepSea": {"_size": "size", "_deterministic": "deterministic"},
    "MemoryChain": {"_num_bits": "num_bits"},
    "UmbrellaChain": {"_n_distractor": "n_distractor"},
    "Catch": {"_rows": "rows", "_columns": "columns"},
}
POLE = {f"_{name}": name for name in ("height_threshold", "x_threshold", "timescale", "max_time")}
PARAMS = {
    "SimpleBandit": {"_rewards": "rewards"},
    "DeepSea": {"_action_mapping": "action_mapping", "_unscaled_move_cost": "unscaled_move_cost"},
    "DiscountingChain": {
        "_rewards": "rewards",
        "_reward_timestep": "reward_timestep",
        "_episode_len": "max_steps_in_episode",
    },
    "MemoryChain": {"_memory_length": "memory_length"},
    "UmbrellaChain": {"_chain_length": "chain_length"},
    "Cartpole": POLE,
    "CartpoleSwingup": {**POLE, **{f"_{n}": n for n in ("theta_dot_threshold", "x_reward_threshold", "move_cost")}},
    "MountainCar": {
        "_min_pos": "min_position",
        "_max_pos": "max_position",
        "_max_speed": "max_speed",
        "_goal_pos": "goal_position",
        "_force": "force",
        "_gravity": "gravity",
        "_max_steps": "max_steps_in_episode",
    },
}


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in NEEDS_DATA])
def test_every_id_is_the_loaders_environment(name: str) -> None:
    for bsuite_id in EXPERIMENTS[name].ids:
        check_same(bsuite_id, bsuite.load(name, original_sweep.SETTINGS[bsuite_id]))


def check_same(bsuite_id: str, original: Any) -> None:
    env, _ = envcore.make(f"bsuite/{bsuite_id}")
    params = env.default_params  # in float64, as the original's
    inside = original
    if wrapper := {"RewardNoise": "noise_scale", "RewardScale": "reward_scale"}.get(type(original).__name__):
        assert type(env).__name__ == type(original).__name__
        assert getattr(params, wrapper) == getattr(original, f"_{wrapper}")
        inside = original.raw_env
    kind = type(inside).__name__
    assert type(env.unwrapped).__name__ == {"Cartpole": "CartPole", "CartpoleSwingup": "CartPoleSwingup"}.get(
        kind, kind
    )
    for theirs, ours in OPTIONS.get(kind, {}).items():
        assert getattr(env.unwrapped, ours) == getattr(inside, theirs)
    for theirs, ours in PARAMS.get(kind, {}).items():
        np.testing.assert_array_equal(getattr(params, ours), getattr(inside, theirs))
    if config := getattr(inside, "_cartpole_config", None):
        for attribute, value in config._asdict().items():
            assert getattr(params, attribute) == value
    assert env.observation_space(params).shape == original.observation_spec().shape
    assert env.observation_space(params).dtype == original.observation_spec().dtype
    assert env.action_space(params) == spaces.Discrete(original.action_spec().num_values)
    assert sweep.EPISODES[bsuite_id] == original.bsuite_num_episodes


@pytest.mark.parametrize("name", NEEDS_DATA)
def test_every_id_of_mnist(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    images = np.zeros((2, 28, 28), np.int8)
    digits = (images, np.arange(2)), (images, np.arange(2))
    with (
        mnist_files.published(tmp_path_factory.mktemp("data")),
        mock.patch("bsuite.utils.datasets.load_mnist", return_value=digits),
    ):
        for bsuite_id in EXPERIMENTS[name].ids:
            check_same(bsuite_id, bsuite.load(name, original_sweep.SETTINGS[bsuite_id]))


def test_options_win_over_the_settings() -> None:
    env, params = envcore.make("bsuite/deep_sea/0", size=4)
    assert env.observation_space(env.default_params).shape == (4, 4)
    assert np.shape(params.action_mapping) == (4, 4)
    env, params = envcore.make("bsuite/bandit_noise/0", num_actions=3, noise_scale=7.0)
    assert (env.action_space(env.default_params), params.noise_scale) == (spaces.Discrete(3), 7.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        *((f"{name}-bsuite", {}) for name in sorted(IDS)),
        ("MemoryChain-bsuite", {"num_bits": 33, "memory_length": 1}),
        ("UmbrellaChain-bsuite", {"n_distractor": 33, "chain_length": 1}),
    ],
)
def test_environments_keep_the_contract(env_id: str, options: dict[str, Any], tmp_path: Path) -> None:
    with mnist_files.published(tmp_path) if "MNIST" in env_id else contextlib.nullcontext():
        check_env(envcore.make(env_id, **options)[0])
