"""gymnax's classes, and the modules that hold them."""

import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_gymnax.environments import environment, spaces

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false, reportPrivateImportUsage=false


def test_classes():
    assert gymnax.environments.CartPole() == gymnax.make("CartPole-v1")[0]
    assert gymnax.environments.bsuite.DeepSea(size=5).obs_shape == (5, 5)
    assert issubclass(gymnax.environments.MinBreakout, environment.Environment)
    assert isinstance(gymnax.make("Pendulum-v1")[0].action_space(), spaces.Box)


def test_a_state_of_a_modules_own_type():
    module = gymnax.environments.classic_control.pendulum
    env = module.Pendulum()
    state = module.EnvState(time=jnp.int32(0), theta=jnp.float32(0.1), theta_dot=jnp.float32(0), last_u=jnp.float32(0))
    params = module.EnvParams(g=jnp.float32(5))
    obs, after, *_ = env.step(jax.random.key(0), state, 0.0, params)
    np.testing.assert_array_equal(env.get_obs(state, params)[0], np.cos(np.float32(0.1)))
    assert (after.time, after.terminated) == (1, False)
    np.testing.assert_array_equal(obs, env.get_obs(after, params))
    assert not env.is_terminal(state, params)
    with pytest.raises(AttributeError, match=r"pendulum' has no attribute 'Swing'"):
        _ = module.Swing
