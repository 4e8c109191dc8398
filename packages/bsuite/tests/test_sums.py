from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore_bsuite import sums


def test_ten_thousand_terms_keep_their_digits() -> None:
    terms = np.random.default_rng(0).choice(np.linspace(0, 1, 11), 10_000).astype(np.float32)

    def add(carry: tuple[jax.Array, jax.Array], term: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
        return sums.add(*carry, term), None

    (total, excess), _ = jax.jit(lambda terms: jax.lax.scan(add, (jnp.float32(0), jnp.float32(0)), terms))(terms)
    exact = terms.astype(np.float64).sum()
    assert abs(float(total) - float(excess) - exact) < 1e-9 * exact
    plain = np.cumsum(terms, dtype=np.float32)[-1]
    assert abs(float(plain) - exact) > 1e-6 * exact  # which is what `sums` is for
