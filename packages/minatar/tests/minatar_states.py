"""States from the original's fields, of which ours hold some in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from envcore_minatar.asterix import words_of
from envcore_minatar.breakout import bricks_of
from envcore_minatar.freeway import TIME_LIMIT, lanes_of
from envcore_minatar.packing import FULL_ROW, SIDE, from_board

_BOARDS = ("alien_map", "f_bullet_map", "e_bullet_map")


def replaced(state: Any, fields: Mapping[str, Any]) -> Any:
    """The state with these fields, and with what these properties show."""
    updates = dict(fields)
    for place, name in enumerate(_BOARDS):
        if name in updates:
            shift = np.uint32(SIDE * place)
            rows: Any = updates.get("rows", getattr(state, "rows", None))
            updates["rows"] = (rows & ~(FULL_ROW << shift)) | (from_board(updates.pop(name)) << shift)
    if "brick_map" in updates:
        updates["bricks"] = bricks_of(updates.pop("brick_map"))
    if "entities" in updates:
        updates |= words_of(updates.pop("entities"))
    if "cars" in updates:
        updates |= lanes_of(updates.pop("cars"))
    if "terminate_timer" in updates:
        updates["time"] = TIME_LIMIT - 1 - jnp.asarray(updates.pop("terminate_timer")).astype(jnp.int32)
    return state.replace(**updates)
