"""`NestedParams`: params around others, as wrappers and bridges have them."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

from envcore.typing import PyTree


@dataclasses.dataclass(frozen=True)
class NestedParams:
    """Params that contain others, which can be read and replaced as if they were fields of these.

        params.length, params.replace(length=1.0)

    Subclasses are frozen dataclasses, registered by `jax.tree_util.register_dataclass`.

    Attributes:
      env_params: the params inside.
    """

    env_params: PyTree

    def __getattr__(self, name: str) -> Any:
        if name == "env_params" or name.startswith("__"):  # not set yet: a copy is being made
            raise AttributeError(name)
        return getattr(self.env_params, name)

    def replace(self, **updates: Any) -> Self:
        """The same params but for `updates`."""
        own = {field.name for field in dataclasses.fields(self)}
        inner = {name: updates.pop(name) for name in set(updates) - own}
        if inner:
            updates["env_params"] = updates.get("env_params", self.env_params).replace(**inner)
        return dataclasses.replace(self, **updates)
