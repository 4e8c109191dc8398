"""`Batched` is compared with `vmap`, and batches over two CPU devices with those on one, bit for bit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random, wrappers
from envcore.environment import Environment
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, Sharded
from envcore_testing.trees import value_differences
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from toy import Counter, Deck, Spring

KEY = jax.random.key(3)
NUM_ENVS, NUM_STEPS = 6, 25
SPLIT, SAME = PartitionSpec("envs"), PartitionSpec()

WRAPPED: dict[str, Callable[[Environment], Environment]] = {
    "alone": lambda batch: batch,
    "LogWrapper": wrappers.LogWrapper,
    "StickyAction": wrappers.StickyAction,
    "RescaleAction": lambda batch: wrappers.RescaleAction(batch, -2, 3),
    "ClipAction": wrappers.ClipAction,
    "FrameStack": lambda batch: wrappers.FrameStack(batch, 2),
}
QUICK = ("alone", "LogWrapper")


def test_batched_equals_vmap() -> None:
    env, inner = Batched(Spring(), 5), Spring()
    obs, state = env.reset(KEY)
    expected = jax.vmap(inner.reset)(random.spawn(KEY, 5))
    chex.assert_trees_all_equal((obs, state), expected, strict=True)
    action = env.action_space(env.default_params).sample(KEY)
    ours = env.step(KEY, state, action)
    theirs = jax.vmap(inner.step)(random.spawn(KEY, 5), state, action)
    assert ours[3].shape == (5,)
    chex.assert_trees_all_close(ours[4]["final_obs"], theirs[4]["final_obs"])


def mesh(kind: AxisType = AxisType.Auto) -> Mesh:
    return jax.make_mesh((2,), ("envs",), axis_types=(kind,))


def program(env: Environment, key: jax.Array) -> Any:
    """The last state, and all observations, actions, rewards and ends of a rollout."""
    start = start_rollout(env, key)
    end, steps = run_rollout(env, random_policy(env), start, NUM_STEPS)
    return end.state, (steps.obs, steps.action, steps.reward, steps.done, steps.next_obs)


def shares(fun: Callable[[jax.Array], Any], key: jax.Array) -> Any:
    """What two devices return inside `shard_map`, as whole arrays."""
    out_specs = (SPLIT, PartitionSpec(None, "envs"))
    return jax.jit(jax.shard_map(fun, mesh=mesh(), in_specs=SAME, out_specs=out_specs))(key)


def copies(fun: Callable[[jax.Array], Any], key: jax.Array) -> Any:
    """What two devices return inside `pmap`, as whole arrays."""
    state, steps = jax.device_get(jax.pmap(fun, axis_name="envs")(jnp.stack([key, key])))
    return jax.tree.map(np.concatenate, state), jax.tree.map(lambda x: np.concatenate(x, 1), steps)


def assert_equal(found: Any, expected: Any) -> None:
    assert value_differences(jax.device_get(found), jax.device_get(expected)) == []


@pytest.mark.parametrize(
    "wrapped", [each if each in QUICK else pytest.param(each, marks=pytest.mark.slow) for each in WRAPPED]
)
def test_two_devices_equal_one(wrapped: str) -> None:
    wrap, key = WRAPPED[wrapped], jax.random.key(5)
    expected = jax.jit(lambda key: program(wrap(Batched(Spring(), NUM_ENVS)), key))(key)
    share = wrap(Batched(Spring(), NUM_ENVS // 2, "envs"))
    assert_equal(shares(lambda key: program(share, key), key), expected)
    assert_equal(copies(lambda key: program(share, key), key), expected)
    for kind in (AxisType.Auto, AxisType.Explicit):
        whole = wrap(Sharded(Spring(), NUM_ENVS, NamedSharding(mesh(kind), SPLIT)))
        if kind is AxisType.Auto or wrapped == "alone":
            assert_equal(jax.jit(lambda key, whole=whole: program(whole, key))(key), expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "key"),
    [
        (Counter(), jax.random.PRNGKey(1)),
        (Deck(), jax.random.key(1)),
        # What an "rbg" key draws under vmap depends on the whole batch, so here the environment must not draw.
        (Counter(), jax.random.key(1, impl="rbg")),
    ],
    ids=["legacy key", "expensive reset", "rbg key"],
)
def test_two_devices_equal_one_too_with(env: Environment, key: jax.Array) -> None:
    expected = jax.jit(lambda key: program(Batched(env, NUM_ENVS), key))(key)
    share = Batched(env, NUM_ENVS // 2, "envs")
    assert_equal(shares(lambda key: program(share, key), key), expected)
    assert_equal(jax.jit(lambda key: program(Sharded(env, NUM_ENVS), key))(key), expected)


def test_the_first_axis_is_split_and_no_step_communicates() -> None:
    env = Sharded(Spring(), NUM_ENVS, NamedSharding(mesh(), SPLIT))
    _, state = env.reset(jax.random.key(0))
    obs, state, reward, *_ = env.step(jax.random.key(1), state, jnp.zeros((NUM_ENVS, 1)))
    for array in (obs, state.position, reward):
        assert array.sharding.spec == SPLIT  # pyright: ignore[reportAttributeAccessIssue]
        assert {shard.data.shape[0] for shard in array.addressable_shards} == {NUM_ENVS // 2}
    text = str(jax.jit(lambda key: program(env, key)).lower(jax.random.key(0)).compile().as_text())
    assert "fusion" in text
    assert re.findall(r"all-gather|all-reduce|all-to-all|collective-permute", text) == []


def test_errors() -> None:
    with pytest.raises(ValueError, match="num_envs must be a multiple of the number of devices, 2, got 5"):
        Sharded(Counter(), 5)
    with pytest.raises(ValueError, match="only the outermost Batched may have an axis_name"):
        Batched(Batched(Counter(), 2, "devices"), 3)
    with pytest.raises(TypeError, match="sharding must be a NamedSharding that splits the first axis"):
        Sharded(Counter(), 4, NamedSharding(mesh(), SAME))
