from __future__ import annotations

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import threefry
from jax import lax

KEY = jax.random.key(42)
WORDS = np.asarray(jax.random.key_data(KEY))


@pytest.fixture(params=["cpu", "cuda"])
def platform(request, monkeypatch):
    """The platform whose branch runs here; functions that are jitted would keep the other one."""

    def choose(*args, cpu, default):
        return (cpu if request.param == "cpu" else default)(*args)

    monkeypatch.setattr(lax, "platform_dependent", choose)


@pytest.mark.usefixtures("platform")
class TestOnEveryPlatform:
    @pytest.mark.parametrize("shape", [(), (0,), (1,), (3,), (2, 2), (5,)])
    def test_words_are_those_of_jax(self, shape):
        found = inspect.unwrap(threefry.words)(WORDS, shape)
        np.testing.assert_array_equal(found, jax.random.bits(KEY, shape, jnp.uint32), strict=True)

    @pytest.mark.parametrize("num", [0, 1, 2, 4, 5])
    def test_keys_are_those_of_jax(self, num):
        found = inspect.unwrap(threefry.keys)(WORDS, num)
        np.testing.assert_array_equal(found, jax.random.key_data(jax.random.split(KEY, num)), strict=True)


@pytest.mark.skipif(jax.__version_info__ < (0, 7), reason="JAX 0.6 leaves the choice of the platform to XLA")
@pytest.mark.parametrize(("num", "platform", "is_apart"), [(3, "cpu", False), (3, "cuda", True), (5, "cuda", False)])
def test_a_few_words_are_computed_one_by_one_on_gpus_alone(num, platform, is_apart):
    draw = jax.jit(lambda key: threefry.words(key, (num,)))
    lowered = draw.trace(WORDS).lower(lowering_platforms=(platform,)).as_text()
    assert ("stablehlo.concatenate" in lowered) == is_apart


def test_a_block_goes_on_where_another_ends():
    whole = threefry.block(WORDS, 0, (7,))
    np.testing.assert_array_equal(threefry.block(WORDS, 3, (2, 2)), whole[3:].reshape(2, 2), strict=True)


def test_a_block_has_a_largest_size():
    threefry.check_block(2**32 - 1)
    with pytest.raises(ValueError, match="a block of 4294967296 random words is more than one key can generate"):
        threefry.check_block(2**32)
