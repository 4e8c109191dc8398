from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from flax import struct


@struct.dataclass
class Node:
    value: Any
    nothing: Any = None
    label: str = struct.field(pytree_node=False, default="a")


VALUE = (Node(jnp.zeros((2, 3))), {"count": jnp.int32(4), "flag": jnp.bool_(True)})


def test_a_tree_contains_what_has_its_structure_and_types() -> None:
    space = spaces.Tree(VALUE)
    assert space.contains(VALUE)
    assert space.contains(space.sample(jax.random.key(0)))
    assert space.contains((Node(np.full((2, 3), np.nan)), VALUE[1]))
    for other in ((Node(jnp.zeros(2)), VALUE[1]), (Node(VALUE[0].value, label="b"), VALUE[1]), VALUE[0], None):
        assert not space.contains(other)
        assert space.mismatch(other)


def test_shapes_and_dtypes_are_trees() -> None:
    space = spaces.Tree(VALUE)
    assert space.shape[1] == {"count": (), "flag": ()}
    assert space.dtype[0].value == jnp.float32


def test_equality_and_batches() -> None:
    space = spaces.Tree(VALUE)
    assert space == spaces.Tree(jax.tree.map(np.asarray, VALUE))
    assert hash(space) == hash(spaces.Tree(VALUE))
    assert space != spaces.Tree(VALUE[0])
    batch = space.batch(5)
    assert batch.contains(jax.tree.map(lambda x: jnp.stack([x] * 5), VALUE))
    assert batch.unbatch() == space
    assert repr(space) == "Tree(tuple, 3 arrays)"
