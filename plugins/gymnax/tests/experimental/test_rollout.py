"""Rollouts with a policy."""

import envcore
import envcore_gymnax as gymnax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_gymnax.experimental import RolloutWrapper

# pyright: reportAttributeAccessIssue=false, reportPossiblyUnboundVariable=false


def choose(policy_params, obs, key):
    return (obs @ policy_params > 0).astype(jnp.int32)


@pytest.mark.slow
def test_rollouts():
    manager = RolloutWrapper(choose, env_name="CartPole-v1", env_params={"max_steps_in_episode": 20})
    assert manager.input_shape == (4,)
    assert manager.num_env_steps == 20
    keys, population = jax.random.split(jax.random.key(0), 3), jnp.eye(4)[:2]
    obs, action, reward, next_obs, done, cum_return = manager.population_rollout(keys, population)
    assert obs.shape == next_obs.shape == (2, 3, 20, 4)
    assert action.shape == reward.shape == done.shape == (2, 3, 20)
    assert cum_return.shape == (2, 3, 1)
    length = int(np.flatnonzero(done[0, 0])[0]) + 1
    assert cum_return[0, 0, 0] == reward[0, 0, :length].sum()
    one = manager.single_rollout(keys[0], population[0])
    np.testing.assert_array_equal(one[-1], cum_return[0, 0])


def test_rollouts_of_random_actions_and_made_environments():
    env, _ = gymnax.make("Catch-bsuite")
    manager = RolloutWrapper(env=env, num_env_steps=9)
    *_, cum_return = manager.batch_rollout(jax.random.split(jax.random.key(0), 5), None)
    assert (manager.input_shape, cum_return.shape) == ((10, 5), (5, 1))
    assert set(cum_return.ravel().tolist()) <= {-1.0, 1.0}
    with pytest.raises(InvalidArgumentError, match="neither env_name nor env_kwargs"):
        RolloutWrapper(env=env, env_name="Catch-bsuite")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda env: RolloutWrapper(env=env, num_env_steps=0), "num_env_steps must be a positive integer, got 0"),
        (
            lambda env: RolloutWrapper(env=envcore.make("Breakout-MinAtar")[0]),
            "Breakout has no time limit: pass num_env_steps",
        ),
        (
            lambda env: RolloutWrapper(env=env, env_params={"max_steps_in_episode": 2**31 - 1}),
            "CartPole-v1 has no time limit: pass num_env_steps",
        ),
        (lambda env: RolloutWrapper(env=env, env_params={"gravityy": 1}), "CartPoleParams has no param 'gravityy'"),
    ],
)
def test_invalid_arguments(make, message):
    with pytest.raises(InvalidArgumentError, match=message):
        make(gymnax.make("CartPole-v1")[0])
