"""`spread`: what two CPU devices draw together is what one draws."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import devices, random, spaces
from envcore.devices import all_devices, spread
from envcore.errors import EnvcoreError
from envcore_testing.trees import value_differences

on_supported = pytest.mark.skipif(not devices.IS_SUPPORTED, reason="this JAX is too old")


@on_supported
@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(5),
        spaces.MultiDiscrete([2, 70_000]),
        spaces.Box(-1.0, 2.0, (3,)),
        spaces.Box(-np.inf, [0.0, np.inf]),
        spaces.Box(0, 2**31 - 1, (2,), jnp.int32),
        spaces.Box(False, True, (2,), jnp.bool_),
        spaces.Tuple([spaces.Discrete(3), spaces.Dict({"a": spaces.Box(0.0, 1.0)})]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["threefry2x32", "rbg"])
def test_shares_of_a_space_are_sampled_together(space: spaces.Space, kind: str) -> None:
    key = jax.random.key(3, impl=kind)
    share = space.batch(4, "envs")
    assert share != space.batch(4)
    assert share == space.batch(4, "envs")
    assert "axis_name='envs'" in repr(share)
    sample = spread(share.sample, all_devices(), (False,))
    values = jax.jit(sample)(key)
    assert value_differences(jax.device_get(values), jax.device_get(space.batch(8).sample(key))) == []
    assert space.batch(8).contains(values)


@on_supported
def test_shares_of_keys_and_words() -> None:
    for key in (jax.random.key(3), jax.random.key(3, impl="rbg")):
        keys = jax.jit(spread(lambda key: random.spawn(key, 3, "envs"), all_devices(), (False,)))(key)
        assert (keys == random.spawn(key, 6)).all()
        words = jax.jit(spread(lambda key: random.normal(key, (3, 2), "envs"), all_devices(), (False,)))(key)
        np.testing.assert_array_equal(words, random.normal(key, (6, 2)))
    with pytest.raises(ValueError, match="more than one key can generate"):
        jax.eval_shape(
            spread(lambda key: random.bits(key, (2**31, 1), "envs"), all_devices(), (False,)), jax.random.key(0)
        )


def test_a_jax_without_a_map_over_devices_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(jax, "shard_map", raising=False)
    monkeypatch.setattr(devices, "IS_SUPPORTED", False)
    with pytest.raises(EnvcoreError, match=r"a program on several devices needs JAX .* or newer, this is"):
        spread(lambda x: x, all_devices(), (True,))
