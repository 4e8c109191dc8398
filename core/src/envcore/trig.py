"""Sine and cosine as polynomials, which vectorize on CPU.

XLA's CPU backend calls a scalar routine for each sine. These polynomials are two dozen multiplications and additions,
which XLA vectorizes. The sine and cosine of the same angle share nearly all of them, so both together take 0.9 ns
instead of 5.8 (2,048 angles, one core).

The largest absolute error is 6e-8 for |x| <= 1,000 and 1.4e-7 for |x| <= 10,000, compared with 3e-8 for XLA. The last
bit can therefore differ from XLA's. Beyond that, the error grows by 1.5e-11 |x|. From |x| = 2**24 on, float32 has steps
of two radians, and the results are meaningless. Gradients are accurate to 3.3e-7.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

_PER_QUARTER = np.float32(2 / np.pi)
# pi / 2 in three parts. Products of the first two with up to 2**13 quarter turns are exact (Cody & Waite 1980).
_QUARTER = (np.float32(1.5703125), np.float32(4.8351287841796875e-4), np.float32(3.1391647326017846e-7))
# Minimax polynomials in r**2 on |r| <= pi / 4, of (sin(r) - r) / r**3 and of (cos(r) - 1 + r**2 / 2) / r**4.
_SINE = (np.float32(-0.1666665057347796), np.float32(0.008331973266467204), np.float32(-0.00019494950297650325))
_COSINE = (np.float32(0.04166664674777803), np.float32(-0.0013887361450249435), np.float32(2.4437730101842556e-05))


# Jitted so that a program traces the polynomials once per shape, not once per call.
@functools.partial(jax.jit, inline=True)
def sin(x: jax.Array) -> jax.Array:
    """Sine of float32 angles in radians, any shape. The absolute error is at most 6e-8 for |x| <= 1,000."""
    quarter, sine, cosine = _reduce(x)
    return _signed(jnp.where((quarter & 1) == 1, cosine, sine), quarter & 2)


@functools.partial(jax.jit, inline=True)
def cos(x: jax.Array) -> jax.Array:
    """Cosine of float32 angles in radians, any shape. The absolute error is at most 6e-8 for |x| <= 1,000."""
    quarter, sine, cosine = _reduce(x)
    return _signed(jnp.where((quarter & 1) == 1, sine, cosine), (quarter + 1) & 2)


@functools.partial(jax.jit, inline=True)
def _reduce(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Returns the quarter turn nearest to x, and the sine and cosine of the remainder."""
    turns = jnp.round(x * _PER_QUARTER)
    first = x - turns * _QUARTER[0]
    second = turns * _QUARTER[1] + turns * _QUARTER[2]
    rest = first - second
    lost = (first - rest) - second  # the rounding error of `rest`
    square = rest * rest
    sine = rest + (lost + rest * square * (_SINE[0] + square * (_SINE[1] + square * _SINE[2])))
    half = np.float32(0.5) * square
    near = np.float32(1) - half
    tail = square * square * (_COSINE[0] + square * (_COSINE[1] + square * _COSINE[2])) - rest * lost
    cosine = near + (((np.float32(1) - near) - half) + tail)
    return turns.astype(jnp.int32), sine, cosine


def _signed(value: jax.Array, negative: jax.Array) -> jax.Array:
    return jnp.where(negative == 2, -value, value)
