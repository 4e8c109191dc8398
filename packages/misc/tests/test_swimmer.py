"""Swimmer: its rules, one case per line, its observations and draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.swimmer import Swimmer, SwimmerStart, SwimmerState
from lockstep import our_steps
from picture_checks import state_of
from rules import check_rule, rules
from uniform_draws import check_uniform_draws

FAR = (100, 0)


def at(place: Any, urchins: Any = (FAR, FAR), speed: Any = (0, 0)) -> dict[str, Any]:
    """The swimmer, with the goal at (1, 0.5), and two urchins."""
    return {"xy": place, "xy_vel": speed, "goal_xy": (1, 0.5), "urchin_xys": urchins}


def force(x: float, y: float) -> np.ndarray:
    return np.array([x, y], np.float32)


GOAL, NONE = (1, 0.5), force(0, 0)


def moved(place: Any, speed: Any) -> dict[str, Any]:
    return {"xy": place, "xy_vel": speed}


@rules(
    ("the goal earns 1", at(GOAL), NONE, None, {}, 1, False),
    ("at a distance of 1 it is exp(-1/2)", at((0, 0.5)), NONE, None, {}, np.exp(-0.5), False),
    ("at a distance of 2 exp(-2)", at((1, 2.5)), NONE, None, {}, np.exp(-2), False),
    ("on an urchin it is 0", at(GOAL, (GOAL, FAR)), NONE, None, {}, 0, False),
    ("0.1 from it 1 - exp(-0.3)", at(GOAL, (FAR, (1.1, 0.5))), NONE, None, {}, 1 - np.exp(-0.3), False),
    ("0.2 from it 1 - exp(-1.2)", at(GOAL, ((1, 0.3), FAR)), NONE, None, {}, 1 - np.exp(-1.2), False),
    (
        "each urchin takes its share",
        at(GOAL, ((1, 0.3), (1.1, 0.5))),
        NONE,
        None,
        {},
        (1 - np.exp(-0.3)) * (1 - np.exp(-1.2)),
        False,
    ),
    ("a force moves it", at((50, 0)), force(1, -1), None, moved((50.0025, -0.0025), (0.05, -0.05)), 0, False),
    ("it keeps its speed", at((50, 0), speed=(2, 4)), NONE, None, moved((50.1, 0.2), (2, 4)), 0, False),
    ("the reward is of the new place", at((0.9, 0.5), speed=(2, 0)), NONE, None, moved(GOAL, (2, 0)), 1, False),
    (
        "urchins do not stop it",
        at((0.9, 0.5), ((0.9, 0.5), FAR), (20, 0)),
        NONE,
        None,
        moved((1.9, 0.5), (20, 0)),
        np.exp(-0.405),
        False,
    ),
)
def test_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(Swimmer(num_urchins=2), before, action, draws, after, reward, end)


@rules(
    ("time", at((50, 0), np.zeros((0, 2))), force(1, -1), None, moved((50.25, -0.25), (0.5, -0.5)), 0, False),
    ("without urchins only the goal counts", at(GOAL, np.zeros((0, 2))), NONE, None, {}, 1, False),
)
def test_half_a_second_without_urchins(
    before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool
) -> None:
    check_rule(Swimmer(num_urchins=0), before, action, draws, after, reward, end, dt=0.5)


def fields(state: Any) -> list[Any]:
    return [np.asarray(x, np.float64) for x in (state.xy, state.xy_vel, state.goal_xy, state.urchin_xys)]


def test_what_an_observation_shows() -> None:
    env = Swimmer(2)
    state = state_of(env, urchin_xys=((1, 2), (3, 4)), xy=(5, 6), xy_vel=(7, 8), goal_xy=(9, 10))
    np.testing.assert_array_equal(env.observe(state, env.default_params), np.arange(1, 11))


def test_random_steps_follow_the_formulas() -> None:
    env, rng = Swimmer(3), np.random.default_rng(0)
    places, speeds, goals, actions = rng.uniform(-1, 1, (4, 200, 2)).astype(np.float32)
    urchins = rng.uniform(-1, 1, (200, 3, 2)).astype(np.float32)
    start = state_of(env).replace(
        xy=places, xy_vel=speeds, goal_xy=goals, urchin_xys=urchins, time=np.zeros(200, np.int32)
    )
    after, found = our_steps(env, env.default_params, start, actions, None)
    speeds = speeds + 0.05 * actions
    places = places + 0.05 * speeds
    safety = (1 - np.exp(-30 * ((places[:, None] - urchins) ** 2).sum(-1))).prod(-1)
    np.testing.assert_allclose(found["reward"], np.exp(-0.5 * ((places - goals) ** 2).sum(-1)) * safety, atol=1e-5)
    np.testing.assert_allclose(after.xy, places, atol=1e-5)


def test_starts_lie_between_the_bounds_of_the_params() -> None:
    env = Swimmer(2)
    draws = SwimmerStart(jnp.array([[0.0, 0.25], [0.5, 0.75]]), jnp.array([0.0, 0.75]), jnp.array([0.5, 0.25]))
    params = jax.tree.map(jnp.asarray, env.default_params)
    state = env.init_state(draws, params)
    np.testing.assert_array_equal(state.urchin_xys, [[-1, -0.5], [0, 0.5]])
    np.testing.assert_array_equal(state.xy, [-1, 0.5])
    np.testing.assert_array_equal(state.xy_vel, [0, 0])
    np.testing.assert_array_equal(state.goal_xy, [0, -0.5])
    bounds = {"goal_low": [3.0, 1.0], "goal_high": [5.0, 2.0], "urchin_low": [[0, 0], [1, 1]]}
    state = env.init_state(draws, params.replace(**{name: jnp.asarray(x, jnp.float32) for name, x in bounds.items()}))
    np.testing.assert_array_equal(state.goal_xy, [4, 1.25])
    np.testing.assert_array_equal(state.urchin_xys, [[0, 0.25], [1, 1]])


def test_starts_are_uniform_and_independent() -> None:
    env = Swimmer(3)
    state = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), 4096))[1]
    place, _, goal, urchins = fields(state)
    drawn = np.concatenate([place, goal, urchins.reshape(-1, 6)], -1)
    assert (np.abs(drawn) <= 1).all()
    check_uniform_draws(drawn)


def test_gradients_are_finite_on_an_urchin_and_far_away() -> None:
    env = Swimmer(2)

    def reward(place: jax.Array) -> jax.Array:
        zero = jnp.zeros(2)
        state = SwimmerState(urchin_xys=jnp.zeros((2, 2)), xy=place, xy_vel=zero, goal_xy=zero, time=jnp.int32(0))
        return env.step(jax.random.key(0), state, zero)[2]

    places = jnp.array([[0.0, 0.0], [1e3, -1e3], [1e9, 0.0]])
    gradients = jax.jit(jax.vmap(jax.grad(reward)))(places)
    np.testing.assert_array_equal(gradients, np.zeros((3, 2)))


def test_a_negative_number_of_urchins_is_an_error() -> None:
    with pytest.raises(ValueError, match="num_urchins must be a positive integer, got -1"):
        Swimmer(num_urchins=-1)
