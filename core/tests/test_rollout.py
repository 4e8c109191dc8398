from __future__ import annotations

import pickle
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random
from envcore.devices import IS_SUPPORTED
from envcore.errors import InvalidArgumentError, InvalidParamsError
from envcore.rollout import (
    STEPS_WITHOUT_TIME_LIMIT,
    RolloutWrapper,
    random_policy,
    run_rollout,
    start_rollout,
)
from envcore.wrappers import Batched, LogWrapper
from toy import Counter, Deck, Spring

KEY = jax.random.key(0)


def test_run_rollout_equals_a_python_loop() -> None:
    env = Spring()
    policy = random_policy(env)
    start = start_rollout(env, KEY)
    end, steps = run_rollout(env, policy, start, 15)
    key, state = start.key, start.state
    for t in range(15):
        key, key_act, key_step = random.spawn(key, 3)
        obs = env.observe(state, env.default_params)
        action = policy(None, obs, key_act)
        _, state, reward, done, info = env.step(key_step, state, action)
        np.testing.assert_allclose(steps.obs[t], obs, rtol=1e-6)
        np.testing.assert_allclose(steps.action[t], action)
        np.testing.assert_allclose(steps.reward[t], reward, rtol=1e-5)
        np.testing.assert_allclose(steps.next_obs[t], info["final_obs"], rtol=1e-6)
        assert bool(steps.done[t]) == bool(done)
        assert bool(steps.info["truncated"][t]) == bool(info["truncated"])
    chex.assert_trees_all_close(end.state, state)


@pytest.mark.slow
def test_run_rollout_in_two_parts_equals_one() -> None:
    env = LogWrapper(Batched(Spring(), 4))
    policy = random_policy(env)
    start = start_rollout(env, KEY)
    whole, steps = run_rollout(env, policy, start, 12)
    half, first = run_rollout(env, policy, start, 5)
    end, second = run_rollout(env, policy, half, 7)
    chex.assert_trees_all_equal(end.state, whole.state, strict=True)
    np.testing.assert_array_equal(jnp.concatenate([first.reward, second.reward]), steps.reward)


def test_next_obs_is_the_final_one_at_the_end_of_an_episode() -> None:
    env = Spring()
    _, steps = run_rollout(env, random_policy(env), start_rollout(env, KEY), 50)
    ends = np.flatnonzero(steps.done[:-1])
    goes_on = np.flatnonzero(~steps.done[:-1])
    assert ends.size
    np.testing.assert_allclose(steps.obs[1:][goes_on], steps.next_obs[:-1][goes_on], rtol=1e-6)
    assert (steps.obs[1:][ends] != steps.next_obs[:-1][ends]).any()
    assert (steps.obs[1:][ends][:, 1] == 0).all()  # a fresh spring is at rest


def test_collect_selects_what_is_kept() -> None:
    env = Counter()
    _, rewards = run_rollout(env, random_policy(env), start_rollout(env, KEY), 6, collect=lambda step: step.reward)
    assert rewards.shape == (6,)


def test_policies_see_params_and_observations() -> None:
    def policy(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
        return jnp.where(obs[0] == 1, policy_params, 1 - policy_params)  # acts on the first count only

    _, steps = run_rollout(Counter(), policy, start_rollout(Counter(), KEY), 6, policy_params=jnp.int32(1))
    assert steps.action.tolist() == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("num_steps", [0, -1, 2.0, True])
def test_run_rollout_needs_a_number_of_steps(num_steps: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="num_steps must be a positive integer"):
        run_rollout(Counter(), random_policy(Counter()), start_rollout(Counter(), KEY), num_steps)


def test_wrapper_shapes_and_first_return() -> None:
    manager = RolloutWrapper(env_name=Spring(), num_env_steps=40)
    keys = jax.random.split(KEY, 3)
    obs, action, reward, next_obs, done, cum_return = manager.batch_rollout(keys)
    assert obs.shape == next_obs.shape == (3, 40, 2)
    assert action.shape == (3, 40, 1)
    for i in range(3):
        length = int(np.argmax(done[i])) + 1
        assert done[i].any()
        np.testing.assert_allclose(cum_return[i], reward[i, :length].sum(), rtol=1e-5)
    single = manager.single_rollout(keys[1])
    np.testing.assert_allclose(single[2], reward[1], rtol=1e-5)


def test_population() -> None:
    def policy(policy_params: Any, obs: Any, key: jax.Array) -> jax.Array:
        return policy_params["push"]

    manager = RolloutWrapper(policy, Spring(), num_env_steps=5)
    _, action, *_, cum_return = manager.population_rollout(
        jax.random.split(KEY, 3), {"push": jnp.array([[0.5], [-0.5]])}
    )
    assert cum_return.shape == (2, 3)
    assert (action[0] == 0.5).all()
    assert (action[1] == -0.5).all()


def test_length_and_params() -> None:
    assert RolloutWrapper(env_name=Counter()).num_env_steps == 10
    manager = RolloutWrapper(env_name=Counter(), env_params={"max_steps_in_episode": 4, "bonus": 2.0})
    assert manager.num_env_steps == 4
    reward = manager.batch_rollout(jax.random.split(KEY, 20))[2]
    assert set(np.unique(reward)) == {0.0, 2.0}


def test_without_a_time_limit_a_rollout_has_a_default_length() -> None:
    assert RolloutWrapper(env_name=Deck()).num_env_steps == STEPS_WITHOUT_TIME_LIMIT
    limited = RolloutWrapper(env_name=Deck(), env_params={"max_steps_in_episode": 5})
    assert limited.num_env_steps == 5
    assert RolloutWrapper(env_name=Deck(), num_env_steps=3).single_rollout(KEY)[2].shape == (3,)


def forward(variables: Any, obs: Any, key: jax.Array) -> jax.Array:
    return variables["params"]["push"] + 0 * obs[:1]


@pytest.mark.parametrize(
    ("build", "policy_params"),
    [
        (lambda: RolloutWrapper(env_name=Spring(), num_env_steps=9, env_params={"noise": 0.1}), None),
        (lambda: RolloutWrapper(env_name=Batched(Counter(), 3), num_env_steps=9), None),
        (lambda: RolloutWrapper(env_name=Deck(), num_env_steps=9), None),
    ],
)
def test_a_pickled_wrapper_gives_the_same_rollout(build: Any, policy_params: Any) -> None:
    manager = build()
    copy = pickle.loads(pickle.dumps(manager))
    assert copy.policy == manager.policy
    expected, got = (each.single_rollout(KEY, policy_params) for each in (manager, copy))
    chex.assert_trees_all_equal(expected, got, strict=True)


def test_random_policies_of_equal_spaces_share_a_compilation() -> None:
    assert random_policy(Counter()) == random_policy(Counter(goal=5))
    assert hash(random_policy(Counter())) == hash(random_policy(Counter()))
    assert random_policy(Counter()) != random_policy(Spring())


def test_pmap_over_two_devices() -> None:
    manager = RolloutWrapper(env_name=Counter(), num_env_steps=8)
    keys = jax.random.split(KEY, 6)
    spread = jax.pmap(manager.batch_rollout)(keys.reshape(2, 3))[-1]
    np.testing.assert_array_equal(spread.reshape(-1), manager.batch_rollout(keys)[-1])


def push(policy_params: Any, obs: Any, key: jax.Array) -> jax.Array:
    return policy_params["push"]


@pytest.mark.skipif(not IS_SUPPORTED, reason="needs JAX 0.8")
def test_rollouts_are_spread_over_devices() -> None:
    manager = RolloutWrapper(env_name=Spring(), num_env_steps=40)
    keys = jax.random.split(KEY, 6)
    spread = manager.batch_rollout(keys)
    assert all(len(x.sharding.device_set) == 2 for x in spread)
    inside = jax.jit(manager.batch_rollout)(keys)  # where one device does it
    assert all(len(x.sharding.device_set) == 1 for x in inside)
    chex.assert_trees_all_equal(spread, inside, strict=True)
    legacy = manager.batch_rollout(jax.random.key_data(keys))
    np.testing.assert_array_equal(legacy[-1], spread[-1])


@pytest.mark.skipif(not IS_SUPPORTED, reason="needs JAX 0.8")
@pytest.mark.parametrize(("members", "num_keys", "split"), [(4, 3, (2, 3)), (3, 4, (3, 2)), (3, 3, (3, 3))])
def test_a_population_is_spread_over_devices(members: int, num_keys: int, split: tuple[int, int]) -> None:
    manager = RolloutWrapper(push, Spring(), num_env_steps=5)
    keys, population = jax.random.split(KEY, num_keys), {"push": jnp.linspace(-0.5, 0.5, members)[:, None]}
    spread = manager.population_rollout(keys, population)
    assert spread[-1].addressable_shards[0].data.shape == split
    chex.assert_trees_all_equal(spread, jax.jit(manager.population_rollout)(keys, population), strict=True)


def test_who_places_an_argument_chooses_the_device() -> None:
    manager = RolloutWrapper(env_name=Counter(), num_env_steps=8)
    keys = jax.random.split(KEY, 6)
    second = jax.devices()[1]
    assert manager.batch_rollout(jax.device_put(keys, second))[-1].sharding.device_set == {second}
    with jax.default_device(second):
        assert manager.batch_rollout(keys)[-1].sharding.device_set == {second}
    assert len(manager.batch_rollout(keys[:5])[-1].sharding.device_set) == 1  # which two devices cannot share
    constant = jax.pmap(lambda _: manager.batch_rollout(keys)[-1])(jnp.arange(2))
    np.testing.assert_array_equal(constant[0], manager.batch_rollout(keys)[-1])


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: RolloutWrapper("Counter-v0"),  # pyright: ignore
            InvalidArgumentError,
            "model_forward must be a function, got 'Counter-v0'",
        ),
        (lambda: RolloutWrapper(env_name=Counter), InvalidArgumentError, "env_name must be an id or an Environment"),  # pyright: ignore
        (
            lambda: RolloutWrapper(env_name=Counter(), num_env_steps=0),
            InvalidArgumentError,
            "num_env_steps must be a positive",
        ),
        (
            lambda: RolloutWrapper(env_name=Counter(), env_kwargs={"goal": 2}),
            InvalidArgumentError,
            "already has its options",
        ),
        (
            lambda: RolloutWrapper(env_name=Counter(), env_params={"boni": 1}),
            InvalidParamsError,
            "Counter has no param 'boni'; its params: .*bonus",
        ),
    ],
)
def test_bad_arguments(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()
