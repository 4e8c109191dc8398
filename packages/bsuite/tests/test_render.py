"""What holds for all pictures: sizes, batches, and that they change with what they show."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_pictures import RAIN, SAND, near, state_of
from envcore import painting
from envcore.errors import InvalidArgumentError
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from envcore_bsuite.catch import Catch
from envcore_bsuite.deep_sea import DeepSea
from envcore_bsuite.discounting_chain import DiscountingChain
from envcore_bsuite.memory_chain import MemoryChain
from envcore_bsuite.mnist import MNISTBandit
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.umbrella_chain import UmbrellaChain
from envcore_bsuite.wrappers import RewardNoise, RewardScale
from switches import switched


@dataclasses.dataclass(frozen=True)
class Case:
    """An environment and what its picture must show.

    Attributes:
      env: the environment, None for MNISTBandit, which needs images.
      aspect: of the picture.
      start: fields of a state in which every part is visible.
      shown: other values of each field that the picture shows.
      shaping: other values of each param that it shows.
      colors: those that are visible in a picture of 64 pixels, besides the background.
    """

    env: Any
    aspect: float
    start: dict[str, Any]
    shown: dict[str, Any]
    shaping: dict[str, Any]
    colors: list[painting.Color]


CASES = {
    "bandit": Case(
        SimpleBandit(),
        1.5,
        {"total_regret": 30.0},
        {"total_regret": 300.0},
        {"rewards": np.linspace(0.0, 1.0, 11)},
        [painting.SHADE, painting.BLUE, painting.GREEN, painting.RED],
    ),
    "cartpole": Case(
        CartPole(),
        2.0,
        {"x": 0.0, "theta": 0.1},
        {"x": 0.3, "theta": 0.3},
        {"length": 0.7, "x_threshold": 2.4, "height_threshold": 0.5},
        [painting.SHADE, painting.STONE, painting.INK, painting.BLUE, painting.ORANGE, painting.GREEN],
    ),
    "cartpole_swingup": Case(
        CartPoleSwingup(),
        2.0,
        {"x": 0.0, "theta": 0.1, "theta_dot": 0.5},
        {"x": 0.3, "theta": 0.3, "theta_dot": -1.5},
        {
            "length": 0.7,
            "x_threshold": 2.4,
            "height_threshold": 0.2,
            "x_reward_threshold": 0.5,
            "theta_dot_threshold": 0.2,
        },
        [painting.SHADE, painting.STONE, painting.INK, painting.BLUE, painting.ORANGE, painting.GREEN],
    ),
    "catch": Case(
        Catch(),
        6 / 11,
        {"ball_x": 1, "paddle_x": 2, "paddle_y": 9},
        {"ball_x": 3, "ball_y": 4, "paddle_x": 0},
        {},
        [painting.SHADE, painting.BLUE, painting.ORANGE],
    ),
    "deep_sea": Case(
        DeepSea(),
        9 / 9.5,
        {"time": 3, "column": 2},
        {"time": 4, "column": 5, "bad_episode": True},
        {},
        [SAND, painting.YELLOW, painting.ORANGE],
    ),
    "discounting_chain": Case(
        DiscountingChain(),
        1.5,
        {"time": 12, "context": 2},
        {"time": 30, "context": 3},
        {
            "rewards": np.array([1.0, 1.0, 1.0, 1.0, 2.0]),
            "reward_timestep": np.array([2, 3, 10, 30, 100]),
            "max_steps_in_episode": 200,
        },
        [painting.STONE, painting.INK, painting.YELLOW, painting.GREEN, painting.ORANGE],
    ),
    "memory_chain": Case(
        MemoryChain(num_bits=5),
        1.5,
        {"time": 5, "context": [1, 0, 1, 1, 0], "query": 1},
        {"time": 1, "context": [1, 0, 1, 1, 1], "query": 3},
        {"memory_length": 9},
        [painting.SHADE, painting.STONE, painting.INK, painting.YELLOW, painting.BLUE, painting.ORANGE],
    ),
    "mnist": Case(
        None,
        0.875,
        {"index": 1, "correct_label": 4, "total_regret": 4.0},
        {"index": 2, "correct_label": 5, "total_regret": 400.0},
        {},
        [(255, 255, 255), painting.INK, painting.STONE, painting.GREEN, painting.SHADE, painting.RED],
    ),
    "mountain_car": Case(
        MountainCar(),
        1.5,
        {"position": -0.5},
        {"position": -0.9},
        {"goal_position": 0.3, "min_position": -1.0, "max_position": 0.5},
        [painting.STONE, painting.RED, painting.GREEN, painting.BLUE, painting.INK],
    ),
    "umbrella_chain": Case(
        UmbrellaChain(n_distractor=20),
        1.5,
        {"time": 3, "need_umbrella": 1, "has_umbrella": 1, "distractors": [0x0F0F3]},
        {"time": 0, "need_umbrella": 0, "has_umbrella": 0, "distractors": [0x0F0F2]},
        {"chain_length": 20},
        [painting.STONE, painting.SHADE, painting.INK, painting.BLUE, painting.ORANGE, RAIN],
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, mnist: MNISTBandit) -> Case:
    case = CASES[request.param]
    if case.env is not None:
        return case
    images = 255 - np.asarray(mnist.default_params.images)
    return dataclasses.replace(case, env=mnist, shaping={"images": images})


@pytest.mark.slow
def test_size_follows_from_the_height(case: Case) -> None:
    state = state_of(case.env, **case.start)
    for height in (1, 85):
        picture = jax.eval_shape(
            lambda state, height=height: case.env.render(state, case.env.default_params, height=height), state
        )
        assert picture.shape == (height, round(case.aspect * height), 3)
        assert picture.dtype == jnp.uint8
    assert jax.eval_shape(case.env.render, state, case.env.default_params).shape[0] == 256


def test_every_part_is_visible_in_a_small_picture(case: Case) -> None:
    picture = case.env.render(state_of(case.env, **case.start), case.env.default_params, height=64)
    assert near(picture, painting.PAPER).mean() > 0.05
    for color in case.colors:
        assert near(picture, color, tolerance=50).sum() >= 4


def test_the_picture_changes_with_what_it_shows(case: Case) -> None:
    env, params = case.env, case.env.default_params
    picture = env.render(state_of(env, **case.start), env.default_params, height=64)
    np.testing.assert_array_equal(env.render(state_of(env, **case.start), params, height=64), picture)
    for name, value in case.shown.items():
        other = env.render(state_of(env, **case.start | {name: value}), env.default_params, height=64)
        assert (other != picture).any(-1).sum() >= 4, name
    for name, value in case.shaping.items():
        other = env.render(state_of(env, **case.start), params.replace(**{name: value}), height=64)
        assert (other != picture).any(-1).sum() >= 4, name


@pytest.mark.slow
def test_batches_of_states_and_params(case: Case) -> None:
    env, params = case.env, case.env.default_params
    changes = list(case.shown.items())
    shaped = [params, *(params.replace(**{name: value}) for name, value in case.shaping.items())]
    pairs = [
        (state_of(env, **case.start | dict(changes[i : i + 1])), shaped[i % len(shaped)])
        for i in range(max(len(shaped), len(changes)))
    ]
    states, batch = jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *pairs)
    pictures = jax.jit(jax.vmap(lambda state, params: env.render(state, params, height=64)))(states, batch)
    for picture, (state, one) in zip(pictures, pairs, strict=True):
        differ = np.abs(np.asarray(picture, int) - np.asarray(env.render(state, one, height=64), int)) > 2
        assert differ.mean() < 0.001  # rounding may decide on which side of an edge a pixel is


@pytest.mark.slow
def test_x64_mode(case: Case) -> None:
    wide = {np.dtype("f4"): np.float64, np.dtype("i4"): np.int64, np.dtype("u4"): np.uint64}
    with switched(jax_enable_x64=True):
        state = jax.tree.map(lambda x: np.asarray(x, wide.get(x.dtype, x.dtype)), state_of(case.env, **case.start))
        params = case.env.default_params
        picture = jax.eval_shape(lambda state, params: case.env.render(state, params, height=64), state, params)
    assert (picture.dtype, picture.shape[0]) == (jnp.uint8, 64)


def test_wrappers_show_what_is_inside(case: Case) -> None:
    state = state_of(case.env, **case.start)
    picture = case.env.render(state, case.env.default_params, height=64)
    for wrapped in (RewardNoise(case.env, 0.5), RewardScale(case.env, 30.0)):
        assert (wrapped.action_names, wrapped.render_fps) == (case.env.action_names, case.env.render_fps)
        np.testing.assert_array_equal(wrapped.render(state, wrapped.default_params, height=64), picture)


def test_bad_input(case: Case) -> None:
    state = state_of(case.env, **case.start)
    for height in (0, None):
        with pytest.raises(InvalidArgumentError, match="a positive integer, got"):
            case.env.render(state, case.env.default_params, height=height)
    with pytest.raises(InvalidArgumentError, match=r"got numbers of shape.* for a batch, use jax\.vmap"):
        case.env.render(jax.tree.map(lambda x: np.stack([x] * 8), state), case.env.default_params, height=8)


# Chains.
