"""gymnax's classes, and the modules that hold them."""

import functools

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


def test_params_of_a_module_are_gymnaxs():
    suites = gymnax.environments
    modules = (suites.minatar.asterix, suites.bsuite.bandit, suites.misc.reacher)
    for env_id, module in zip(("Asterix-MinAtar", "SimpleBandit-bsuite", "Reacher-misc"), modules, strict=True):
        params = gymnax.make(env_id)[1]
        for given, expected in (({}, params), ({"max_steps_in_episode": 7}, params.replace(max_steps_in_episode=7))):
            assert jax.tree.all(jax.tree.map(np.array_equal, module.EnvParams(**given), expected))


STATES = {
    "minatar.breakout": {"ball_y": 3, "ball_x": 0, "ball_dir": 2, "pos": 4, "strike": 0, "last_y": 3, "last_x": 0},
    "classic_control.pendulum": {"theta": np.float64(0.1), "theta_dot": 1},
    "misc.point_robot": {
        "last_action": np.zeros(2),
        "last_reward": 0,
        "pos": [0, 0.5],
        "goal": np.array([1.0, 0.0]),
        "goals_reached": 0,
    },
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_from_numbers_of_any_type(name):
    module = functools.reduce(getattr, name.split("."), gymnax.environments)
    env = next(value for value in vars(module).values() if isinstance(value, type))()
    state = jax.jit(lambda time: module.EnvState(time=time, **STATES[name]))(2.0)
    for field, value in {**STATES[name], "time": 2}.items():
        np.testing.assert_allclose(getattr(state, field), value)
    start = env.reset(jax.random.key(0))[1]
    assert jax.tree.map(lambda x: (x.shape, x.dtype), state) == jax.tree.map(lambda x: (x.shape, x.dtype), start)
    assert env.step(jax.random.key(0), state, env.action_space().sample(jax.random.key(0)))[1].time == 3
