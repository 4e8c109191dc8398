"""Auto-reset of finished environments alone, for libraries whose resets cost much more than a step."""

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
    """Returns `fresh(*args)` where `done`, bool (), else `state`, which has the same types.

    What `fresh` needs of traced values, such as a key and params, must come through `args`. Under `vmap` it is computed
    in chunks of 32 finished environments: 12 times faster than for all of them where a reset builds a permutation or a
    maze, 0.87 times where it draws a few numbers. Where that is differentiated, all are computed.
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
    chunk = min(_CHUNK, size) if isinstance(size, int) else _CHUNK  # `jax.export` can leave the size open
    # The numbers of the finished environments, then `size` as filling: gathers clamp it, scatters drop it.
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
