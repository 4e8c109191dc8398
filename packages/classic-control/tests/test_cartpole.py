from __future__ import annotations

import jax
import numpy as np
import pytest
from envcore_classic_control.cartpole import CartPole, CartPoleParams
from lockstep import CARTPOLE, Inputs, gymnasium_steps, our_steps

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
    limits = np.array([params.x_threshold, params.theta_threshold_radians])
    beyond = np.nextafter(limits.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    places = [np.array([sign * x, 0, 0, 0]) for sign in (-1, 1) for x in (limits[0], beyond[0])]
    leans = [np.array([0, 0, sign * theta, 0]) for sign in (-1, 1) for theta in (limits[1], beyond[1])]
    state = np.stack(places + leans)
    inputs = Inputs(state, np.zeros(8, int), np.zeros(8, int), np.zeros(8))
    terminated = our_steps(CARTPOLE, env, params, inputs).terminated
    assert terminated.tolist() == [False, True] * 4
    assert terminated.tolist() == gymnasium_steps(CARTPOLE, inputs).terminated.tolist()


def test_a_pole_that_comes_back_and_falls_again_is_rewarded_again() -> None:
    """The deviation that the module names: gymnasium gives 0 here, because it remembers the first fall."""
    env, params = CARTPOLE.make({})
    _, state = env.reset(KEY, params)
    state = state.replace(x=np.float32(2.39), x_dot=np.float32(1.0))
    rewards, falls = [], []
    for speed in (1.0, -2.0, 2.0):
        state = state.replace(x_dot=np.float32(speed))
        _, state, reward, terminated, _ = env.step_env(KEY, state, 0, params)
        rewards.append(float(reward))
        falls.append(bool(terminated))
    assert falls == [True, False, True]
    assert rewards == [1, 1, 1]


def test_observation_space_is_twice_the_limits_of_its_params() -> None:
    env, params = CARTPOLE.make({})
    space = env.observation_space(params.replace(x_threshold=1.0, theta_threshold_radians=0.5))
    np.testing.assert_array_equal(space.high, np.array([2.0, np.inf, 1.0, np.inf], np.float32))
    np.testing.assert_array_equal(space.low, -space.high)
