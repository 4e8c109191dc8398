"""Auto-reset that computes resets of finished environments only, for libraries with expensive resets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
from envcore import trees
from envcore.devices import vary_alike
from envcore.fusion import recomputed
from envcore.typing import PyTree
from jax import lax
from jax.custom_batching import custom_vmap

T = TypeVar("T")

_CHUNK = 32


def reset_finished(done: jax.Array, fresh: Callable[..., T], state: T, *args: PyTree) -> T:
    """Returns `fresh(*args)` if `done`, bool (), else `state`, which has the same types.

    Pass traced values that `fresh` needs, such as a key and params, through `args`. Under `vmap`, resets are computed
    in chunks of 32 finished environments. Compared with resetting all environments, this is 12 times faster if a reset
    builds a permutation or a maze, and 0.87 times as fast if it draws a few numbers. When differentiated, all
    environments are reset.
    """

    @custom_vmap
    def reset(done: jax.Array, state: T, args: PyTree) -> T:
        return lax.cond(done, lambda: vary_alike(fresh(*args), state), lambda: state)

    @reset.def_vmap
    def _(axis_size: int, in_batched: PyTree, done: jax.Array, state: T, args: PyTree) -> PyTree:  # pyright: ignore[reportUnusedFunction]
        *batched, args_batched = in_batched
        done, state = jax.tree.map(
            lambda x, b: x if b else jnp.broadcast_to(x, (axis_size, *jnp.shape(x))), [done, state], batched
        )
        result = _reset_chunks(done, fresh, state, args, args_batched, axis_size)
        return result, jax.tree.map(lambda _: True, result)

    # JAX cannot differentiate the loop over chunks in reverse.
    @jax.custom_jvp
    def differentiable(done: jax.Array, state: T, args: PyTree) -> T:
        return reset(done, state, args)

    def all_computed(done: jax.Array, state: T, args: PyTree) -> T:
        return trees.where(done, fresh(*args), state)

    differentiable.defjvp(lambda primals, tangents: jax.jvp(all_computed, primals, tangents))
    return differentiable(done, state, args)


def _reset_chunks(
    done: jax.Array, fresh: Callable[..., T], state: T, args: PyTree, args_batched: PyTree, size: int
) -> T:
    chunk = min(_CHUNK, size) if isinstance(size, int) else _CHUNK  # symbolic in `jax.export`
    # Indices of finished environments, padded with `size`, which gathers clamp and scatters drop.
    finished = jnp.nonzero(done, size=size + chunk, fill_value=size)[0].astype(jnp.int32)
    count = done.sum(dtype=jnp.int32)
    axes = jax.tree.map(lambda b: 0 if b else None, args_batched)

    def body(carry: tuple[jax.Array, T]) -> tuple[jax.Array, T]:
        start, current = carry
        index = lax.dynamic_slice_in_dim(finished, start, chunk)
        own = jax.tree.map(lambda x, b: x.at[index].get(mode="clip") if b else x, args, args_batched)
        new = vary_alike(jax.vmap(lambda each: fresh(*each), (axes,), axis_size=chunk)(own), current)
        current = jax.tree.map(lambda x, y: x.at[index].set(y, mode="drop"), current, new)
        return start + jnp.int32(chunk), current

    end, result = lax.while_loop(lambda carry: carry[0] < count, body, (jnp.int32(0), state))
    return jax.tree.map(lambda x: recomputed(x, end) if x.dtype == jnp.bool_ and x.ndim > 2 else x, result)
