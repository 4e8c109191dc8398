"""How often each action was taken where an agent has been, as pure functions: a hash table of observations.

A place is an observation, exactly. Where two places have the same cell of the table, the later one is not stored: its
visits are not counted, and it is a surprise every time.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

CELLS = 2**16


class Visits(NamedTuple):
    """Counts of visits.

    Attributes:
      codes: the hash of the place in each cell, 0 where there is none, uint32 (CELLS,).
      counts: how often each action was taken there, float32 (CELLS, actions).
      surprises: number of visits of places that had not been stored before, float32 ().
      total: number of visits, float32 ().
    """

    codes: jax.Array
    counts: jax.Array
    surprises: jax.Array
    total: jax.Array

    @property
    def recurrence(self) -> jax.Array:
        """The share of the visits that were not the first one of their place, float32 ()."""
        return 1 - self.surprises / jnp.maximum(self.total, 1)


def empty(actions: int) -> Visits:
    """No visits."""
    none = jnp.float32(0)
    return Visits(jnp.zeros(CELLS, jnp.uint32), jnp.zeros((CELLS, actions)), none, none)


def visit(visits: Visits, obs: jax.Array) -> tuple[Visits, jax.Array]:
    """Stores the place of an observation, float32 (size,); returns its cell, int32 (), or -1 if it is taken."""
    bits = jax.lax.bitcast_convert_type(jnp.where(obs == 0, 0.0, obs), jnp.uint32)  # -0.0 and 0.0 are equal
    code = jnp.maximum(_mixed((_mixed(bits) * _factors(obs.size)).sum(dtype=jnp.uint32)), 1)
    cell = (code % CELLS).astype(jnp.int32)
    there = visits.codes[cell]
    is_empty, is_known = there == 0, there == code
    codes = visits.codes.at[cell].set(jnp.where(is_empty, code, there))
    visits = visits._replace(
        codes=codes,
        surprises=visits.surprises + jnp.where(is_known, 0.0, 1.0),
        total=visits.total + 1,
    )
    return visits, jnp.where(is_empty | is_known, cell, -1)


def count(visits: Visits, cell: jax.Array, action: jax.Array) -> Visits:
    """Counts an action that was taken in a cell; none where the cell is -1."""
    return visits._replace(counts=visits.counts.at[cell, action].add(jnp.where(cell < 0, 0.0, 1.0)))


def counts(visits: Visits, cells: jax.Array) -> jax.Array:
    """How often each action was taken in cells, int32 (...): float32 (..., actions), infinite where a cell is -1."""
    return jnp.where(cells[..., None] < 0, jnp.inf, visits.counts[cells])


def _factors(size: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2**31, size, np.uint32) * np.uint32(2) + np.uint32(1)


def _mixed(code: jax.Array) -> jax.Array:
    """Spreads differences in any bits over the lower ones, which choose the cell."""
    code = (code ^ (code >> 15)) * jnp.uint32(0x85EBCA6B)
    return code ^ (code >> 13)
