"""Pytrees of words whose bits are fields, each field declared once.

    @bit_fields.dataclass
    class Ball(Word):
        x = bits(4, "Column, from the left.")
        y = bits(4, "Row, from the top.")
        lost = bits(1, "The ball has left the board.")

`Ball.pack(x=3, y=5, lost=False)` makes a ball, `ball.x` reads a field, `ball.replace(x=4)` changes it, and `repr` and
`help` show all fields. To JAX a ball is a pytree with one leaf, `packed`, uint32 of any shape, as for a batch.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar, dataclass_transform, overload

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax
from jax.core import Tracer

T = TypeVar("T", bound="type[BitFields]")

Inverse = Callable[[Any, Any], Mapping[str, Any]]


class Field(property):
    """A field that is computed from the leaves."""

    @overload
    def __get__(self, instance: None, owner: type | None = None, /) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> jax.Array: ...

    def __get__(self, instance: Any, owner: type | None = None, /) -> Any:
        return super().__get__(instance, owner)


class Bits(Field):
    """A field in some bits of a word, made by `bits`."""

    name: str
    shift: int

    def __init__(self, width: int, doc: str, word: str, least: int):
        super().__init__(lambda holder: self.read(getattr(holder, word)))
        self.__doc__ = doc
        self.width, self.word, self.least = width, word, least
        self.most = least + 2**width - 1

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def mask(self) -> int:
        """The field's bits, all set."""
        return (2**self.width - 1) << self.shift

    def read(self, word: Any) -> Any:
        """The field of a word: bool if it has one bit, else int32."""
        value = (word >> np.uint32(self.shift)) & np.uint32(2**self.width - 1)
        if self.width == 1:
            return value != 0
        return value.astype(np.int32) + np.int32(self.least) if self.least else value.astype(np.int32)

    def place(self, value: Any) -> Any:
        """A word with the value in the field's bits and zeros elsewhere, uint32 of the value's shape."""
        numbers = known(value)
        if (value if numbers is None else numbers).dtype.kind not in "bui":
            raise ValueError(f"`{self.name}` must be integers or bools, got {value!r}.")
        if numbers is not None:
            wrong = numbers[(numbers < self.least) | (numbers > self.most)]
            if wrong.size:
                raise ValueError(f"`{self.name}` must be from {self.least} to {self.most}, got {wrong.flat[0]}.")
        if isinstance(value, jax.Array):
            word = value.astype(jnp.uint32)
            if self.least:
                word = word + np.uint32(-self.least % 2**32)
            return lax.shift_left(word, np.uint32(self.shift))
        assert numbers is not None
        return (numbers.astype(np.int64) - self.least).astype(np.uint32) << np.uint32(self.shift)


def bits(width: int, doc: str, *, word: str = "packed", least: int = 0) -> Bits:
    """Declares a field in the next free bits of a word.

    Args:
      width: number of bits. A field of one bit is a bool, a wider one an int32.
      doc: what the field means.
      word: the leaf that holds it, uint32.
      least: the smallest number that it holds; the largest is `least + 2**width - 1`.
    """
    return Bits(width, doc, word, least)


class View(Field):
    """A field that is computed from others, by the method that this decorates."""

    words_of: Inverse | None = None

    def inverse(self, fun: Inverse) -> Inverse:
        """Decorates the method with which `replace` accepts the view: it maps values to fields to replace."""
        self.words_of = fun
        return fun


class BitFields:
    """Base of classes with fields in bits; decorate each with `dataclass`."""

    bit_fields: ClassVar[Mapping[str, Bits]] = {}

    @classmethod
    def pack(cls, **fields: Any) -> Self:
        """Makes an object from its fields: all bits, and all leaves that hold no bits.

        Raises:
          TypeError: a field is missing or unknown.
          ValueError: as for `replace`.
        """
        missing = cls.bit_fields.keys() - fields
        if missing:
            raise TypeError(f"{cls.__name__}.pack needs the fields {', '.join(sorted(missing))}.")
        words = {field.word: cls._word(field.word, fields) for field in cls.bit_fields.values()}
        return cls(**words, **{name: value for name, value in fields.items() if name not in cls.bit_fields})

    def replace(self, **updates: Any) -> Self:
        """Returns a copy in which some fields have other values.

        Leaves are replaced first, then bits, then views.

        Args:
          **updates: values by the names of fields. Those of bits and views have the shape of the field, or one that
            broadcasts to it. Traced values are not checked: one that does not fit corrupts other fields.

        Raises:
          TypeError: a field is unknown, or computed from others without an inverse.
          ValueError: a value does not fit the field's bits, or its shape.
        """
        given, numbers, views = self._by_kind(updates)
        leaves = {name: getattr(self, name) for name in _leaves(type(self))} | given
        word_of = {name: self.bit_fields[name].word for name in numbers}
        numbers = {name: _shaped(name, value, np.shape(leaves[word_of[name]])) for name, value in numbers.items()}
        for word in dict.fromkeys(word_of.values()):
            leaves[word] = self._word(word, numbers, leaves[word])
        found = type(self)(**leaves)
        for name, (inverse, value) in views.items():
            words = inverse(found, value)
            shaped = {word: _shaped(name, new, np.shape(getattr(found, word))) for word, new in words.items()}
            found = found.replace(**shaped)
        return found

    def __repr__(self) -> str:
        """The fields by name, instead of the words that hold them; traced words are shown as they are."""
        shown: dict[str, Any] = {}
        for leaf in _leaves(type(self)):
            word = getattr(self, leaf)
            fields = self._fields_of(leaf)
            numbers = known(word) if isinstance(word, jax.Array | np.ndarray | np.generic) else None
            if fields and numbers is not None and numbers.dtype == np.uint32:
                values = {field.name: field.read(numbers) for field in fields}
                shown |= {name: value.item() if value.ndim == 0 else value for name, value in values.items()}
            else:
                shown[leaf] = word
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @classmethod
    def _fields_of(cls, word: str) -> list[Bits]:
        return [field for field in cls.bit_fields.values() if field.word == word]

    @classmethod
    def _word(cls, word: str, values: Mapping[str, Any], before: Any = None) -> Any:
        """A word with these values of its fields; the other fields are unchanged."""
        fields = cls._fields_of(word)
        given = [field for field in fields if field.name in values]
        placed = [field.place(values[field.name]) for field in given]
        if len(given) < len(fields):
            placed = [before & np.uint32(2**32 - 1 - sum(field.mask for field in given)), *placed]
        return functools.reduce(operator.or_, placed)

    @classmethod
    def _by_kind(
        cls, updates: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, tuple[Inverse, Any]]]:
        """The updates of leaves, of bits, and of views (with their inverses)."""
        leaves: dict[str, Any] = {}
        numbers: dict[str, Any] = {}
        views: dict[str, tuple[Inverse, Any]] = {}
        names = _leaves(cls)
        for name, value in updates.items():
            field = getattr(cls, name, None)
            if isinstance(field, Bits):
                numbers[name] = value
            elif isinstance(field, View) and field.words_of:
                views[name] = field.words_of, value
            elif isinstance(field, property):
                raise TypeError(
                    f"`{name}` of {cls.__name__} is computed from other fields. Replace those: {field.__doc__}"
                )
            elif name in names:
                leaves[name] = value
            else:
                known_names = ", ".join([*names, *cls.bit_fields])
                raise TypeError(f"{cls.__name__} has no field `{name}`, only {known_names}.")
        return leaves, numbers, views


@dataclass_transform(field_specifiers=(struct.field,))
def dataclass(cls: T) -> T:
    """Makes a class of `BitFields` a frozen dataclass and a pytree, as `flax.struct.dataclass` does.

    Raises:
      ValueError: the fields of a word need more than 32 bits, or their word is not a leaf.
    """
    made: Any = struct.dataclass(cls, repr=False)
    made.replace = made.__replace__ = BitFields.replace  # instead of flax's and dataclasses' own
    fields = dict(cls.bit_fields)
    for field in vars(cls).values():
        if isinstance(field, Bits):
            if field.word not in _leaves(made):
                raise ValueError(f"`{field.name}` of {cls.__name__} is in `{field.word}`, which is not a leaf of it.")
            field.shift = sum(other.width for other in fields.values() if other.word == field.word)
            if field.shift + field.width > 32:
                raise ValueError(f"`{field.name}` of {cls.__name__} does not fit the 32 bits of `{field.word}`.")
            fields[field.name] = field
    made.bit_fields = fields
    return made


@dataclass
class Word(BitFields):
    """Base of classes that are a single word.

    Attributes:
      packed: the word, uint32 ().
    """

    packed: Any

    def where(self, condition: Any) -> Self:
        """Returns this object if the condition, bool (), is true, else one with all fields zero."""
        return type(self)(jnp.where(condition, self.packed, np.uint32(0)))


def known(value: Any) -> np.ndarray | None:
    """The value as a numpy array, or None if it is traced or not on this host."""
    if isinstance(value, jax.Array) and (isinstance(value, Tracer) or not value.is_fully_addressable):
        return None
    return np.asarray(value)


def check_known(value: Any, holds: Callable[[np.ndarray], Any], text: str) -> None:
    """Raises `ValueError` with this text if the value is known and `holds` is false anywhere."""
    numbers = known(value)
    if numbers is not None and not np.all(holds(numbers)):
        raise ValueError(text)


def _leaves(cls: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)]


def _shaped(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    if np.shape(value) == shape:
        return value
    try:
        return (jnp if isinstance(value, jax.Array) else np).broadcast_to(value, shape)
    except ValueError:
        raise ValueError(f"`{name}` must fit the shape {shape}, got shape {np.shape(value)}.") from None
