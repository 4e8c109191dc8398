"""Pytrees of arrays in safetensors files, replaced in one step, so that a kill or a full disk leaves the last good one.

The names in a file are the paths in the pytree. Random keys are stored as their words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from envcore.errors import FileError
from envcore.files import replace
from jax.tree_util import keystr, tree_leaves_with_path
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors


def save(path: Path, tree: Any, about: Mapping[str, Any]) -> None:
    """Writes the pytree, and facts about it that JSON can hold, in place of an older file.

    Raises:
      FileError: the file cannot be written; an older one stays as it was.
    """
    tensors = {keystr(place): np.asarray(_plain(leaf)) for place, leaf in tree_leaves_with_path(tree)}
    facts = json.dumps(about)
    # One entry: the library writes several in no fixed order.
    metadata = {"envcore": json.dumps({"about": facts, "sha256": _digest(tensors, facts)})}
    replace(path, save_tensors(tensors, metadata))


def load(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a file by name, and the facts about them.

    Raises:
      FileError: there is no such file, or it is damaged.
    """
    try:
        content = path.read_bytes()
        size = int.from_bytes(content[:8], "little")
        metadata = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["envcore"])
        tensors = load_tensors(content)
        is_whole = _digest(tensors, metadata["about"]) == metadata["sha256"]
        about = json.loads(metadata["about"])
    except FileNotFoundError:
        raise FileError(f"{path} does not exist.") from None
    except Exception as error:  # the library's errors depend on what is damaged
        raise FileError(f"{path} is damaged: {error}") from error
    if not is_whole:
        raise FileError(f"{path} is damaged: its content is not what was written.")
    return tensors, about


def restore(path: Path, tensors: Mapping[str, np.ndarray], struct: Any, key: jax.Array) -> Any:
    """The pytree that was saved.

    Args:
      path: of the file, for the error.
      tensors: as `load` returns them.
      struct: a pytree of the same structure, dtypes and shapes, of arrays or `jax.ShapeDtypeStruct`.
      key: a random key of the kind that the pytree has.

    Raises:
      FileError: the saved pytree is another one.
    """

    def leaf(place: Any, expected: Any) -> jax.Array:
        saved = tensors.get(keystr(place))
        is_key = jnp.issubdtype(expected.dtype, jax.dtypes.prng_key)
        if saved is not None and is_key:
            saved = jax.random.wrap_key_data(jnp.asarray(saved), impl=jax.random.key_impl(key))
        if saved is None or (saved.shape, saved.dtype) != (expected.shape, expected.dtype):
            raise FileError(
                f"{path} does not fit at {keystr(place)}: it was written by another version of envcore or by another "
                "environment. Use that version, or choose another folder."
            )
        return jnp.asarray(saved)

    return jax.tree_util.tree_map_with_path(leaf, struct)


def _plain(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if trees.is_key(leaf) else leaf


def _digest(tensors: Mapping[str, np.ndarray], facts: str) -> str:
    digest = hashlib.sha256(facts.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape} ".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()
