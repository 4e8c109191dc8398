"""gymnax's spaces: what their constructors take, and which bounds are numbers."""

import envcore_gymnax as gymnax
import jax
import numpy as np
import pytest
from envcore_gymnax.environments import spaces

# pyright: reportAttributeAccessIssue=false

ARRAYS = {"CartPole-v1": "observation", "MetaMaze-misc": "observation", "Reacher-misc": "action"}
NUMBERS = {
    **dict.fromkeys(("Breakout-MinAtar", "Catch-bsuite", "DeepSea-bsuite", "SimpleBandit-bsuite"), "observation"),
    **dict.fromkeys(("UmbrellaChain-bsuite", "FourRooms-misc", "Pong-misc"), "observation"),
    **dict.fromkeys(("Pendulum-v1", "MountainCarContinuous-v0"), "action"),
}


@pytest.mark.parametrize("env_id", [*ARRAYS, *NUMBERS])
def test_bounds_are_numbers_where_gymnaxs_are(env_id):
    env, params = gymnax.make(env_id)
    space = getattr(env, f"{(ARRAYS | NUMBERS)[env_id]}_space")(params)
    assert isinstance(space, spaces.Box)
    for bound in (space.low, space.high):
        assert np.shape(bound) == (space.shape if env_id in ARRAYS else ())
        assert isinstance(bound, float) == (env_id in NUMBERS)


def test_bounds_that_depend_on_traced_params():
    env, params = gymnax.make("Pendulum-v1")

    @jax.jit
    def sample(key, params):
        space = env.action_space(params)
        return spaces.Box(space.low, space.high, (1,)).sample(key)

    assert abs(sample(jax.random.key(0), params.replace(max_torque=1e-3))[0]) <= 1e-3


def test_discrete():
    space = spaces.Discrete(num_categories=3, dtype=np.int32)
    assert space.n == 3
    assert space.sample(jax.random.key(0)).dtype == space.dtype == np.int32
    with pytest.raises(ValueError, match="must be int32, got 'int64'"):
        spaces.Discrete(3, dtype="int64")
