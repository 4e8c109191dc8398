import jax
import jax.numpy as jnp
import numpy as np
from evaluated import evaluated
from jax import lax

PLACES = np.array([0, 3, -2, 9], np.int32)
TABLE = np.random.default_rng(0).integers(0, 100, 200).astype(np.int32)


def test_arrays_are_indexed_as_by_xla():
    def fun(x, i):
        return [
            lax.dynamic_slice(x, (i[1], i[2]), (2, 2)),
            lax.dynamic_update_slice(x, i.reshape(2, 2), (i[1], i[0])),
            x[i[1], i[2]],
            x[i],
            jnp.take(x, i, axis=1, mode="fill"),
            jnp.take_along_axis(x, jnp.stack([i] * 5) % 4, axis=1),
            x.at[i[1], i[2]].set(99),
            x.at[i].add(i[:, None]),
            x.at[i[1]].multiply(2),
            x.at[:, i[1]].max(7),
            x.at[1:3].set(i[0]),
            x.at[i, 1].min(5, mode="clip"),
            jax.vmap(lambda row, j: row.at[j].set(50))(x, jnp.arange(5) + i[0]),
            jnp.asarray(TABLE)[i * 60],
        ]

    x = np.arange(20, dtype=np.int32).reshape(5, 4)
    for ours, theirs in zip(evaluated(fun, x, PLACES)(x, PLACES), jax.jit(fun)(x, PLACES), strict=True):
        np.testing.assert_array_equal(ours, theirs)
