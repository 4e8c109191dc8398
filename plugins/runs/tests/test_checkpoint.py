"""Files of pytrees: exact round trips, and damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import FileError
from envcore_runs import checkpoint

KEY = jax.random.key(5)
TREE = {
    "weights": [jnp.arange(6, dtype=jnp.float32).reshape(2, 3) / 7, jnp.float32(np.nan)],
    "flags": jnp.array([True, False]),
    "bytes": jnp.arange(3, dtype=jnp.uint8),
    "half": jnp.arange(4, dtype=jnp.bfloat16).reshape(2, 2) / 3,
    "count": jnp.int32(-3),
    "keys": jax.random.split(KEY, 2),
    "legacy": jax.random.PRNGKey(1),
    "empty": jnp.zeros((0, 2)),
}
STRUCT = jax.eval_shape(lambda: TREE)


def words(tree: Any) -> list[bytes]:
    plain = [
        jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in jax.tree.leaves(tree)
    ]
    return [np.asarray(x).tobytes() for x in plain]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    checkpoint.save(tmp_path / "a.safetensors", TREE, {"number": 7, "curve": [0.1, None]})
    return tmp_path / "a.safetensors"


def test_what_is_read_is_what_was_written(path: Path) -> None:
    tensors, about = checkpoint.load(path, dict)
    found = checkpoint.restore(path, tensors, STRUCT, KEY)
    assert about == {"number": 7, "curve": [0.1, None]}
    assert jax.tree.structure(found) == jax.tree.structure(TREE)
    assert jax.tree.map(lambda x: (x.shape, x.dtype), found) == jax.tree.map(lambda x: (x.shape, x.dtype), TREE)
    assert words(found) == words(TREE)


@pytest.mark.parametrize("part", [0.0, 0.5, 0.999])
def test_a_file_that_was_cut_off(path: Path, part: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(FileError, match="is damaged"):
        checkpoint.load(path, dict)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        checkpoint.load(tmp_path / "none", dict)


@pytest.mark.parametrize(
    "struct",
    [
        {**STRUCT, "count": jax.ShapeDtypeStruct((), jnp.float32)},
        {**STRUCT, "flags": jax.ShapeDtypeStruct((3,), jnp.bool_)},
        {**STRUCT, "more": jax.ShapeDtypeStruct((), jnp.float32)},
    ],
)
def test_a_file_of_another_pytree(path: Path, struct: Any) -> None:
    tensors, _ = checkpoint.load(path, dict)
    with pytest.raises(FileError, match=r"a.safetensors does not fit at \['(count|flags|more)'\]"):
        checkpoint.restore(path, tensors, struct, KEY)
