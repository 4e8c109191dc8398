"""What a library returns, as envcore has it: records as dicts, pictures of another size or drawn on the host."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def as_dicts(value: Any) -> Any:
    """A library's observation or info as dicts, in the place of its records; arrays stay as they are.

    Dataclasses, named tuples and mappings become dicts, and lists tuples, at any depth. Static fields of dataclasses,
    which hold no arrays, are left out.
    """
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if not _is_static(field)}
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, Mapping):
        return {name: as_dicts(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return tuple(as_dicts(part) for part in value)
    return value


def paint_on_host(draw: Callable[[Any], Any], tree: Any, shape: tuple[int, int]) -> jax.Array:
    """A picture by a renderer that needs Python, such as Matplotlib, as a part of a compiled program.

    Args:
      draw: returns the picture, uint8 (height, width, 3), of a tree of numpy arrays; called for one state at a time.
      tree: what to draw, a pytree of arrays.
      shape: height and width in pixels.
    """
    struct = jax.ShapeDtypeStruct((*shape, 3), jnp.uint8)
    return jax.pure_callback(draw, struct, tree, vmap_method="sequential")


def resized(picture: jax.Array, height: int) -> jax.Array:
    """A picture, uint8 (rows, columns, 3), at another height and the same aspect ratio, by its nearest pixels."""
    from envcore.painting import checked_height  # late: making an environment runs no painting code

    height, (rows, columns, _) = checked_height(height), picture.shape
    width = max(1, round(columns * height / rows))
    nearest = [((2 * np.arange(new) + 1) * old) // (2 * new) for new, old in ((height, rows), (width, columns))]
    return picture[nearest[0].astype(np.int32)][:, nearest[1].astype(np.int32)]


def _is_static(field: dataclasses.Field[Any]) -> bool:
    """Whether flax or JAX takes the field for a part of the structure."""
    return field.metadata.get("static", not field.metadata.get("pytree_node", True))
