"""Swimmer against the original's formulas in float64, and our additions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import NO_TIME_LIMIT
from envcore_misc.swimmer import Swimmer, SwimmerParams, SwimmerStart, SwimmerState
from gradients import check_finite_differences
from rules import check_rule, rules
from uniform_draws import check_uniform_draws

# The error of float32: 500 roundings of a position whose last bit is 5e-7 far out, and of a steep reward near urchins.
ATOL = 5e-5
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


def original_step(place: Any, velocity: Any, action: Any, goal: Any, urchins: Any, dt: float = 0.05) -> Any:
    """The original's step, over batches: place, velocity, reward."""
    velocity = velocity + dt * action
    place = place + dt * velocity
    safety = (1 - np.exp(-30 * ((place[..., None, :] - urchins) ** 2).sum(-1))).prod(-1)
    return place, velocity, np.exp(-0.5 * ((place - goal) ** 2).sum(-1)) * safety


def original_observation(place: Any, velocity: Any, goal: Any, urchins: Any) -> Any:
    return np.concatenate([urchins.reshape(*urchins.shape[:-2], -1), place, velocity, goal], -1)


def play(env: Swimmer, num_envs: int, steps: int, params: SwimmerParams | None = None) -> Any:
    """The first states, and action, state after, obs, reward, done, info of each step; axes (step, environment)."""

    def body(state: Any, given: Any) -> Any:
        obs, state, reward, done, info = jax.vmap(env.step, (0, 0, 0, None))(given[0], state, given[1], params)
        return state, (given[1], state, obs, reward, done, info)

    keys = jax.random.split(jax.random.key(1), (steps, num_envs))
    actions = np.random.default_rng(0).uniform(-1, 1, (steps, num_envs, 2)).astype(np.float32)
    _, state = jax.vmap(env.reset, (0, None))(keys[0], params)
    return jax.tree.map(
        np.asarray, (state, jax.jit(lambda *given: jax.lax.scan(body, *given)[1])(state, (keys, actions)))
    )


def fields(state: Any) -> list[Any]:
    return [np.asarray(x, np.float64) for x in (state.xy, state.xy_vel, state.goal_xy, state.urchin_xys)]


@pytest.mark.parametrize(("num_urchins", "dt", "limit"), [(0, 0.05, 500), (5, 0.05, 500), (2, 0.1, NO_TIME_LIMIT)])
def test_episodes_are_the_originals(num_urchins: int, dt: float, limit: int) -> None:
    env, steps = Swimmer(num_urchins), 1050
    assert env.default_params.max_steps_in_episode == 500
    params = env.default_params.replace(dt=dt, max_steps_in_episode=limit)
    start, (actions, states, obs, reward, done, info) = play(env, 8, steps, params)
    place, velocity, goal, urchins = fields(start)
    assert (velocity == 0).all()
    for t in range(steps):
        place, velocity, expected = original_step(place, velocity, actions[t].astype(np.float64), goal, urchins, dt)
        seen = original_observation(place, velocity, goal, urchins)
        scale = np.maximum(1, np.abs(place).max())
        np.testing.assert_allclose(reward[t], expected, atol=ATOL)
        np.testing.assert_allclose(info["final_obs"][t], seen, atol=ATOL * scale)
        assert (done[t] == (t % limit == limit - 1)).all()
        if done[t].all():
            place, velocity, goal, urchins = fields(jax.tree.map(lambda x, t=t: x[t], states))
            seen = original_observation(place, velocity, goal, urchins)
        np.testing.assert_allclose(obs[t], seen, atol=ATOL * scale)
    assert not info["terminated"].any()
    assert np.unique(states.goal_xy[:, 0, 0]).size == 1 + steps // limit


def test_forced_draws() -> None:
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


def test_gradients_are_finite_differences() -> None:
    env = Swimmer(2)
    inputs: dict[str, Any] = {
        "place": np.array([0.3, -0.2]),
        "velocity": np.array([0.4, 0.1]),
        "action": np.array([-0.7, 0.9]),
        "goal": np.array([0.5, -0.3]),
        "urchins": np.array([[0.2, -0.2], [0.6, 0.1]]),
        "dt": np.array(0.2),
    }

    def total(x: dict[str, Any]) -> jax.Array:
        state = SwimmerState(
            urchin_xys=x["urchins"], xy=x["place"], xy_vel=x["velocity"], goal_xy=x["goal"], time=jnp.int32(0)
        )
        obs, _, reward, _, _ = env.step(jax.random.key(0), state, x["action"], env.default_params.replace(dt=x["dt"]))
        return 3 * reward + obs @ jnp.arange(1.0, 11.0)

    def expected(x: dict[str, Any]) -> Any:
        place, velocity, reward = original_step(
            x["place"], x["velocity"], x["action"], x["goal"], x["urchins"], x["dt"]
        )
        return 3 * reward + original_observation(place, velocity, x["goal"], x["urchins"]) @ np.arange(1.0, 11.0)

    check_finite_differences(total, expected, inputs)


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
    with pytest.raises(ValueError, match="num_urchins must be at least 0, got -1"):
        Swimmer(num_urchins=-1)
