"""Saves pytrees of arrays as safetensors files, atomically, so that a kill or a full disk keeps the last good file.

Arrays are named by their paths in the pytree. Random keys are stored as their words. Dtypes that numpy doesn't have,
such as bfloat16, are stored as unsigned integers with the same bits. The metadata contains JSON and a digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from envcore.errors import FileError, one_line
from envcore.files import replace
from jax.tree_util import keystr, tree_leaves_with_path
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from envcore_runs.records import File

T = TypeVar("T")


def save(path: str | Path, tree: Any, about: Mapping[str, Any]) -> None:
    """Saves a pytree with JSON metadata, replacing an older file.

    Raises:
      FileError: the file cannot be written. An older file is kept.
    """
    tensors = {keystr(place): _plain(leaf) for place, leaf in tree_leaves_with_path(tree)}
    facts = json.dumps(about)
    # A single metadata entry, because the library writes several in no fixed order.
    seal = json.dumps({"about": facts, "sha256": _digest(tensors, facts)})
    replace(path, save_tensors(tensors, {"envcore": seal}))


def load(path: str | Path, kind: type[T]) -> tuple[dict[str, np.ndarray], T]:
    """Loads the arrays of a file, by name, and its metadata.

    Args:
      path: path of the file.
      kind: type of the metadata, see `envcore_runs.records`.

    Raises:
      FileError: there is no such file, or it is damaged.
    """
    file = File(path)
    content = file.content()
    try:
        tensors = load_tensors(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        seal = json.loads(header["__metadata__"]["envcore"])
        is_whole = _digest(tensors, seal["about"]) == seal["sha256"]
    except Exception as error:  # the exception depends on what is damaged
        raise file.damaged(one_line(error)) from error
    if not is_whole:
        raise file.damaged("its content is not what was written")
    return tensors, file.parsed(seal["about"], kind)


def restore(path: str | Path, tensors: Mapping[str, np.ndarray], struct: Any, key: jax.Array | None = None) -> Any:
    """Rebuilds the pytree that was saved.

    Args:
      path: path of the file, for the error message.
      tensors: arrays from `load`.
      struct: a pytree of arrays or `jax.ShapeDtypeStruct`s with the same structure, dtypes and shapes.
      key: a random key of the same type as those in the pytree, if `struct` contains no arrays.

    Raises:
      FileError: the saved pytree has another structure, dtype or shape.
    """
    expected = {keystr(place) for place, _ in tree_leaves_with_path(struct)}

    def leaf(place: Any, expected: Any) -> jax.Array:
        saved = tensors.get(keystr(place))
        is_key = jnp.issubdtype(expected.dtype, jax.dtypes.prng_key)
        words = jax.eval_shape(jax.random.key_data, expected) if is_key else expected
        if saved is None or (saved.shape, saved.dtype) != (words.shape, _stored(words.dtype)):
            raise _misfit(path, keystr(place))
        array = jnp.asarray(saved.view(words.dtype))
        if not is_key:
            return array
        example = expected if isinstance(expected, jax.Array) else key
        assert example is not None, "a struct without arrays needs a key"
        return jax.random.wrap_key_data(array, impl=jax.random.key_impl(example))

    for name in sorted(tensors.keys() - expected):
        raise _misfit(path, name)
    return jax.tree_util.tree_map_with_path(leaf, struct)


def _misfit(path: str | Path, name: str) -> FileError:
    return FileError(
        f"{path} does not fit at {name}: it was written by another version of envcore, or for another environment or "
        "network. Use those, or choose another folder."
    )


def _plain(leaf: Any) -> np.ndarray:
    array = np.asarray(jax.random.key_data(leaf) if trees.is_key(leaf) else leaf)
    return array.view(_stored(array.dtype))


def _stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype used in a file. safetensors can write bfloat16, but numpy cannot read it."""
    return dtype if dtype.isbuiltin == 1 else np.dtype(f"uint{8 * dtype.itemsize}")


def _digest(tensors: Mapping[str, np.ndarray], facts: str) -> str:
    digest = hashlib.sha256(facts.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape} ".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()
