from __future__ import annotations

import functools
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting, trees
from envcore.errors import InvalidArgumentError
from envcore_misc.bernoulli_bandit import BernoulliBandit
from envcore_misc.four_rooms import MAP, FourRooms
from envcore_misc.frozen_lake import FrozenLake
from envcore_misc.gaussian_bandit import GaussianBandit
from envcore_misc.meta_maze import MetaMaze
from envcore_misc.point_robot import PointRobot
from envcore_misc.pong import Pong
from envcore_misc.reacher import Reacher
from envcore_misc.swimmer import Swimmer
from switches import switched

KEY = jax.random.key(0)
ICE = WATER = (205, 226, 240)
BERNOULLI, GAUSSIAN, ROOMS, LAKE, MAZE = BernoulliBandit(), GaussianBandit(), FourRooms(), FrozenLake(), MetaMaze()
ROBOT, PONG, REACHER, SWIMMER = PointRobot(), Pong(), Reacher(), Swimmer(num_urchins=2)
ENVS: list[Any] = [BERNOULLI, GAUSSIAN, ROOMS, LAKE, MAZE, ROBOT, PONG, REACHER, SWIMMER]
ASPECT = {"MetaMaze": 12 / 13, "PointRobot": 1.5, "Pong": 42 / 33}
# A state in which every part is visible.
SCENE: dict[str, dict[str, Any]] = {
    "BernoulliBandit": {
        "last_action": 1, "last_reward": 1, "time": 30, "exp_reward_best": 0.8, "reward_probs": [0.3, 0.8]
    },
    "GaussianBandit": {"last_action": 1, "last_reward": -1.5, "time": 30, "mu": -1.2},
    "FourRooms": {"pos": [4, 1], "goal": [8, 9]},
    "FrozenLake": {"position": 2},
    "MetaMaze": {"pos": [5, 5], "goal": [1, 9], "last_reward": -1.0, "time": 50},
    "PointRobot": {"pos": [0.2, 0.3], "goal": [-0.6, 0.8], "last_action": [0.1, 0.02], "time": 3},
    "Pong": {
        "ball_position": [8.0, 12.0], "last_ball_position": [6.0, 11.0], "paddle_centers": [10.0, 20.0]
    },
    "Reacher": {"angles": [0.5, 2.0], "goal_xy": [-1.0, -0.5]},
    "Swimmer": {"xy": [0.1, -0.5], "xy_vel": [0.2, 0.2], "goal_xy": [0.5, 0.6], "urchin_xys": [[-0.5, 0.5], [0.7, 0]]},
}  # fmt: skip
SHOWN: dict[str, dict[str, Any]] = {
    "BernoulliBandit": {
        "last_action": 0, "last_reward": 0, "time": 80, "exp_reward_best": 0.9, "reward_probs": [0.1, 0.9]
    },
    "GaussianBandit": {"last_action": 0, "last_reward": 0.5, "time": 80, "mu": 0.6},
    "FourRooms": {"pos": [9, 10], "goal": [2, 2]},
    "FrozenLake": {"position": 9},
    "MetaMaze": {"pos": [1, 2], "goal": [7, 3], "last_reward": 10.0, "time": 150},
    "PointRobot": {"pos": [-0.4, 0.1], "goal": [0.6, 0.8], "last_action": [-0.1, 0.1], "last_reward": 1.0},
    "Pong": {
        "ball_position": [20.0, 30.0], "last_ball_position": [9.0, 10.0], "paddle_centers": [15.0, 12.0]
    },
    "Reacher": {"angles": [-0.5, 1.0], "goal_xy": [1.0, -1.5]},
    "Swimmer": {"xy": [-0.5, -0.3], "xy_vel": [-1, 0], "goal_xy": [-0.5, 0], "urchin_xys": [[0.0, 0.2], [0.3, -0.8]]},
}  # fmt: skip
SHAPING: dict[str, dict[str, Any]] = {
    "BernoulliBandit": {"max_steps_in_episode": 40},
    "GaussianBandit": {"max_steps_in_episode": 40, "mean_mu": -3.0, "sigma_p": 0.3, "sigma_l": 1.0},
    "MetaMaze": {"max_steps_in_episode": 90},
    "PointRobot": {"circle_radius": 1.4, "goal_radius": 0.4, "max_force": 0.3},
    "Pong": {"use_ai_policy": False},
    "Reacher": {"link_lengths": [1.5, 0.4], "goal_low": [-4, -4], "goal_high": [4, 4]},
    "Swimmer": {"goal_high": [2, 2], "goal_low": [-2, 0], "urchin_high": [[3, 0], [0, 0]], "urchin_low": [[0, -3]] * 2},
}
COLORS = {
    "BernoulliBandit": [painting.SHADE, painting.GREEN, painting.BLUE, painting.ORANGE, painting.YELLOW, painting.INK],
    "GaussianBandit": [painting.SHADE, painting.RED, painting.BLUE, painting.ORANGE, painting.YELLOW, painting.INK],
    "FourRooms": [painting.PAPER, painting.STONE, painting.GREEN, painting.ORANGE],
    "FrozenLake": [ICE, painting.INK, painting.GREEN, painting.PAPER, painting.ORANGE],
    "MetaMaze": [
        painting.PAPER,
        painting.STONE,
        painting.GREEN,
        painting.ORANGE,
        painting.YELLOW,
        painting.RED,
        painting.INK,
    ],
    "PointRobot": [painting.SHADE, painting.GREEN, painting.BLUE, (196, 217, 196), (160, 184, 217)],
    "Pong": [painting.INK, painting.STONE, painting.ORANGE, painting.PAPER, painting.YELLOW, (84, 92, 107)],
    "Reacher": [painting.SHADE, painting.STONE, painting.BLUE, painting.ORANGE, painting.GREEN],
    "Swimmer": [WATER, painting.GREEN, painting.RED, painting.ORANGE],
}


@pytest.fixture(params=ENVS, ids=lambda env: env.name)
def env(request: pytest.FixtureRequest) -> Any:
    return request.param


@functools.cache
def blank(env: Any) -> Any:
    """A state of zeros, which needs no compiled reset."""
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(env.reset, KEY)[1])


def state_of(env: Any, **fields: Any) -> Any:
    """The state of `SCENE` with other numbers in some fields."""
    state, fields = blank(env), SCENE[env.name] | fields
    return state.replace(**{name: jnp.asarray(value, getattr(state, name).dtype) for name, value in fields.items()})


def params_of(env: Any, **fields: Any) -> Any:
    """The default params with other numbers in some fields, as arrays, so that all share a compilation."""
    params = trees.narrow(env.default_params)
    return params.replace(**{name: jnp.asarray(value, getattr(params, name).dtype) for name, value in fields.items()})


def render(env: Any, height: int, params: Any = None, **fields: Any) -> Any:
    return env.render(state_of(env, **fields), params_of(env, **(params or {})), height=height)


def near(picture: Any, color: painting.Color, tolerance: int = 2) -> Any:
    """Where the picture has the color, bool (height, width)."""
    return (np.abs(np.asarray(picture, int) - np.array(color)) <= tolerance).all(-1)


def places(picture: Any, color: painting.Color, tolerance: int = 2) -> np.ndarray:
    """Positions of a color, (x, y) from the picture's center, y up, in units of the picture's height: (n, 2)."""
    rows, columns = np.nonzero(near(picture, color, tolerance))
    assert len(rows), f"nothing is {color}"
    height, width = np.asarray(picture).shape[:2]
    return np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=-1) / height


def middle(picture: Any, color: painting.Color, tolerance: int = 2) -> np.ndarray:
    return places(picture, color, tolerance).mean(0)


@pytest.mark.slow
def test_size_follows_from_the_height(env: Any) -> None:
    assert isinstance(render(env, 64), jax.Array)
    for height in (1, 64, 256):
        picture = jax.eval_shape(lambda state: env.render(state, env.default_params, height=height), blank(env))  # noqa: B023
        assert picture.shape == (height, max(1, round(ASPECT.get(env.name, 1.0) * height)), 3)
        assert picture.dtype == jnp.uint8
    assert jax.eval_shape(env.render, blank(env)).shape[0] == 256


def test_every_part_is_visible_in_a_small_picture(env: Any) -> None:
    picture = render(env, 64)
    for color in COLORS[env.name]:
        assert near(picture, color, tolerance=40).sum() >= 3, color


def test_the_picture_changes_with_what_it_shows(env: Any) -> None:
    picture = render(env, 64)
    for name, value in SHOWN[env.name].items():
        assert (render(env, 64, **{name: value}) != picture).any(-1).sum() > 5, name


def test_the_picture_changes_with_the_params_that_shape_it(env: Any) -> None:
    picture = render(env, 64)
    for name, value in SHAPING.get(env.name, {}).items():
        changed = render(env, 64, {name: value})
        assert (changed != picture).any(-1).sum() > 5, name


@pytest.mark.slow
def test_batches_of_states_and_params(env: Any) -> None:
    states = [state_of(env), state_of(env, **SHOWN[env.name])]
    params = [params_of(env), params_of(env, **SHAPING.get(env.name, {}))]
    batches = [jax.tree.map(lambda *numbers: jnp.stack(numbers), *each) for each in (states, params)]
    pictures = jax.jit(jax.vmap(lambda state, params: env.render(state, params, height=64)))(*batches)
    for picture, *at in zip(pictures, states, params, strict=True):
        np.testing.assert_allclose(np.asarray(picture, int), env.render(*at, height=64), atol=1)


@pytest.mark.slow
def test_x64_mode_changes_nothing(env: Any) -> None:
    expected = render(env, 64)
    with switched(jax_enable_x64=True):
        state = jax.tree.map(lambda x: np.asarray(x, "f8" if x.dtype == jnp.float32 else "i8"), state_of(env))
        picture = env.render(state, env.default_params, height=64)
    assert picture.dtype == jnp.uint8
    np.testing.assert_allclose(np.asarray(picture, int), expected, atol=1)


def test_bad_input(env: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="a positive integer, got 0"):
        render(env, 0)
    states = jax.tree.map(lambda x: jnp.stack([x] * 8), state_of(env))
    with pytest.raises(InvalidArgumentError, match=r"got numbers of shape.* for a batch, use jax\.vmap"):
        env.render(states, env.default_params, height=8)


def test_names_stand_for_all_actions() -> None:
    named = {env.name for env in ENVS if env.action_names}
    assert named == {"GaussianBandit", "FourRooms", "FrozenLake", "MetaMaze", "Pong"}
    for env in [*ENVS, MetaMaze(rules="original"), Pong(rules="original"), BernoulliBandit("independent", 5)]:
        space = cast("Any", env).action_space(env.default_params)
        assert len(env.action_names) == (space.n if env.action_names else 0)
    assert Pong(rules="original").action_names == ()


@pytest.mark.parametrize(
    ("env", "place"),
    [
        (ROOMS, {"pos": [3, 3]}),
        (MAZE, {"pos": [5, 5]}),
        (MetaMaze(rules="original"), {"pos": [5, 5]}),
        (FrozenLake(desc=("FFF", "FSF", "FFF"), is_slippery=False), {"position": 4}),
    ],
    ids=["FourRooms", "MetaMaze", "MetaMaze-original", "FrozenLake"],
)
def test_the_walker_goes_where_the_name_of_the_action_says(env: Any, place: dict[str, Any]) -> None:
    state, params = state_of(env, **place), params_of(env)
    if env.name == "FourRooms":
        params = params_of(env, fail_prob=0.0)
    before = middle(env.render(state, params, height=130), painting.ORANGE)
    for action, name in enumerate(env.action_names):
        _, after, *_ = env.step_env(KEY, state, action, params)
        x, y = middle(env.render(after, params, height=130), painting.ORANGE) - before
        expected = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}[name]
        np.testing.assert_allclose(np.array([x, y]) / np.hypot(x, y), expected, atol=0.05)


# Bandits.


@pytest.mark.parametrize("num_arms", [2, 10])
def test_every_arm_has_a_column_as_high_as_its_probability(num_arms: int) -> None:
    env = BernoulliBandit("given", num_arms)
    probs = np.linspace(0.2, 1.0, num_arms)[::-1]
    state = state_of(env, reward_probs=probs, exp_reward_best=probs.max(), last_reward=0)
    picture = env.render(state, params_of(env), height=96)
    scene = max(3.0, (num_arms + 0.6) / 2)
    full, unit = 96 * (1 - 1.45 / scene), 96 / scene
    for arm, prob in enumerate(probs):
        column = round((picture.shape[1] - 1) / 2 + (arm + 0.5 - num_arms / 2) * unit)
        strip = picture[:, column : column + 1]
        assert near(strip, painting.GREEN if arm == 0 else painting.BLUE).sum() == pytest.approx(prob * full, abs=2)
        assert (near(strip, painting.ORANGE, 40).sum() > 0) == (arm == 1)


def test_a_coin_lies_above_an_arm_that_paid() -> None:
    for arm in (0, 1):
        picture = render(BERNOULLI, 96, last_action=arm)
        coin, disc = middle(picture, painting.YELLOW), middle(picture, painting.ORANGE)
        np.testing.assert_allclose([coin[0], disc[0]], (arm - 0.5) / 3, atol=0.01)
        assert coin[1] > 0.3
        assert disc[1] < -0.2
    assert not near(render(BERNOULLI, 96, last_reward=0), painting.YELLOW).any()


@pytest.mark.parametrize("env", [BERNOULLI, GAUSSIAN], ids=lambda env: env.name)
def test_no_arm_is_marked_before_the_first_pull(env: Any) -> None:
    picture = render(env, 96, time=0)
    assert not near(picture, painting.ORANGE, 20).any()
    assert not near(picture, painting.YELLOW, 20).any()


def test_the_risky_arm_is_good_above_the_safe_one_and_bad_below() -> None:
    for mu, color, other in ((1.6, painting.GREEN, painting.RED), (-1.6, painting.RED, painting.GREEN)):
        picture = render(GAUSSIAN, 96, mu=mu, last_action=0, last_reward=0.0)
        level = middle(picture, painting.BLUE)[1]
        column = places(picture, color, 30)
        assert not near(picture, other, 15).any()
        assert np.ptp(column[:, 1]) == pytest.approx(1.55 / 2 / 3 * 1.6 / 3.2, abs=0.03)
        assert np.sign(column[:, 1].mean() - level) == np.sign(mu)
        assert column[:, 0].min() > 0


@pytest.mark.parametrize(("reward", "share"), [(1.6, 0.5), (-3.2, -1.0), (0.0, 0.0), (99.0, 1.0)])
def test_the_coin_lies_at_the_height_of_the_reward(reward: float, share: float) -> None:
    picture = render(GAUSSIAN, 96, last_reward=reward)
    x, y = middle(picture, painting.YELLOW)
    np.testing.assert_allclose([x, y - (0.9 + 1.55 / 2 - 1.5) / 3], [0.5 / 3, share * 1.55 / 2 / 3], atol=0.01)


@pytest.mark.parametrize(
    ("env", "height"), [(BERNOULLI, 96), (GAUSSIAN, 96), (MAZE, 130)], ids=["Bernoulli", "Gaussian", "maze"]
)
def test_the_time_fills_its_gauge(env: Any, height: int) -> None:
    limit = env.default_params.max_steps_in_episode
    fields = {"last_reward": 0} if env is BERNOULLI else {}
    lengths = []
    for share in (0.25, 0.5, 1.0):
        picture = render(env, height, time=round(share * limit), **fields)[-height // 5 :]
        lengths.append(np.ptp(np.nonzero(near(picture, painting.INK, 40))[1]))
    assert lengths[2] > 0.55 * picture.shape[1]
    np.testing.assert_allclose(np.diff(lengths), [lengths[2] / 4, lengths[2] / 2], rtol=0.15)


# Grids.


def at_cells(picture: Any, rows: int, columns: int, cell: int) -> np.ndarray:
    """The colors of the cells near their upper left corners, where nothing stands: (rows, columns, 3)."""
    first = cell // 2 + 1
    return np.asarray(picture)[first:, first:][: rows * cell : cell, : columns * cell : cell]


def test_walls_are_those_of_the_map() -> None:
    picture = render(ROOMS, 140)
    walls = np.array([[mark == "x" for mark in row] for row in MAP])
    np.testing.assert_array_equal(near(at_cells(picture, 13, 13, 10), painting.STONE), walls)
    np.testing.assert_array_equal(np.argwhere(near(at_cells(picture, 13, 13, 10), painting.GREEN)), [[8, 9]])


@pytest.mark.parametrize("size", [5, 15])
def test_walls_are_those_of_the_maze(size: int) -> None:
    env = MetaMaze(maze_size=size, rf_size=1)
    side = size + 2
    state = state_of(env, pos=[2, 1], goal=[1, 3])
    picture = env.render(state, env.default_params, height=round(10 * (side + 0.5 + 1.5 * side / 11)))
    cells = at_cells(picture, side, side, 10)
    np.testing.assert_array_equal(near(cells, painting.STONE, 20), env.walls)
    np.testing.assert_array_equal(np.argwhere(near(cells, painting.GREEN)), [[1, 3]])


@pytest.mark.parametrize("place", [(1, 1), (4, 11), (11, 7)])
def test_the_walker_stands_in_its_cell(place: tuple[int, int]) -> None:
    picture = render(ROOMS, 140, pos=place)
    np.testing.assert_allclose(middle(picture, painting.ORANGE) * 14, [place[1] - 6, 6 - place[0]], atol=0.05)


@pytest.mark.parametrize("rf_size", [3, 5])
def test_the_frame_is_around_what_the_walker_sees(rf_size: int) -> None:
    env = MetaMaze(rf_size=rf_size)
    picture = render(env, 130, pos=[5, 4])
    frame, walker = places(picture, painting.YELLOW, 30) * 13, middle(picture, painting.ORANGE) * 13
    np.testing.assert_allclose(walker, [4.5 - 5.5, 5.5 - 5], atol=0.05)  # the board lies half a row above the middle
    np.testing.assert_allclose([frame.min(0), frame.max(0)], walker + rf_size * np.array([[-0.5], [0.5]]), atol=0.12)


@pytest.mark.parametrize(("reward", "color"), [(10.0, painting.GREEN), (-1.0, painting.RED), (0.0, painting.SHADE)])
def test_the_lamp_shows_the_last_reward(reward: float, color: painting.Color) -> None:
    picture = render(MAZE, 130, last_reward=reward)
    assert near(picture[-14:, 5:15], color).sum() > 20


def test_the_lake_has_its_holes_and_goals() -> None:
    env = FrozenLake(desc=("SFHF", "GFFF", "HFFG"))
    picture = render(env, 80, position=0)
    assert picture.shape == (80, 100, 3)
    centers = np.asarray(picture)[20::20, 20::20][:3, :4]
    np.testing.assert_array_equal(np.argwhere(near(centers, painting.INK)), [[0, 2], [2, 0]])
    np.testing.assert_array_equal(np.argwhere(near(at_cells(picture, 3, 4, 20), painting.GREEN)), [[1, 0], [2, 3]])
    np.testing.assert_array_equal(np.argwhere(near(centers, painting.ORANGE)), [[0, 0]])


# The plane.


def test_the_robot_and_its_goal_are_where_they_are() -> None:
    picture = render(ROBOT, 64, last_action=[0, 0])
    scale, above = 2.0, 0.425  # the window is 3 by 2: its height, and the y of its middle
    place = middle(picture, painting.BLUE) * scale + [0, above]
    goal = places(picture, (196, 217, 196)) * scale + [0, above]
    np.testing.assert_allclose(place, [0.2, 0.3], atol=0.02)
    np.testing.assert_allclose((goal.min(0) + goal.max(0)) / 2, [-0.6, 0.8], atol=0.03)
    np.testing.assert_allclose(np.ptp(goal, axis=0), 0.4, atol=0.07)


@pytest.mark.parametrize("rules", ["gymnax", "original"])
@pytest.mark.parametrize("action", [(0.1, 0.0), (-0.05, 0.1), (0.0, -7.0)])
def test_the_tail_points_back_along_the_last_move(rules: Any, action: tuple[float, float]) -> None:
    env = PointRobot(rules=rules)
    picture = render(env, 64, last_action=action)
    back = middle(picture, (160, 184, 217)) - middle(picture, painting.BLUE)
    direction = np.clip(action, -0.1, 0.1)
    np.testing.assert_allclose(back / np.hypot(*back), -direction / np.hypot(*direction), atol=0.08)


@pytest.mark.parametrize(
    ("dense", "reward", "time", "reached"),
    [(False, 1, 5, True), (False, 0, 5, False), (True, -0.1, 5, True), (True, -0.4, 5, False), (True, 0, 0, False)],
)
def test_a_goal_that_was_reached_is_full(dense: bool, reward: float, time: int, reached: bool) -> None:
    picture = render(ROBOT, 64, {"dense_reward": dense}, last_reward=reward, time=time)
    assert (near(picture, painting.GREEN).sum() > 50) == reached
    assert near(picture, (160, 184, 217)).any() != reached


@pytest.mark.parametrize("pos", [(3.0, 0.5), (-9.0, 0.5), (0.0, 8.0), (0.1, -5.0)])
def test_robot_and_swimmer_stay_in_sight_however_far_they_go(pos: tuple[float, float]) -> None:
    for env, name, color in ((ROBOT, "pos", painting.BLUE), (SWIMMER, "xy", painting.ORANGE)):
        picture = render(env, 64, **{name: pos})
        mask = near(picture, color, 20)
        assert mask.sum() > 10
        assert not mask[[0, -1]].any()
        assert not mask[:, [0, -1]].any()


@pytest.mark.parametrize("num_joints", [1, 2, 5])
def test_the_arm_reaches_from_the_origin_to_its_end(num_joints: int) -> None:
    env = Reacher(num_joints=num_joints)
    state = state_of(env, angles=np.full(num_joints, 0.6), goal_xy=[-num_joints, 0])
    picture = env.render(state, env.default_params, height=160)
    side = 1.08 * num_joints
    colors = [painting.BLUE, painting.ORANGE][:num_joints]
    arm = np.concatenate([places(picture, color) for color in colors]) * 2 * side
    along, across = arm @ [np.cos(0.6), np.sin(0.6)], arm @ [-np.sin(0.6), np.cos(0.6)]
    assert along.max() == pytest.approx(num_joints + 0.045 * side, abs=0.02 * side)
    assert np.abs(across).max() == pytest.approx(0.045 * side, abs=0.02 * side)
    np.testing.assert_allclose(middle(picture, painting.GREEN) * 2 * side, [-num_joints, 0], atol=0.01 * side)


def test_angles_of_links_are_absolute() -> None:
    picture = render(REACHER, 160, angles=[0.0, np.pi / 2])
    scale = 2 * 2.16
    np.testing.assert_allclose(middle(picture, painting.ORANGE) * scale, [1.0, 0.52], atol=0.05)
    assert middle(picture, painting.BLUE)[1] * scale == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize("angle", [0.0, 2.0, -1.0])
def test_the_swimmer_turns_to_where_it_swims(angle: float) -> None:
    velocity = [np.cos(angle), np.sin(angle)]
    picture = render(SWIMMER, 160, xy=[-0.3, -0.3], xy_vel=velocity)
    fish = places(picture, painting.ORANGE) * 2.3 + 0.3
    along, across = fish @ velocity, fish @ [-np.sin(angle), np.cos(angle)]
    np.testing.assert_allclose([along.min(), along.max()], [-0.17, 0.17], atol=0.03)
    assert np.ptp(across[along < -0.12]) > 0.1 > np.ptp(across[along > 0.14])  # a broad tail and a pointed head


def test_goal_and_urchins_are_where_they_are() -> None:
    picture = render(SWIMMER, 160)
    np.testing.assert_allclose(middle(picture, painting.GREEN) * 2.3, [0.5, 0.6], atol=0.01)
    urchins = places(picture, painting.RED) * 2.3
    for urchin, place in ((urchins[urchins[:, 0] < 0], [-0.5, 0.5]), (urchins[urchins[:, 0] > 0], [0.7, 0])):
        np.testing.assert_allclose(urchin.mean(0), place, atol=0.01)
        assert np.hypot(*(urchin - place).T).max() == pytest.approx(0.18, abs=0.03)


def test_water_without_urchins() -> None:
    env = Swimmer(num_urchins=0)
    picture = env.render(state_of(env, urchin_xys=np.zeros((0, 2))), env.default_params, height=64)
    assert near(picture, painting.ORANGE).any()
    assert not near(picture, painting.RED, 40).any()


# Pong.


@pytest.mark.parametrize(("width", "height", "half"), [(40, 30, 2), (16, 12, 3)])
def test_pieces_cover_the_cells_that_observations_show(width: int, height: int, half: int) -> None:
    env = Pong(width=width, height=height, paddle_half_height=half)
    fields = {"ball_position": [9.0, 5.0], "last_ball_position": [7.0, 4.0], "paddle_centers": [4.0, 8.0]}
    state = state_of(env, **fields)
    picture = np.asarray(env.render(state, params_of(env), height=(height + 3) * 8))
    assert picture.shape == ((height + 3) * 8, (width + 2) * 8, 3)
    centers = picture[16::8, 12::8][:height, :width]
    paddles, ball, last = np.moveaxis(np.asarray(env.observe(state, env.default_params)), -1, 0)
    np.testing.assert_array_equal(near(centers, painting.ORANGE) | near(centers, painting.PAPER), paddles)
    np.testing.assert_array_equal(near(centers, painting.YELLOW), ball)
    assert near(centers, (84, 92, 107))[last].all()


def test_paddles_of_the_agent_are_orange() -> None:
    for env, follows, is_white in ((PONG, True, True), (PONG, False, False), (Pong(rules="original"), True, False)):
        picture = render(env, 264, {"use_ai_policy": follows})
        assert near(picture[12:-12], painting.PAPER, 20).any() == is_white
        assert (places(picture, painting.ORANGE)[:, 0].max() < 0) == is_white


def test_what_leaves_the_board_is_still_visible() -> None:
    env = Pong(rules="original")
    for centers, ball in (([-4.0, 34.0], [3.0, -1.0]), ([34.0, -4.0], [3.0, 40.0])):
        picture = render(env, 264, paddle_centers=centers, ball_position=ball)
        x = places(picture, painting.ORANGE)[:, 0]
        assert (x < 0).any()
        assert (x > 0).any()
        assert near(picture, painting.YELLOW).any()
