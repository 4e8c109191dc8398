from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite import checkpoints
from envcore_bsuite.checkpoints import path_of
from envcore_bsuite.errors import RunError
from envcore_bsuite.programs import Lane

LANES = (Lane("catch/3", 0), Lane("catch/4", 1))
ROWS = [[{"steps": 1, "total_return": 0.1}], []]
TREE: dict[str, Any] = {
    "key": jax.random.split(jax.random.key(3), 2),
    "legacy": jax.random.PRNGKey(4),
    "numbers": (jnp.arange(4, dtype=jnp.uint8), jnp.float32(0.1), jnp.array([True, False])),
}


def test_save_and_restore() -> None:
    found = checkpoints.load(checkpoints.content(LANES, ROWS, TREE), Path("a"))
    assert (found.path, found.lanes, found.rows) == (Path("a"), LANES, ROWS)
    restored = found.restore(jax.tree.map(jnp.zeros_like, TREE))
    assert restored["key"].dtype == TREE["key"].dtype
    for got, expected in zip(jax.tree.leaves(restored), jax.tree.leaves(TREE), strict=True):
        if jnp.issubdtype(expected.dtype, jax.dtypes.prng_key):
            got, expected = jax.random.key_data(got), jax.random.key_data(expected)
        np.testing.assert_array_equal(got, expected, strict=True)


def test_other_lanes_have_a_different_file(tmp_path: Path) -> None:
    for lanes, rows in ((LANES, ROWS), (LANES[:1], ROWS[:1])):
        path_of(tmp_path, lanes).write_bytes(checkpoints.content(lanes, rows, TREE))
    found = list(checkpoints.load_all(tmp_path))
    assert {each.lanes for each, _ in found} == {LANES, LANES[:1]}
    assert all(each.path.read_bytes() == content for each, content in found)


@pytest.mark.parametrize(
    "like", [{"key": TREE["key"]}, {**TREE, "legacy": jnp.zeros(3, jnp.uint32)}, {**TREE, "legacy": jnp.zeros(2)}]
)
def test_another_agents_state(tmp_path: Path, like: object) -> None:
    found = checkpoints.load(checkpoints.content(LANES, ROWS, TREE), path_of(tmp_path, LANES))
    with pytest.raises(RunError, match=r"catch-3-.*\.npz was saved by another agent, or by another version"):
        found.restore(like)


def test_a_broken_file(tmp_path: Path) -> None:
    path_of(tmp_path, LANES).write_bytes(b"PK nonsense")
    with pytest.raises(RunError, match="is not a readable checkpoint: delete it"):
        list(checkpoints.load_all(tmp_path))
