"""`Layout`: a tree of every kind of leaf goes into few arrays and comes back, in a program and on the host."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_adapters.gymnasium.packing import Layout, memories, pack_all, reader, viewer

TREE = {
    "key": jax.random.key(7),
    "keys": jax.random.split(jax.random.key(1, impl="rbg"), 3),
    "flag": jnp.bool_(True),
    "flags": jnp.array([True, False, True]),
    "bytes": jnp.arange(7, dtype=jnp.uint8),
    "halves": jnp.arange(3, dtype=jnp.float16),
    "signed": jnp.array([[-3, 5]], jnp.int8),
    "shorts": jnp.arange(-2, 2, dtype=jnp.int16),
    "count": jnp.int32(-9),
    "reals": jnp.array([[0.5, -jnp.inf], [2.0, 3.0]]),
    "nothing": jnp.zeros((0, 3)),
    "picture": jnp.arange(2**16, dtype=jnp.uint32).astype(jnp.uint8).reshape(256, 256),
}
LAYOUT = Layout(jax.eval_shape(lambda: TREE))
ARRAYS = {name: leaf for name, leaf in TREE.items() if not name.startswith("key")}


def assert_equal(found, expected):
    def data(leaf):
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if is_key else leaf)

    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, two in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(data(one), data(two))


def test_words_bytes_and_each_large_leaf_are_an_array():
    packed = LAYOUT.pack(TREE)
    assert [array.dtype for array in packed] == [np.uint32, np.uint8, np.uint8]
    assert packed[2].shape == (256, 256)


def test_a_program_takes_out_what_it_put_in():
    assert_equal(LAYOUT.unpack(LAYOUT.pack(TREE)), TREE)
    assert_equal(jax.jit(lambda tree: LAYOUT.unpack(LAYOUT.pack(tree)))(TREE), TREE)
    with jax.numpy_dtype_promotion("standard"):
        both = jax.jit(lambda tree: pack_all((LAYOUT, tree), (LAYOUT, jax.tree.map(lambda x: x, tree))))(TREE)
    for packed in both:
        assert_equal(LAYOUT.unpack(packed), TREE)


def parts():
    return {name: LAYOUT.parts[name] for name in ARRAYS}


def test_the_host_reads_new_arrays():
    packed = LAYOUT.pack(TREE)
    read = reader(parts())
    first, second = (read(memories(packed)) for _ in range(2))
    assert_equal(first, ARRAYS)
    for leaf in jax.tree.leaves(first):
        assert leaf.flags.writeable
        leaf[...] = 0
    assert_equal(second, ARRAYS)


def test_one_leaf_is_read_alone():
    assert_equal(reader(LAYOUT.parts["reals"])(memories(LAYOUT.pack(TREE))), TREE["reals"])


def test_the_host_views_memory_that_it_may_write_to():
    packed = LAYOUT.pack(TREE)
    views = viewer(parts())(LAYOUT.copies(packed), packed)
    assert_equal(views, ARRAYS)
    assert all(leaf.flags.writeable for leaf in jax.tree.leaves(views))
    for name in ("picture", "reals"):  # the array's own memory, and that of the copies
        assert not views[name].flags.owndata


@pytest.mark.parametrize("tree", [(), {"picture": TREE["picture"]}, jnp.bool_(False)], ids=["empty", "large", "flag"])
def test_trees_without_one_of_the_arrays(tree):
    layout = Layout(jax.eval_shape(lambda: tree))
    assert_equal(layout.unpack(layout.pack(tree)), tree)
