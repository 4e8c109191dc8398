from __future__ import annotations

import jax
import numpy as np
import pytest
from envcore_classic_control.mountain_car import MountainCar

KEY = jax.random.key(0)
ENV = MountainCar()
PARAMS = ENV.default_params


def test_a_car_that_hits_the_wall_stops_and_leaves_again() -> None:
    _, state = ENV.reset(KEY)
    state = state.replace(position=np.float32(-1.19), velocity=np.float32(-0.05))
    _, state, *_ = ENV.step_env(KEY, state, 0)
    assert (state.position, state.velocity) == (np.float32(-1.2), 0)
    _, state, *_ = ENV.step_env(KEY, state, 2)
    assert state.position > np.float32(-1.2)


@pytest.mark.parametrize(("goal_velocity", "reached"), [(0.0, True), (0.05, True), (0.06, False)])
def test_the_goal_has_to_be_passed_fast_enough(goal_velocity: float, reached: bool) -> None:
    _, state = ENV.reset(KEY)
    state = state.replace(position=np.float32(0.49), velocity=np.float32(0.055))
    _, _, _, terminated, _ = ENV.step_env(KEY, state, 2, PARAMS.replace(goal_velocity=goal_velocity))
    assert bool(terminated) is reached


def test_spaces_follow_the_params() -> None:
    space = ENV.make_observation_space(PARAMS.replace(min_position=-2.0, max_position=1.0, max_speed=0.5))
    assert space.low.tolist() == [-2, -0.5]
    assert space.high.tolist() == [1, 0.5]
