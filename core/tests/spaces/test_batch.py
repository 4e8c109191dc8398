from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.spaces import Box, Dict, Discrete, MultiDiscrete, Space, Tuple, batch_space, unbatch_space

PAIRS = [
    (Discrete(3), MultiDiscrete([3, 3])),
    (MultiDiscrete([2, 5]), MultiDiscrete([[2, 5], [2, 5]])),
    (Box(0, 1), Box(0, 1, (2,))),
    (Box([0, -1], [1, np.inf]), Box(np.array([[0, -1]] * 2), np.array([[1, np.inf]] * 2))),
    (Box(False, True, (3,), bool), Box(False, True, (2, 3), bool)),
    (Tuple([Discrete(3), Box(0, 9, (1,), np.int8)]), Tuple([MultiDiscrete([3, 3]), Box(0, 9, (2, 1), np.int8)])),
    (Dict({"a": Discrete(3)}), Dict({"a": MultiDiscrete([3, 3])})),
]


@pytest.mark.parametrize(("space", "batch"), PAIRS, ids=repr)
def test_batches_are_undone_by_unbatching(space, batch):
    assert batch_space(space, 2) == batch
    assert unbatch_space(batch) == space


@pytest.mark.parametrize(("space", "batch"), PAIRS, ids=repr)
def test_a_sample_is_a_stack_of_values(space, batch):
    del batch
    values = batch_space(space, 50).sample(jax.random.key(0))
    assert jax.vmap(space.contains)(values).all()
    for leaf in jax.tree.leaves(values):
        assert len(np.unique(leaf.reshape(50, -1)[:, 0])) > 1


def test_traced_bounds():
    @jax.jit
    def contains(high, values):
        space = batch_space(Box(0, high), 2)
        assert space.shape == (2,)
        assert unbatch_space(space).shape == ()
        return space.contains(values)

    assert contains(jnp.float32(1), jnp.array([0.0, 1.0]))
    assert not contains(jnp.float32(1), jnp.array([0.0, 1.1]))


@pytest.mark.parametrize("num", [0, -1, 2.0, True, None])
def test_a_batch_needs_a_positive_size(num):
    with pytest.raises(ValueError, match=f"num must be a positive integer, got {num}"):
        batch_space(Discrete(2), num)


def test_unknown_spaces_are_refused():
    with pytest.raises(TypeError, match="batch_space supports only envcore's own spaces"):
        batch_space(Space(), 2)
    with pytest.raises(TypeError, match="unbatch_space needs a space with a batch axis"):
        unbatch_space(Space())


@pytest.mark.parametrize("space", [Discrete(2), Box(0, 1), Tuple([Discrete(2)])], ids=repr)
def test_a_space_without_a_batch_axis_cannot_be_unbatched(space):
    with pytest.raises(TypeError, match="unbatch_space needs a space with a batch axis"):
        unbatch_space(space)
