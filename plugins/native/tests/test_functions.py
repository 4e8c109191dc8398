import jax
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from evaluated import evaluated


def test_jax_random_draws_the_same_words():
    def fun(words):
        key = jax.random.wrap_key_data(words)
        keys = jax.random.split(key, 3)
        return [
            jax.random.bits(key, (2, 3)),
            jax.random.key_data(keys[1]),
            jax.random.key_data(jax.random.fold_in(key, words[0])),
            jax.vmap(jax.random.bits)(keys),
            jax.random.permutation(keys[0], 5),
            jax.random.randint(keys[2], (4,), 0, 10),
            jax.random.uniform(words, (3,)),
            jax.random.bits(jax.random.key(words[1])),
            jax.random.key_data(jax.numpy.where(words[0] > 3, key, keys[0])),
        ]

    words = np.array([7, 2**31 + 5], np.uint32)
    for ours, theirs in zip(evaluated(fun, words)(words), jax.jit(fun)(words), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_words_of_other_sizes_are_refused():
    with pytest.raises(InvalidArgumentError, match="random words of 8 bits"):
        evaluated(lambda words: jax.random.bits(words, (), "uint8"), np.zeros(2, np.uint32))
