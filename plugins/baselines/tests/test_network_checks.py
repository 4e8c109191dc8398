"""Which networks fit an algorithm."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from envcore_baselines.networks import checked_network


class Network(NamedTuple):
    init: Any
    apply: Any


OBS = jnp.zeros(4)


def init(key: jax.Array, obs: jax.Array) -> jax.Array:
    return jnp.zeros((obs.shape[-1], 3))


def test_a_network_that_fits() -> None:
    values = Network(init, lambda weights, obs: obs @ weights)
    assert checked_network(values, OBS, {"values": (3,)}) is values
    both = Network(init, lambda weights, obs: (obs @ weights, obs[:, 0]))
    assert checked_network(both, jax.ShapeDtypeStruct((4,), jnp.float32), {"logits": (3,), "values": ()}) is both


def test_a_class_of_networks_takes_the_number_of_outputs() -> None:
    class Sized:
        def __init__(self, size: int):
            self.size = size

        def init(self, key: jax.Array, obs: jax.Array) -> jax.Array:
            return jnp.zeros((obs.shape[-1], self.size))

        def apply(self, weights: jax.Array, obs: jax.Array) -> jax.Array:
            return obs @ weights

    assert checked_network(Sized, OBS, {"values": (5,)}).size == 5


def without_size() -> type:
    class Sizeless:
        init, apply = staticmethod(init), staticmethod(lambda weights, obs: obs @ weights)

    return Sizeless


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (Network(init, lambda weights, obs: obs), r", got \(\(2, 4\), 'float32'\) for n = 2\.$"),
        (Network(init, lambda weights, obs: (obs @ weights).squeeze()), r", got \(\(3,\), 'float32'\) for n = 1\.$"),
        (
            Network(lambda key, obs: jnp.zeros((len(obs), 3)), lambda weights, obs: weights),
            r", got \(\(1, 3\), .* n = 2\.$",
        ),
        (Network(init, lambda weights, obs: (obs @ weights).astype(jnp.float16)), "'float16'"),
        (Network(init, lambda weights, obs: (obs @ weights, obs)), r", got \(\(\(2, 3\), 'float32'\), "),
        (Network(init, lambda weights, obs: weights["none"]), ", but it fails: .*Error: "),
        (Network(init, lambda weights, obs: [1 / 0]), ", but it fails: ZeroDivisionError: division by zero$"),
        (without_size(), ", but it fails: TypeError: .*argument"),
    ],
)
def test_a_network_that_does_not_fit(network: Any, message: str) -> None:
    start = r"^the network must map observations to values float32 \(n, 3\)"
    with pytest.raises(ValueError, match=start + ".*" + message):
        checked_network(network, OBS, {"values": (3,)})


def test_weights_that_cannot_learn() -> None:
    network = Network(lambda key, obs: {"layers": 3, "w": init(key, obs)}, lambda weights, obs: obs @ weights["w"])
    with pytest.raises(ValueError, match="the weights of the network must be floats, which learn, got int32"):
        checked_network(network, OBS, {"values": (3,)})
    nothing = Network(lambda key, obs: {}, lambda weights, obs: obs[:, :3])
    with pytest.raises(ValueError, match="the network has no weights, so it cannot learn"):
        checked_network(nothing, OBS, {"values": (3,)})
