from __future__ import annotations

import functools
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random, trees
from envcore_bridges.base.resets import reset_finished
from envcore_testing.compilation import quick_jit

State = dict[str, Any]


def fresh(key: jax.Array, scale: jax.Array) -> State:
    """A reset that draws and uses an argument."""
    return {"words": random.bits(key, (5,)), "level": random.uniform(key) * scale, "episodes": jnp.int32(-1)}


def reset_where(done: Any, state: State, key: Any, scale: Any, only_finished: bool) -> State:
    if only_finished:
        return reset_finished(done, fresh, state, key, scale)
    return trees.where(done, fresh(key, scale), state)


def states(shape: tuple[int, ...]) -> State:
    number = jnp.arange(np.prod(shape, dtype=int), dtype=jnp.int32).reshape(shape)
    return {
        "words": jnp.broadcast_to(number[..., None].astype(jnp.uint32), (*shape, 5)),
        "level": -number.astype(jnp.float32),
        "episodes": number,
    }


def keys(shape: tuple[int, ...]) -> jax.Array:
    return jax.random.split(jax.random.key(7), shape)


@functools.cache
def compiled(only_finished: bool, *axes: Any) -> Any:
    """`reset_where`, mapped over `axes` from the innermost to the outermost."""

    def reset(done: Any, state: Any, key: Any, scale: Any) -> Any:
        return reset_where(done, state, key, scale, only_finished)

    return quick_jit(functools.reduce(jax.vmap, axes, reset))


def assert_both_ways_agree(done: Any, state: State, key: jax.Array, scale: Any, *axes: Any) -> State:
    """Runs both ways and returns what they agree on, as numpy arrays."""
    plain, finished = (compiled(only, *axes)(done, state, key, scale) for only in (False, True))
    chex.assert_trees_all_equal(plain, finished, strict=True)
    chex.assert_trees_all_equal_dtypes(finished, state)
    return jax.tree.map(np.asarray, finished)


SCALE = jnp.float32(2.0)
EVERY = (0, 0, 0, None)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 31, 32, 33, 100])
def test_every_batch_size_and_share_of_finished_ones(size: int) -> None:
    draws = np.random.default_rng(0).random(size)
    state, key = states((size,)), keys((size,))
    for done in (draws < 0, draws < 2, draws < 0.1, draws < 0.5, np.arange(size) == size - 1):
        result = assert_both_ways_agree(jnp.array(done), state, key, SCALE, EVERY)
        np.testing.assert_array_equal(result["episodes"], np.where(done, -1, np.arange(size)))
        np.testing.assert_array_equal(result["level"] >= 0, done | (np.arange(size) == 0))


@pytest.mark.parametrize("shape", [(3, 7), (2, 40)])
def test_nested_vmap(shape: tuple[int, int]) -> None:
    done = np.random.default_rng(1).random(shape) < 0.3
    result = assert_both_ways_agree(done, states(shape), keys(shape), SCALE, EVERY, EVERY)
    np.testing.assert_array_equal(result["episodes"], np.where(done, -1, np.arange(done.size).reshape(shape)))


@pytest.mark.parametrize("axes", [(0, 0, 0, 0), (0, 0, None, None), (0, None, 0, None), (None, 0, 0, None)])
@pytest.mark.parametrize("done", [True, False])
def test_whatever_is_mapped(axes: tuple[Any, ...], done: bool) -> None:
    size = 35
    values = (
        jnp.arange(size) % 3 == 0 if axes[0] == 0 else jnp.array(done),
        states((size,) if axes[1] == 0 else ()),
        keys((size,) if axes[2] == 0 else ()),
        jnp.arange(size, dtype=jnp.float32) if axes[3] == 0 else SCALE,
    )
    assert_both_ways_agree(*values, axes)


@pytest.mark.parametrize(("finished", "computed"), [(0, 0), (1, 32), (32, 32), (33, 64), (100, 128)])
def test_only_the_finished_are_computed_in_chunks(finished: int, computed: int) -> None:
    sizes: list[int] = []

    def count(x: Any) -> Any:
        sizes.append(np.size(x))
        return x

    def counted(one: jax.Array) -> jax.Array:
        return jax.pure_callback(count, jax.ShapeDtypeStruct((), jnp.float32), one, vmap_method="expand_dims")

    reset = jax.jit(jax.vmap(lambda done, state, one: reset_finished(done, counted, state, one)))
    result = reset(jnp.arange(100) < finished, jnp.zeros(100), jnp.ones(100))
    assert float(result.sum()) == finished
    assert sum(sizes) == computed


def test_reverse_mode() -> None:
    size = 40
    done, state, key = jnp.arange(size) % 3 == 0, states((size,)), keys((size,))

    def level(scale: jax.Array, old: jax.Array, done: Any, state: Any, key: Any) -> jax.Array:
        return reset_finished(done, fresh, {**state, "level": old}, key, scale)["level"]

    rows = (state["level"], done, state, key)
    by_scale, by_level = quick_jit(jax.vmap(jax.grad(level, (0, 1)), (None, 0, 0, 0, 0)))(SCALE, *rows)
    after = quick_jit(jax.vmap(level, (None, 0, 0, 0, 0)))(SCALE, *rows)
    np.testing.assert_allclose(by_scale, np.where(done, after / SCALE, 0), rtol=1e-6)
    np.testing.assert_array_equal(by_level, ~done)


def test_inside_shard_map_with_one_key_for_all_devices() -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("envs",))
    done, state = jnp.arange(8) % 2 == 0, states((8,))

    def reset(done: Any, state: Any, key: Any) -> Any:
        return jax.vmap(lambda done, state: reset_finished(done, fresh, state, key, SCALE))(done, state)

    split = jax.sharding.PartitionSpec("envs")
    mapped = jax.shard_map(reset, mesh=mesh, in_specs=(split, split, jax.sharding.PartitionSpec()), out_specs=split)
    expected = jax.jit(reset)(done, state, keys(()))
    chex.assert_trees_all_equal(jax.jit(mapped)(done, state, keys(())), expected)
