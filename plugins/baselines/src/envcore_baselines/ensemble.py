"""Small networks that work side by side, the members of an ensemble, as pure functions."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random

Layers = tuple[tuple[jax.Array, jax.Array], ...]
"""Weights, (members, inputs, outputs), and biases, (members, outputs), of each layer."""


def init(key: jax.Array, members: int, sizes: tuple[int, ...]) -> Layers:
    """Normal weights of variance 1 / inputs, and standard normal biases.

    Args:
      key: a random key.
      members: networks.
      sizes: inputs, units of the hidden layers, outputs.
    """
    keys = random.split(key, len(sizes) - 1)
    drawn = [
        random.normal(each, (members, here + 1, there))
        for each, here, there in zip(keys, sizes, sizes[1:], strict=False)
    ]
    return tuple((each[:, :-1] / np.sqrt(np.float32(each.shape[1] - 1)), each[:, -1]) for each in drawn)


def outputs(layers: Layers, inputs: jax.Array) -> jax.Array:
    """What every member makes of the same inputs, (N, inputs), with rectified linear units: (N, members, outputs)."""
    (weights, bias), *others = layers
    x = jnp.einsum("ni,mio->nmo", inputs, weights) + bias
    for weights, bias in others:
        x = jnp.einsum("nmi,mio->nmo", jax.nn.relu(x), weights) + bias
    return x
