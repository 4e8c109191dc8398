from __future__ import annotations

import jax
import numpy as np
import pytest
from classic_lockstep import CARTPOLE, Inputs, gymnasium_steps, our_steps
from envcore_classic_control.cartpole import CartPole, CartPoleParams, CartPoleState

KEY = jax.random.key(0)


def test_derived_numbers_follow_the_masses() -> None:
    params = CartPoleParams(masscart=2.0, masspole=0.5, length=0.8)
    assert params.total_mass == 2.5
    assert params.polemass_length == 0.4


@pytest.mark.parametrize("name", ["Euler", "semi-implicit", "", None])
def test_unknown_integrators_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="kinematics_integrator must be 'euler' or 'semi-implicit euler'"):
        CartPole(kinematics_integrator=name)  # pyright: ignore[reportArgumentType]


def test_limits_themselves_are_inside_and_the_next_number_is_not() -> None:
    env, params = CARTPOLE.make({})
    limits = np.array([env.default_params.x_threshold, env.default_params.theta_threshold_radians])  # in float64
    beyond = np.nextafter(limits.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    places = [np.array([sign * x, 0, 0, 0]) for sign in (-1, 1) for x in (limits[0], beyond[0])]
    leans = [np.array([0, 0, sign * theta, 0]) for sign in (-1, 1) for theta in (limits[1], beyond[1])]
    state = np.stack(places + leans)
    inputs = Inputs(state, np.zeros(8, int), np.zeros(8, int), np.zeros(8), np.zeros(8, bool))
    terminated = our_steps(CARTPOLE, env, params, inputs).terminated
    assert terminated.tolist() == [False, True] * 4
    assert terminated.tolist() == gymnasium_steps(CARTPOLE, inputs).terminated.tolist()


@pytest.mark.parametrize(
    ("sutton_barto_reward", "x", "x_dot", "has_fallen", "reward", "falls"),
    [
        (False, 0.0, 0.0, False, 1, False),
        (False, 2.39, 1.0, False, 1, True),  # the first fall
        (False, 2.39, 1.0, True, 0, True),  # another one
        (False, 3.0, 0.0, False, 1, True),  # a start outside the limits
        (False, 3.0, 0.0, True, 0, True),  # still outside
        (False, 2.41, -1.0, True, 1, False),  # it comes back
        (True, 0.0, 0.0, False, 0, False),
        (True, 2.39, 1.0, False, -1, True),
        (True, 2.39, 1.0, True, -1, True),
        (True, 2.41, -1.0, True, 0, False),
    ],
)
def test_rewards_before_and_after_the_end(
    sutton_barto_reward: bool, x: float, x_dot: float, has_fallen: bool, reward: float, falls: bool
) -> None:
    env, params = CARTPOLE.make({"sutton_barto_reward": sutton_barto_reward})
    state = CartPoleState(x=x, x_dot=x_dot, theta=0.0, theta_dot=0.0, has_fallen=has_fallen)
    _, after, got, terminated, _ = env.step_env(KEY, state, 0, params)
    assert (float(got), bool(terminated), bool(after.has_fallen)) == (reward, falls, has_fallen or falls)


def test_a_state_written_by_hand_has_not_fallen() -> None:
    env, params = CARTPOLE.make({})
    state = CartPoleState(x=2.39, x_dot=1.0, theta=0.0, theta_dot=0.0)
    for expected in (1, 0):
        _, state, reward, _, _ = env.step_env(KEY, state, 1, params)
        assert float(reward) == expected


def test_an_auto_reset_forgets_the_fall() -> None:
    env, params = CARTPOLE.make({})
    _, state, _, done, _ = env.step(KEY, CartPoleState(x=2.39, x_dot=1.0, theta=0.0, theta_dot=0.0), 1, params)
    assert bool(done)
    assert not bool(state.has_fallen)


def test_observation_space_is_twice_the_limits_of_its_params() -> None:
    env, params = CARTPOLE.make({})
    space = env.observation_space(params.replace(x_threshold=1.0, theta_threshold_radians=0.5))
    np.testing.assert_array_equal(space.high, np.array([2.0, np.inf, 1.0, np.inf], np.float32))
    np.testing.assert_array_equal(space.low, -space.high)
