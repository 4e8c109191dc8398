from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random
from envcore.errors import InvalidArgumentError
from envcore.random import key_of
from scipy import stats
from switches import switched

KEY_MAKERS = [jax.random.key, jax.random.PRNGKey]
SHAPES = [(), (0,), (7,), (2, 3, 4)]
SEEDS = [0, 42, 2**31 - 1]
STREAM = 1 << 14
# Only programs compiled with optimizations, as users run them, are equal to the last bit.
optimized_jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 3})


def key_words(keys):
    is_typed = jnp.issubdtype(keys.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(keys) if is_typed else keys)


def assert_same_keys(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(key_words(actual), key_words(expected))


class TestEqualToJaxRandom:
    """Bit for bit what jax.random returns, for typed and legacy threefry keys."""

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_bits(self, make_key, shape):
        jitted = jax.jit(lambda key: random.bits(key, shape))
        for key in map(make_key, SEEDS):
            expected = jax.random.bits(key, shape, jnp.uint32)
            np.testing.assert_array_equal(random.bits(key, shape), expected, strict=True)
            np.testing.assert_array_equal(jitted(key), expected, strict=True)

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    @pytest.mark.parametrize("num", [0, 1, 3, 64])
    def test_split(self, make_key, num):
        jitted = jax.jit(lambda key: random.split(key, num))
        for key in map(make_key, SEEDS):
            expected = jax.random.split(key, num)
            assert_same_keys(random.split(key, num), expected)
            assert_same_keys(jitted(key), expected)

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    @pytest.mark.parametrize("number", [0, 2**32 - 1, np.int32(-3)])
    def test_fold_in(self, make_key, number):
        jitted, mapped = jax.jit(random.fold_in), jax.vmap(random.fold_in, (None, 0))
        for key in map(make_key, SEEDS):
            word, expected = np.uint32(int(number) % 2**32), jax.random.fold_in(key, number)
            assert_same_keys(random.fold_in(key, number), expected)
            assert_same_keys(jitted(key, word), expected)
            assert_same_keys(mapped(key, np.array([word])), expected[None])

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    @pytest.mark.parametrize("shape", [(), (1000,)])
    def test_uniform_under_jit(self, make_key, shape):
        low, high = -0.6, 1.7
        ours = optimized_jit(lambda key: (random.uniform(key, shape), random.uniform(key, shape, low, high)))
        jaxs = optimized_jit(
            lambda key: (
                jax.random.uniform(key, shape, jnp.float32),
                jax.random.uniform(key, shape, jnp.float32, low, high),
            )
        )
        for key in map(make_key, SEEDS):
            for actual, expected in zip(ours(key), jaxs(key), strict=True):
                np.testing.assert_array_equal(actual, expected, strict=True)

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    @pytest.mark.parametrize("shape", [(), (1000,)])
    def test_normal_under_jit(self, make_key, shape):
        ours = optimized_jit(lambda key: random.normal(key, shape))
        jaxs = optimized_jit(lambda key: jax.random.normal(key, shape, jnp.float32))
        for key in map(make_key, SEEDS):
            np.testing.assert_array_equal(ours(key), jaxs(key), strict=True)

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    def test_under_nested_vmap(self, make_key):
        keys = jax.random.split(make_key(7), (3, 4))
        ours = jax.jit(jax.vmap(jax.vmap(lambda key: (random.bits(key, (5,)), random.split(key, 3)))))
        jaxs = jax.vmap(jax.vmap(lambda key: (jax.random.bits(key, (5,)), jax.random.split(key, 3))))
        np.testing.assert_array_equal(ours(keys)[0], jaxs(keys)[0], strict=True)
        assert_same_keys(ours(keys)[1], jaxs(keys)[1])

    def test_in_x64_mode(self):
        with switched(jax_enable_x64=True):
            key = jax.random.key(3)
            np.testing.assert_array_equal(random.bits(key, (9,)), jax.random.bits(key, (9,), jnp.uint32), strict=True)
            assert_same_keys(random.split(key, 3), jax.random.split(key, 3))
            assert random.uniform(key, (2,)).dtype == jnp.float32
            assert random.integers(random.bits(key, (2,)), 5).dtype == jnp.int32


class TestFallback:
    """Where the fast path does not apply, jax.random does the work."""

    @pytest.mark.parametrize("implementation", ["rbg", "unsafe_rbg"])
    def test_other_key_types(self, implementation):
        self.assert_is_jax_random(jax.random.key(11, impl=implementation))

    def test_a_legacy_key_of_another_default_type(self):
        with switched(jax_default_prng_impl="rbg"):
            self.assert_is_jax_random(jax.random.PRNGKey(11))

    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    def test_threefry_that_is_not_partitionable(self, make_key):
        partitionable = random.bits(make_key(11), (4,))
        with switched(jax_threefry_partitionable=False):
            self.assert_is_jax_random(make_key(11))
            assert (random.bits(make_key(11), (4,)) != partitionable).any()

    def assert_is_jax_random(self, key):
        np.testing.assert_array_equal(random.bits(key, (4,)), jax.random.bits(key, (4,), jnp.uint32), strict=True)
        expected = jax.random.uniform(key, (4,), jnp.float32, -1.0, 2.0)
        np.testing.assert_allclose(random.uniform(key, (4,), -1.0, 2.0), expected, rtol=1e-6)
        assert_same_keys(random.split(key, 3), jax.random.split(key, 3))
        assert_same_keys(random.fold_in(key, 3), jax.random.fold_in(key, 3))
        derived = [key[None], random.reset_key(key)[None], random.split(key, 3), random.spawn(key, 3)]
        assert {keys.dtype for keys in derived} == {key.dtype}
        assert_distinct(np.concatenate([key_words(keys) for keys in derived]))


class TestCheckKey:
    @pytest.mark.parametrize("make_key", KEY_MAKERS)
    def test_accepts_a_key_also_while_tracing(self, make_key):
        random.check_key(make_key(0))
        jax.vmap(lambda key: random.check_key(key))(jax.random.split(make_key(0), 3))

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (0, "expected a random key, got 0: make one with jax.random.key"),
            (np.zeros(2, np.float32), r"an array of float32\[2\]"),
            (np.zeros((5, 2), np.uint32), r"one random key, got a batch of \(5,\): use jax.vmap"),
            (jax.random.split(jax.random.key(0), (2, 3)), r"batch of \(2, 3\)"),
        ],
    )
    def test_describes_what_is_not_a_key(self, value, message):
        with pytest.raises(InvalidArgumentError, match=message):
            random.check_key(value)


class TestUnits:
    """One block, cut into pieces."""

    @pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(3), jax.random.key(3, impl="rbg")])
    def test_they_are_those_of_uniform(self, key):
        pieces = random.units(key, (2, 3), (), (4,))
        assert [piece.shape for piece in pieces] == [(2, 3), (), (4,)]
        whole = random.uniform(key, (11,))
        np.testing.assert_array_equal(jnp.concatenate([piece.reshape(-1) for piece in pieces]), whole, strict=True)


class TestUnit:
    def test_is_the_top_23_bits_as_a_fraction(self):
        words = np.array([0, 1, 511, 512, 2**31, 2**32 - 512, 2**32 - 1], np.uint32)
        expected = (words >> 9).astype(np.float32) / np.float32(2**23)
        np.testing.assert_array_equal(random.unit(jnp.asarray(words)), expected, strict=True)
        assert expected.min() == 0
        assert expected.max() < 1


class TestBelow:
    @pytest.mark.parametrize("bound", [1, 3, 2**16, 70_000, 2**31 - 1])
    def test_is_the_high_half_of_the_product(self, bound):
        words = np.concatenate([random.bits(jax.random.key(2), (1000,)), np.array([0, 2**32 - 1], np.uint32)])
        expected = (words.astype(np.uint64) * bound >> 32).astype(np.int32)
        np.testing.assert_array_equal(random.integers(jnp.asarray(words), bound), expected, strict=True)
        np.testing.assert_array_equal(random.integers(jnp.asarray(words), jnp.int32(bound)), expected, strict=True)
        assert expected[-2] == 0
        assert expected[-1] == bound - 1

    def test_takes_a_bound_for_each_word_also_traced(self):
        bounds = np.array([1, 2, 3, 2**16], np.int32)
        words = random.bits(jax.random.key(4), (4,))
        expected = np.concatenate([random.integers(words[i : i + 1], int(bound)) for i, bound in enumerate(bounds)])
        np.testing.assert_array_equal(random.integers(words, bounds), expected, strict=True)
        np.testing.assert_array_equal(jax.jit(random.integers)(words, bounds), expected, strict=True)


def test_derived_keys_never_collide():
    """Keys derived by `step`, auto-reset, batches and batches of batches, from the least random user keys."""
    keys = jax.vmap(jax.random.key)(np.arange(32, dtype=np.uint32))

    @jax.jit
    @jax.vmap
    def derive(key):
        spawned = random.spawn(key, 16)
        nested = jax.vmap(lambda key: random.spawn(key, 16))(spawned)
        alone = jnp.concatenate([key[None], random.split(key, 16), spawned, nested.reshape(-1)])
        return jnp.concatenate([alone, jax.vmap(random.reset_key)(alone)])

    assert_distinct(key_words(derive(keys)).reshape(-1, 2))


@functools.cache
def common_seeds():
    """The seeds that people use: small numbers, powers, and random ones. uint32."""
    seeds = [np.arange(10**6), 10 ** np.arange(10), 2 ** np.arange(32), 2 ** np.arange(1, 33) - 1]
    return np.unique(np.concatenate([*seeds, np.random.default_rng(0).integers(0, 2**32, 10**6)])).astype(np.uint32)


@pytest.mark.slow
class TestBatchesShareNoKeys:
    """Whole batches, by the first key of each: the others count up from it."""

    NUM = 65_536

    def test_batches_count_up_from_their_first_key(self):
        for key in map(jax.random.key, SEEDS):
            words = key_words(random.spawn(key, self.NUM)).astype(np.int64)
            assert (words[:, 0] == words[0, 0]).all()
            np.testing.assert_array_equal((words[:, 1] - words[0, 1]) % 2**32, np.arange(self.NUM))

    @pytest.mark.parametrize("num", [1, 2048, NUM])
    def test_of_the_seeds_that_people_use(self, num):
        keys = seed_keys_of(common_seeds())
        batches = [first_of_batch(keys, num), first_of_batch(reset_keys(keys), num)]
        assert_apart(*((batch, num) for batch in batches))

    def test_with_the_keys_that_they_come_from(self):
        """Nor with the keys that `split` and `reset_key` derive from them."""
        keys = seed_keys_of(common_seeds())
        parts = jax.vmap(lambda key: random.split(key, 3))(keys[:10_000]).reshape(-1)
        alone = ((key_words(each), 1) for each in (keys, reset_keys(keys), parts, reset_keys(parts)))
        assert_apart((first_of_batch(keys[:10_000], self.NUM), self.NUM), *alone)

    def test_a_chain(self):
        """A batch of the first key of a batch, and so on, from consecutive seeds."""
        keys, links = seed_keys_of(np.arange(2_000, dtype=np.uint32)), []
        for _ in range(100):
            links.append(first_of_batch(keys, self.NUM))
            keys = jax.random.wrap_key_data(links[-1])
        assert_apart(*((link, self.NUM) for link in links))


def seed_keys_of(seeds):
    return jax.vmap(jax.random.key)(seeds)


@jax.jit
def reset_keys(keys):
    return jax.vmap(random.reset_key)(keys)


def first_of_batch(keys, num):
    """The words of the first of the `num` keys that are spawned from each key, uint32 (keys, 2)."""
    return np.asarray(_first_of_batch(keys, num))


@functools.partial(jax.jit, static_argnums=1)
def _first_of_batch(keys, num):
    # XLA deletes all keys but the first, so that the batches take no memory.
    return jax.random.key_data(jax.vmap(lambda key: random.spawn(key, num)[0])(keys))


def assert_apart(*batches):
    """Asserts that batches of keys have no key in common.

    Args:
      *batches: the first keys of batches, uint32 (batches, 2), and the number of keys in each batch.
    """
    starts, ends = (np.concatenate(bounds) for bounds in zip(*map(intervals, *zip(*batches, strict=True)), strict=True))
    order = np.argsort(starts)
    assert (starts[order][1:] > ends[order][:-1]).all(), "two batches share keys"


def intervals(first, num):
    """First and last key of each batch, as numbers of 64 bits; a batch that wraps around is two intervals."""
    block, low = first[:, 0].astype(np.uint64) << np.uint64(32), first[:, 1].astype(np.uint64)
    last = low + np.uint64(num - 1)
    wraps, top = last >> np.uint64(32) > 0, np.uint64(2**32 - 1)
    ends = block + np.minimum(last, top)
    return np.append(block + low, block[wraps]), np.append(ends, (block + (last & top))[wraps])


@jax.jit
@jax.vmap
def first_word(key):
    return random.bits(key, (4,))[0]


def shifted(words, by=1):
    return words, np.roll(words, by)


def step_keys():
    """The keys of one environment's steps, as a program takes them from `split`."""
    return random.split(jax.random.key(20), STREAM)


def batches():
    return jax.vmap(lambda key: random.spawn(key, 64))(random.spawn(jax.random.key(22), STREAM // 64))


STREAMS = {
    "a step and its reset": lambda: (first_word(step_keys()), first_word(reset_keys(step_keys()))),
    "a step and the keys split from it": lambda: (
        first_word(step_keys()),
        first_word(jax.vmap(random.split)(step_keys())[:, 0]),
    ),
    "consecutive steps": lambda: shifted(first_word(step_keys())),
    "neighboring environments": lambda: shifted(first_word(random.spawn(jax.random.key(21), STREAM))),
    "neighboring batches": lambda: shifted(first_word(batches().reshape(-1)), 64),
    "one environment in consecutive steps": lambda: shifted(
        first_word(jax.vmap(lambda key: random.spawn(key, 8)[5])(step_keys()))
    ),
    "an environment and a block": lambda: (
        first_word(random.spawn(jax.random.key(24), STREAM)),
        random.bits(jax.random.key(24), (STREAM,)),
    ),
}
"""Pairs of streams that must be independent, each uint32 (STREAM,)."""


@pytest.mark.parametrize("streams", STREAMS.values(), ids=STREAMS)
def test_streams_are_uniform_and_independent(streams):
    first, second = (np.asarray(words) for words in streams())
    assert_uniform(first)
    assert_uniform(second)
    assert_independent(first, second)


def assert_distinct(words):
    assert len(np.unique(words, axis=0)) == len(words)


def assert_uniform(words):
    """Values by Kolmogorov-Smirnov, and each bit by itself."""
    assert stats.kstest(words / 2**32, "uniform").pvalue > 1e-3
    ones = bit_signs(words).sum(axis=0)
    assert np.abs(ones).max() < 4.5 * np.sqrt(len(words))


def assert_independent(first, second):
    """Every bit against every bit by correlation, and sizes against sizes by chi-square."""
    together = bit_signs(first).T @ bit_signs(second)
    assert np.abs(together).max() < 5.5 * np.sqrt(len(first))
    table = np.histogram2d(first >> 28, second >> 28, bins=16, range=[[0, 16], [0, 16]])[0]
    association: Any = stats.chi2_contingency(table)
    assert association.pvalue > 1e-3


def bit_signs(words):
    """1 or -1 for each of a word's 32 bits: float64 (words, 32)."""
    return 2.0 * (words[:, None] >> np.arange(32, dtype=np.uint32) & np.uint32(1)) - 1


def test_key_words_are_those_of_a_default_key_and_drawn_from_others() -> None:
    legacy, typed = jax.random.PRNGKey(7), jax.random.key(7)
    assert (random.key_words(legacy) == legacy).all()
    assert (random.key_words(typed) == legacy).all()
    other = random.key_words(jax.random.key(7, impl="rbg"))
    assert (other.shape, other.dtype) == ((2,), jnp.uint32)
    assert (other != random.key_words(jax.random.key(8, impl="rbg"))).any()


SEEDS_OF_64_BITS = (0, 5, 2**32 - 1, 2**32, 0x0123456789ABCDEF, 2**63 - 1)


@pytest.mark.parametrize("kind", ["threefry2x32", "rbg"])
def test_a_key_has_all_bits_of_the_seed(kind):
    with switched(jax_default_prng_impl=kind):
        for seed in SEEDS_OF_64_BITS:
            key = key_of(seed)
            with switched(jax_enable_x64=True):
                assert_same_keys(key, jax.random.key(seed))


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "a", True])
def test_other_seeds_are_an_error(seed):
    with pytest.raises(InvalidArgumentError, match=r"seed must be an integer from 0 to 2\*\*63 - 1, got"):
        key_of(seed)
