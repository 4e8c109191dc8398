"""MNISTBandit: its rules, one case per line, the recorded steps of the original, and our additions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import envcore
import golden
import jax
import jax.numpy as jnp
import mnist_files
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_bsuite.mnist import MNISTBandit, MNISTBanditState
from envcore_bsuite.mnist_data import Mnist
from rules import check_rule, rules

KEY = jax.random.key(0)
FIRST, LAST = 0, 2
RECORDED = golden.load("bsuite.mnist").extras


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the images of the recordings."""
    mnist = Mnist(RECORDED["constant.images"].view(np.uint8), RECORDED["constant.labels"])
    return str(mnist_files.write(tmp_path_factory.mktemp("recorded"), mnist))


@rules(
    ("the right digit", {"correct_label": 7}, 7, None, {}, 1, True),
    ("a wrong digit", {"correct_label": 7}, 1, None, {"total_regret": 2}, -1, True),
    ("0 is a digit", {"correct_label": 0}, 0, None, {}, 1, True),
    ("regret adds up", {"correct_label": 9, "total_regret": 4}, 0, None, {"total_regret": 6}, -1, True),
)
def test_rules(folder: str, before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(MNISTBandit(folder=folder), before, action, draws, after, reward, end)


@pytest.mark.parametrize(
    ("name", "fraction", "rescaled"),
    [
        ("mnist", 1.0, lambda reward, rows: reward),
        ("mnist.fraction0.3", 0.33, lambda reward, rows: reward),
        ("mnist_noise", 1.0, lambda reward, rows: reward + 0.3 * rows["draw.noise"]),
        ("mnist_scale", 1.0, lambda reward, rows: reward * 30),
    ],
)
def test_every_recorded_step(
    folder: str, name: str, fraction: float, rescaled: Callable[[np.ndarray, golden.Recording], np.ndarray]
) -> None:
    recording = golden.load(f"bsuite.{name}")
    env = MNISTBandit(fraction, signed_pixels=True, folder=folder)
    params = env.default_params
    np.testing.assert_array_equal(params.images, recording.extras["constant.images"])
    np.testing.assert_array_equal(params.labels, recording.extras["constant.labels"].astype(np.int32))
    first, last = recording.rows(recording["step_type"] == FIRST), recording.rows(recording["step_type"] == LAST)
    assert len(first) + len(last) == len(recording)
    assert len(last) >= 60

    state = state_of(first["draw.index"], first["after.correct_label"], first["after.total_regret"])
    np.testing.assert_array_equal(params.labels[state.index], state.correct_label)
    np.testing.assert_array_equal(
        jax.vmap(env.observe, (0, None))(state, env.default_params), first["obs"], strict=True
    )

    index = first["draw.index"][: len(last)]  # each episode is two rows
    state = state_of(index, last["before.correct_label"], last["before.total_regret"])
    keys = jax.random.split(KEY, len(last))
    obs, after, reward, terminated, info = jax.vmap(env.step_env)(keys, state, jnp.asarray(last["action"], jnp.int32))
    np.testing.assert_array_equal(obs, last["obs"], strict=True)
    np.testing.assert_array_equal(after.correct_label, last["after.correct_label"])
    np.testing.assert_array_equal(after.total_regret, last["after.total_regret"])
    np.testing.assert_array_equal(info["total_regret"], last["info.total_regret"])
    np.testing.assert_array_equal(info["discount"], last["discount"])
    np.testing.assert_array_equal(rescaled(np.asarray(reward, np.float64), last), last["reward"])
    assert terminated.all()


def state_of(index: np.ndarray, label: np.ndarray, regret: np.ndarray) -> MNISTBanditState:
    return MNISTBanditState(
        index=jnp.asarray(index, jnp.int32),
        correct_label=jnp.asarray(label, jnp.int32),
        total_regret=jnp.asarray(regret, jnp.int32),
        time=jnp.zeros(len(index), jnp.int32),
    )


def test_pixels_are_unsigned_by_default(folder: str) -> None:
    env = MNISTBandit(folder=folder)
    index = np.arange(40)
    obs = jax.vmap(env.observe, (0, None))(state_of(index, index % 10, 0.0 * index), env.default_params)
    expected = RECORDED["constant.images"].view(np.uint8).astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(obs, expected, strict=True)
    assert obs.max() == 1
    assert obs.min() == 0


def test_draws_every_image_equally_often(folder: str) -> None:
    env = MNISTBandit(fraction=0.5, folder=folder)
    state = jax.vmap(env.reset)(jax.random.split(KEY, 2000))[1]
    counts = np.bincount(state.index, minlength=20)
    assert len(counts) == 20
    assert (np.abs(counts - 100) < 4 * np.sqrt(100)).all()
    np.testing.assert_array_equal(state.correct_label, RECORDED["constant.labels"][np.asarray(state.index)])


def test_one_copy_on_the_device(folder: str) -> None:
    env, params = envcore.make("MNISTBandit-bsuite", folder=folder)
    _, again = envcore.make("MNISTBandit-bsuite", folder=folder)
    assert params.images is again.images is env.default_params.images
    assert params.labels is again.labels is env.default_params.labels
    assert (params.images.dtype, params.labels.dtype) == (jnp.uint8, jnp.int32)
    assert MNISTBandit(signed_pixels=True, folder=folder).default_params.images.dtype == jnp.int8
    state = env.reset(KEY)[1]
    assert sum(leaf.size for leaf in jax.tree.leaves(state)) == 4


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"fraction": 0}, "fraction must be above 0 and at most 1, got 0"),
        ({"fraction": 0.0249}, r"fraction=0.0249 keeps none of the images in /"),
        ({"signed_pixels": 1}, "signed_pixels must be True or False, got 1"),
    ],
)
def test_bad_options(folder: str, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArgumentError, match=problem):
        envcore.make("MNISTBandit-bsuite", folder=folder, **options)
