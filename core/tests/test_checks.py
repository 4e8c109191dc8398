from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import checks
from envcore.errors import InvalidArgumentError


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_a_positive_integer_becomes_an_int(value: Any) -> None:
    found = checks.positive_integer("num", value)
    assert (type(found), found) == (int, 3)


@pytest.mark.parametrize("value", [0, -1, True, 3.0, "3", None, np.float32(3), np.arange(3), jnp.int32(3)])
def test_anything_else_is_not_one(value: Any) -> None:
    with pytest.raises(ValueError, match="num must be a positive integer, got"):
        checks.positive_integer("num", value)


def test_the_caller_chooses_the_error_and_the_bound() -> None:
    with pytest.raises(InvalidArgumentError, match="num must be a positive integer, got 0"):
        checks.positive_integer("num", 0, InvalidArgumentError)
    assert checks.positive_integer("num", 5_000, at_most=5_000) == 5_000
    with pytest.raises(ValueError, match="num must be at most 5,000, got 5001"):
        checks.positive_integer("num", 5_001, at_most=5_000)


@pytest.mark.parametrize("value", [0, 1e-50, -1.0, float("nan"), "1", True])
def test_a_positive_number(value: Any) -> None:
    assert checks.positive_number("epsilon", np.float64(0.5)) == 0.5
    with pytest.raises(ValueError, match="epsilon must be a "):
        checks.positive_number("epsilon", value)


@pytest.mark.parametrize("value", [2**24 + 1, 10**400, float("inf")])
def test_a_size(value: Any) -> None:
    checks.check_size("rows", 2**24)
    with pytest.raises(ValueError, match=r"^rows must be at most 16,777,216, got"):
        checks.check_size("rows", value)


@pytest.mark.parametrize("value", [float("inf"), 1e39, 10**400, "1", True, jnp.float32(1)])
def test_a_finite_number(value: Any) -> None:
    assert checks.finite_number("gamma", 1) == 1.0
    with pytest.raises(ValueError, match="gamma must be a finite Python or numpy number"):
        checks.finite_number("gamma", value)


@pytest.mark.parametrize("value", [0, 1, "True", None])
def test_a_flag(value: Any) -> None:
    assert checks.flag("frozen", np.bool_(True)) is True
    with pytest.raises(ValueError, match="frozen must be True or False"):
        checks.flag("frozen", value)


class Network(NamedTuple):
    init: Any
    apply: Any


OBS = jnp.zeros(4)


def init(key: jax.Array, obs: jax.Array) -> jax.Array:
    return jnp.zeros((obs.shape[-1], 3))


def test_a_network_that_fits() -> None:
    values = Network(init, lambda weights, obs: obs @ weights)
    assert checks.network(values, OBS, {"values": (3,)}) is values
    both = Network(init, lambda weights, obs: (obs @ weights, obs[:, 0]))
    assert checks.network(both, jax.ShapeDtypeStruct((4,), jnp.float32), {"logits": (3,), "values": ()}) is both


def test_a_class_of_networks_takes_the_number_of_outputs() -> None:
    class Sized:
        def __init__(self, size: int):
            self.size = size

        def init(self, key: jax.Array, obs: jax.Array) -> jax.Array:
            return jnp.zeros((obs.shape[-1], self.size))

        def apply(self, weights: jax.Array, obs: jax.Array) -> jax.Array:
            return obs @ weights

    assert checks.network(Sized, OBS, {"values": (5,)}).size == 5


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
        checks.network(network, OBS, {"values": (3,)})


def test_weights_that_cannot_learn() -> None:
    network = Network(lambda key, obs: {"layers": 3, "w": init(key, obs)}, lambda weights, obs: obs @ weights["w"])
    with pytest.raises(ValueError, match="the weights of the network must be floats, which learn, got int32"):
        checks.network(network, OBS, {"values": (3,)})
    nothing = Network(lambda key, obs: {}, lambda weights, obs: obs[:, :3])
    with pytest.raises(ValueError, match="the network has no weights, so it cannot learn"):
        checks.network(nothing, OBS, {"values": (3,)})
