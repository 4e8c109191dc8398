"""States with views: what is computed from their fields, and what `replace` takes in place of those fields.

    @views.dataclass
    class BoardState(Views, EnvState):
        rows: Annotated[jax.Array, "uint32 (10,)"]

        @View
        def board(self) -> jax.Array:
            '''The cells, bool (10, 10).'''
            return to_board(self.rows)

        @board.inverse
        def _rows_of(self, board: jax.Array) -> dict[str, jax.Array]:
            return {"rows": from_board(board)}

`state.board` reads a view and `state.replace(board=board)` changes the fields behind it. To JAX a view is not there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, dataclass_transform, overload

import jax
import numpy as np
from envcore.typing import PyTree
from flax import struct
from jax.core import Tracer
from jax.typing import ArrayLike

T = TypeVar("T", bound="type[Views]")

Inverse = Callable[[Any, Any], Mapping[str, jax.Array]]


class View(property):
    """A property that `replace` accepts if it has an inverse."""

    fields_of: Inverse | None = None

    @overload
    def __get__(self, instance: None, owner: type | None = None, /) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> jax.Array: ...

    def __get__(self, instance: object, owner: type | None = None, /) -> Any:
        return super().__get__(instance, owner)

    def inverse(self, fun: Inverse) -> Inverse:
        """Decorates the method that maps the state and a value of the view to the fields to replace."""
        self.fields_of = fun
        return fun


class Views:
    """Base of classes with views; decorate each with `dataclass`."""

    def replace(self, **updates: PyTree) -> Self:
        """Returns a copy in which some fields have other values, and then some views.

        Raises:
          TypeError: there is no such field, or it is computed from others and has no inverse.
          ValueError: a view cannot have this value; what is traced is not checked.
        """
        made: Any = self
        fields = {name: value for name, value in updates.items() if name in _names(self)}
        found = dataclasses.replace(made, **fields)
        for name, value in updates.items():
            if name in fields:
                continue
            view = getattr(type(self), name, None)
            if isinstance(view, View) and view.fields_of:
                found = dataclasses.replace(found, **view.fields_of(found, value))
            elif isinstance(view, property):
                raise TypeError(
                    f"`{name}` of {type(self).__name__} is computed from other fields. Replace those: {view.__doc__}"
                )
            else:
                raise TypeError(f"{type(self).__name__} has no field `{name}`, only {', '.join(_names(self))}.")
        return found


@dataclass_transform(field_specifiers=(struct.field,))
def dataclass(cls: T) -> T:
    """Makes a class of `Views` a frozen dataclass and a pytree, as `flax.struct.dataclass` does."""
    made: Any = struct.dataclass(cls)
    made.replace = Views.replace  # instead of flax's own
    return made


def check_known(value: ArrayLike, holds: Callable[[np.ndarray], ArrayLike], text: str) -> None:
    """Raises `ValueError` with this text if the value is on this host and `holds` is false anywhere."""
    is_elsewhere = isinstance(value, jax.Array) and (isinstance(value, Tracer) or not value.is_fully_addressable)
    if not is_elsewhere and not np.all(holds(np.asarray(value))):
        raise ValueError(text)


def _names(state: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(state)]
