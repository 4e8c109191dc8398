"""Pictures of bsuite's environments."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import mnist_files
import numpy as np
import pytest
from envcore import painting
from envcore.environment import Environment
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

KEY = jax.random.key(0)
SAND, RAIN = (231, 214, 172), (109, 146, 199)


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


@pytest.fixture(scope="module")
def mnist(tmp_path_factory: pytest.TempPathFactory) -> MNISTBandit:
    return MNISTBandit(folder=str(mnist_files.write(tmp_path_factory.mktemp("images"), mnist_files.random_images())))


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, mnist: MNISTBandit) -> Case:
    case = CASES[request.param]
    if case.env is not None:
        return case
    images = 255 - np.asarray(mnist.default_params.images)
    return dataclasses.replace(case, env=mnist, shaping={"images": images})


@functools.cache
def blank(env: Environment) -> Any:
    """A state of zeros."""
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(env.reset, KEY)[1])


def state_of(env: Environment, **fields: Any) -> Any:
    """A state with some fields set, the others 0."""
    state = blank(env)
    return state.replace(**{name: np.asarray(value, getattr(state, name).dtype) for name, value in fields.items()})


def states_of(env: Environment, **fields: Any) -> Any:
    """A batch of states: the fields that are given, one value per state, and the others 0."""
    return jax.tree.map(
        lambda *leaves: np.stack(leaves),
        *(state_of(env, **dict(zip(fields, values, strict=True))) for values in zip(*fields.values(), strict=True)),
    )


def pictures_of(env: Environment, states: Any, height: int) -> jax.Array:
    """Pictures of states with the default params, by one program for environments that differ in settings."""
    return _render(env, states, env.default_params, height)


@functools.partial(jax.jit, static_argnums=(0, 3))
def _render(env: Environment, states: Any, params: Any, height: int) -> jax.Array:
    return jax.vmap(lambda state: env.render(state, params, height=height))(states)


def near(pictures: jax.Array, color: painting.Color, tolerance: int = 2) -> Any:
    """Where pictures have a color, bool (..., height, width)."""
    return np.all(np.abs(np.asarray(pictures, np.int16) - np.array(color, np.int16)) <= tolerance, axis=-1)


def middle(picture: jax.Array, color: painting.Color, tolerance: int = 2) -> np.ndarray:
    """Mean position of a color, (x, y) from the picture's center, y up, in units of the picture's height."""
    rows, columns = np.nonzero(near(picture, color, tolerance))
    height, width = picture.shape[:2]
    return np.array([columns.mean() - (width - 1) / 2, (height - 1) / 2 - rows.mean()]) / height


# All environments.


@pytest.mark.slow
def test_size_follows_from_the_height(case: Case) -> None:
    state = state_of(case.env, **case.start)
    for height in (1, 85):
        picture = jax.eval_shape(
            lambda state, height=height: case.env.render(state, case.env.default_params, height=height), state
        )
        assert picture.shape == (height, round(case.aspect * height), 3)
        assert picture.dtype == jnp.uint8
    assert jax.eval_shape(case.env.render, state).shape[0] == 256


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


# Cart-pole and mountain car.


@pytest.mark.parametrize("height_threshold", [0.8, 0.2])
def test_the_line_is_where_cartpole_fails(height_threshold: float) -> None:
    env = CartPole()
    params = env.default_params.replace(height_threshold=height_threshold)
    for cosine, is_above in ((height_threshold + 0.1, True), (height_threshold - 0.1, False)):
        picture = env.render(state_of(env, x=0.0, theta=np.arccos(cosine)), params, height=128)
        tip = np.nonzero(near(picture, painting.ORANGE, 50))[0].min() + 0.065 * 128 / 3.5  # its end is round
        line = np.nonzero(near(picture, painting.GREEN, 50))[0].mean()
        assert (tip < line) == is_above
    columns = np.nonzero(near(picture, painting.GREEN, 50))[1]
    assert np.ptp(columns) / 128 * 3.5 == pytest.approx(2 * 3.0, abs=0.1)


@pytest.mark.parametrize(("env", "x", "theta"), [(CartPole(), 1.5, 0.2), (CartPoleSwingup(), -1.5, np.pi - 0.2)])
def test_cart_and_pole_stand_where_they_are(env: Any, x: float, theta: float) -> None:
    picture = env.render(state_of(env, x=x, theta=theta), env.default_params, height=128)
    assert middle(picture, painting.BLUE)[0] * 3.5 == pytest.approx(x, abs=0.03)
    assert middle(picture, painting.ORANGE)[0] * 3.5 == pytest.approx(x + 0.5 * np.sin(theta), abs=0.04)


def test_the_pole_lights_up_where_the_swingup_pays() -> None:
    env = CartPoleSwingup()
    low, high = np.array([[-2.0, -0.9, -2.0], [2.0, 0.9, 2.0]])
    x, theta, theta_dot = np.random.default_rng(0).uniform(low, high, (60, 3)).T
    step = jax.jit(jax.vmap(lambda state: env.step_env(KEY, state, 1)))
    _, states, rewards, *_ = step(states_of(env, x=x, theta=theta, theta_dot=theta_dot))
    pictures = pictures_of(env, states, 64)
    is_lit = near(pictures, painting.GREEN, 20).any(-1).sum(-1) > 2  # the line has one row or two
    np.testing.assert_array_equal(is_lit, rewards > 0)
    assert 10 < is_lit.sum() < 50


def test_the_zone_is_as_wide_as_the_cart_may_move() -> None:
    for near_enough in (1.0, 0.5):
        env = CartPoleSwingup(x_reward_threshold=near_enough)
        picture = env.render(state_of(env), env.default_params, height=128)
        zone = near(picture, painting.SHADE)[0]
        assert zone.sum() / 128 * 3.5 == pytest.approx(2 * near_enough, abs=0.06)


def test_the_car_stands_on_the_hill() -> None:
    env = MountainCar()
    picture = env.render(state_of(env, position=-0.9), env.default_params, height=128)
    x, _ = middle(picture, painting.BLUE) * (2.15 / 1.5)
    slope = np.arctan(1.35 * np.cos(-2.7))
    assert x - 0.325 == pytest.approx(-0.9 - 0.09 * np.sin(slope), abs=0.02)


# Grids.


def test_ball_and_paddle_are_in_their_cells() -> None:
    env = Catch()
    state = state_of(env, ball_x=4, ball_y=2, paddle_x=1, paddle_y=9)
    picture = env.render(state, env.default_params, height=110)  # ten pixels a cell
    np.testing.assert_allclose(middle(picture, painting.ORANGE) * 11, [2.0, 2.5], atol=0.05)
    np.testing.assert_allclose(middle(picture, painting.BLUE) * 11, [-1.0, -4.5], atol=0.05)


@pytest.mark.parametrize("size", [2, 50])
def test_the_diver_is_in_its_cell(size: int) -> None:
    env = DeepSea(size=size)
    unit = max(1.0, size / 10)
    cells = np.array([(0, 0), (size // 2, size // 3), (size - 1, 0), (size, size - 1)])  # the last is on the sand
    pictures = pictures_of(env, states_of(env, time=cells[:, 0], column=cells[:, 1]), 128)
    for picture, (row, column) in zip(pictures, cells, strict=True):
        x, y = middle(picture, painting.ORANGE, 10) * (size + 0.5 + unit)
        np.testing.assert_allclose([x + size / 2, y + size / 2 - 0.25], [column + 0.5, size - 0.5 - row], atol=0.25)
        assert near(picture, painting.ORANGE, 10).sum() >= 20


def test_the_chest_is_in_the_bottom_right_cell_and_visible_in_a_large_sea() -> None:
    for size in (8, 50):
        env = DeepSea(size=size)
        picture = env.render(state_of(env), env.default_params, height=128)
        chest = middle(picture, painting.YELLOW, 20) * (size + 0.5 + max(1.0, size / 10))
        np.testing.assert_allclose(chest, [size / 2 - 0.5, 0.75 - size / 2], atol=0.35)
        assert near(picture, painting.YELLOW, 20).sum() >= 30


def test_the_path_to_the_chest_disappears_with_the_first_move_to_the_left() -> None:
    env = DeepSea()
    on, off = (
        near(
            env.render(state_of(env, time=6, bad_episode=bad), env.default_params, height=128)[20:60, 20:60],
            painting.PAPER,
            20,
        )
        for bad in (False, True)
    )
    assert np.diagonal(on).sum() > 30
    assert np.diagonal(off).sum() < 15  # between cells


# Bandits.


@pytest.mark.parametrize("arms", [2, 50])
def test_bars_show_the_arms_rewards(arms: int) -> None:
    env = SimpleBandit(num_actions=arms)
    picture = env.render(state_of(env), env.default_params, height=222)  # from -0.17 to 0.57 arms
    bars = near(picture, painting.BLUE, 30) | near(picture, painting.GREEN, 30)
    columns = np.round(((np.arange(arms) + 0.5) / arms - 0.5) / (1.12 / 1.5) * 222 + 166).astype(int)
    rewards = np.asarray(env.default_params.rewards)
    np.testing.assert_allclose(bars[:, columns].sum(0) / 222 * (1.12 / 1.5) / 0.5, rewards, atol=0.02)
    is_best = near(picture, painting.GREEN, 30)[:, columns].any(0)
    np.testing.assert_array_equal(is_best, rewards == 1)


def test_bars_of_other_rewards_fit_into_the_picture() -> None:
    env = SimpleBandit(num_actions=3)
    picture = env.render(state_of(env), env.default_params.replace(rewards=np.array([-3.0, 0.0, 1.0])), height=120)
    down, up = np.nonzero(near(picture, painting.BLUE, 30))[0], np.nonzero(near(picture, painting.GREEN, 30))[0]
    assert up.max() < down.min()
    assert np.ptp(down) / np.ptp(up) == pytest.approx(3, abs=0.3)
    assert near(picture, painting.SHADE).any(1)[up.min() : down.max()].mean() > 0.95  # except for a line at 0


def test_the_gauge_shows_the_regret(mnist: MNISTBandit) -> None:
    for env in (SimpleBandit(), mnist):
        regrets = np.array([0.0, 1.0, 30.0, 3000.0, 10_000.0, 1e6])
        pictures = pictures_of(env, states_of(env, total_regret=regrets), 64)
        lengths = near(pictures, painting.RED, 50).any(-2).sum(-1)
        assert lengths[0] == 0
        assert list(lengths[:-1]) == sorted(set(lengths[:-1]))
        assert lengths[-2] == lengths[-1]
        assert lengths[-1] / lengths[3] == pytest.approx(np.log(10_000) / np.log(3000), abs=0.05)


def test_the_image_is_shown_pixel_by_pixel(mnist: MNISTBandit) -> None:
    picture = mnist.render(state_of(mnist, index=3), mnist.default_params, height=4 * 38)
    images = mnist_files.random_images().images
    shown = picture[8 : 8 + 4 * 28, 10:][2::4, 2::4][:, :28]
    levels = 255 + images[3, ..., None] / 255 * (np.array(painting.INK) - 255)
    np.testing.assert_allclose(np.asarray(shown, float), levels, atol=1)
    signed = MNISTBandit(signed_pixels=True, folder=mnist.folder)
    same = signed.render(state_of(signed, index=3), signed.default_params, height=4 * 38)
    np.testing.assert_array_equal(same, picture)


def test_the_right_digit_is_marked(mnist: MNISTBandit) -> None:
    pictures = pictures_of(mnist, states_of(mnist, correct_label=np.arange(10)), 76)
    places = [middle(picture, painting.GREEN, 10)[0] * 38 for picture in pictures]
    np.testing.assert_allclose(places, 2.8 * (np.arange(10) - 4.5), atol=0.1)


# Chains.


def test_chains_are_logarithmic_and_the_walker_meets_the_coin_when_it_pays() -> None:
    env = DiscountingChain(mapping_seed=3)
    steps, chains, places = np.array([1, 3, 10, 30, 100]), np.arange(5), []
    after, earlier = (pictures_of(env, states_of(env, time=time, context=chains), 128) for time in (steps, steps - 1))
    for at_coin, before in zip(after, earlier, strict=True):
        assert near(at_coin, painting.STONE).sum() > near(before, painting.STONE).sum() + 20  # paid
        places.append(middle(at_coin, painting.ORANGE) * 5.1)
    coin = middle(after[0], painting.GREEN) * 5.1
    np.testing.assert_allclose(coin, places[3], atol=0.05)
    x, y = np.array(places).T
    np.testing.assert_allclose(y, [2, 1, 0, -1, -2], atol=0.05)
    np.testing.assert_allclose((x - x[0]) / (x[-1] - x[0]), np.log10(steps) / 2, atol=0.02)


def test_the_walker_waits_at_the_fork_and_goes_on_after_the_coin() -> None:
    env = DiscountingChain()
    pictures = pictures_of(env, states_of(env, time=[0, 60, 300], context=[-1, 1, 1]), 128)
    fork, late, end = (middle(picture, painting.ORANGE) for picture in pictures)
    assert fork[1] == pytest.approx(0, abs=0.01)
    assert fork[0] < -0.5 < late[0] < end[0] < 0.75
    assert not near(pictures[0], painting.INK, 30).any()


@pytest.mark.parametrize("num_bits", [1, 5, 40])
def test_lamps_are_arranged_line_by_line_and_the_ring_is_around_the_query(num_bits: int) -> None:
    env = MemoryChain(num_bits=num_bits)
    one_lit = states_of(env, context=np.eye(num_bits), query=range(num_bits), time=[5] * num_bits)
    pictures = pictures_of(env, one_lit, 128)
    lamps = np.array([middle(picture, painting.YELLOW, 30) for picture in pictures])
    rings = np.array([middle(picture, painting.BLUE, 30) for picture in pictures])
    np.testing.assert_allclose(lamps, rings, atol=0.01)
    order = np.lexsort((lamps[:, 0], -np.round(lamps[:, 1], 1)))
    np.testing.assert_array_equal(order, np.arange(num_bits))
    dark, lit = (near(pictures, color, 30)[:, :90].sum((1, 2)) for color in (painting.INK, painting.YELLOW))
    np.testing.assert_allclose(dark, (num_bits - 1) * lit, rtol=0.15)


@pytest.mark.parametrize("memory_length", [1, 5, 100])
def test_lamps_are_large_while_they_are_observed_and_the_ring_appears_with_the_question(memory_length: int) -> None:
    env = MemoryChain(num_bits=3, memory_length=memory_length)
    times = np.array([0, 1, 2, memory_length // 2, memory_length - 1, memory_length, memory_length + 1])
    states = states_of(env, time=times, context=[[1, 1, 1]] * 7, query=[2] * 7)
    obs = np.asarray(jax.vmap(env.observe, (0, None))(states, env.default_params))[:, 0]
    pictures = _render(MemoryChain(num_bits=3), states, env.default_params, 64)
    lamps, ring = near(pictures, painting.YELLOW, 30).sum((1, 2)), near(pictures, painting.BLUE, 30).any((1, 2))
    np.testing.assert_array_equal(lamps > 2 * lamps.min(), obs[:, 2] != 0)
    np.testing.assert_array_equal(ring, (obs[:, 1] == 2) | (times > memory_length))
    walker = np.array([middle(picture, painting.ORANGE, 20)[0] for picture in pictures])
    np.testing.assert_allclose(walker * 4, 4.3 * (times / (memory_length + 1) - 0.5), atol=0.04)


def test_rain_or_sun_and_the_umbrella() -> None:
    env = UmbrellaChain()
    states = states_of(env, time=[2, 2, 2, 0], need_umbrella=[1, 0, 0, 0], has_umbrella=[0, 0, 1, 1])
    rain, sun, taken, before = pictures_of(env, states, 64)
    assert near(rain, RAIN, 30).sum() > 20 > near(sun, RAIN, 30).sum() == 0
    assert near(sun, painting.YELLOW, 30).sum() > 50 > near(rain, painting.YELLOW, 30).sum() == 0
    assert near(taken, painting.BLUE, 20).sum() > 100
    assert near(before, painting.STONE, 20).sum() > near(taken, painting.STONE, 20).sum() + 100
    for picture in (before, sun, rain):
        assert not near(picture, painting.BLUE, 20).any()


@pytest.mark.parametrize("chain_length", [1, 10, 100])
def test_the_person_walks_to_the_end_of_the_path(chain_length: int) -> None:
    env = UmbrellaChain(chain_length=chain_length)
    times = np.array([0, chain_length // 2, chain_length, chain_length + 1])
    states = states_of(env, time=times, has_umbrella=[0] * 4)
    pictures = _render(UmbrellaChain(), states, env.default_params, 64)
    places = [4 * middle(picture, painting.ORANGE)[0] for picture in pictures]
    np.testing.assert_allclose(places, 4.3 * (np.minimum(times / chain_length, 1) - 0.5), atol=0.05)


@pytest.mark.parametrize("count", [1, 100])
def test_distractors_are_squares_in_their_order(count: int) -> None:
    env = UmbrellaChain(n_distractor=count)
    numbers = np.array([0, count // 2, count - 1])
    words = np.zeros((3, -(-count // 32)), np.uint32)
    words[np.arange(3), numbers // 32] = 1 << (numbers % 32)
    pictures = pictures_of(env, states_of(env, time=[10] * 3, distractors=words), 128)
    lit = near(pictures, painting.STONE, 20)[:, 108:]
    places = []
    for picture in lit:
        rows, columns = np.nonzero(picture)
        places.append((np.round(rows.mean()), columns.mean()))
    assert places == sorted(places)
    assert len(set(places)) == len(set(numbers))
    pale = near(pictures, painting.SHADE)[:, 108:].sum((1, 2))
    assert (pale >= 0.7 * (count - 1) * near(pictures, painting.STONE)[:, 108:].sum((1, 2))).all()


def test_no_distractors_no_squares() -> None:
    env = UmbrellaChain()
    assert near(env.render(state_of(env), env.default_params, height=128), painting.PAPER)[108:].all()
