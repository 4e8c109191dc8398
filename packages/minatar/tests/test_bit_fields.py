"""Fields in the bits of words: what is declared once can be read, replaced, shown and packed."""

from __future__ import annotations

import pickle
import pydoc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar import bit_fields
from envcore_minatar.bit_fields import View, Word, bits


@bit_fields.dataclass
class Ball(Word):
    """A ball."""

    x = bits(4, "Column.")
    y = bits(27, "Row.")
    lost = bits(1, "It has left the board.")


@bit_fields.dataclass
class Game(Ball):
    """A ball, and more in a second word."""

    rest: Any
    bricks: Any

    timer = bits(3, "From -1 to 6.", word="rest", least=-1)
    faces = bits(8, "Bit i.", word="rest")

    @View
    def direction(self) -> jax.Array:
        """-1 or 1."""
        return jnp.where(self.lost, 1, -1)

    @direction.inverse
    def _lost(self, direction: Any) -> dict[str, Any]:
        return {"lost": jnp.asarray(direction) > 0}

    @View
    def wall(self) -> jax.Array:
        """The bricks, as an array."""
        return jnp.stack([self.bricks & 1, self.bricks >> 1], axis=-1)

    @wall.inverse
    def _bricks(self, wall: Any) -> dict[str, Any]:
        wall = jnp.asarray(wall).astype(jnp.uint32)
        return {"bricks": wall[..., 0] | (wall[..., 1] << 1)}

    @View
    def last_column(self) -> jax.Array:
        """9 - `x`."""
        return 9 - self.x

    @property
    def is_left(self) -> jax.Array:
        """Whether `x` is below 5."""
        return self.x < 5


FIELDS = {"x": 3, "y": 77, "lost": True, "timer": -1, "faces": 129}
GAME = jax.tree.map(jnp.asarray, Game.pack(**FIELDS, bricks=np.uint32(2)))
RNG = np.random.default_rng(0)


def read(game: Game) -> dict[str, Any]:
    return {name: np.asarray(getattr(game, name)).tolist() for name in FIELDS}


def test_what_is_packed_is_read() -> None:
    numbers = RNG.integers(0, 16, 1000), RNG.integers(0, 2**27, 1000), RNG.random(1000) < 0.5
    x, y, lost = map(jnp.asarray, numbers)
    ball = Ball.pack(x=x, y=y, lost=lost)
    for found, expected in zip((ball.x, ball.y, ball.lost), numbers, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert (ball.x.dtype, ball.y.dtype, ball.lost.dtype) == (jnp.int32, jnp.int32, jnp.bool_)
    assert read(GAME) == FIELDS


def test_the_first_field_has_the_lowest_bits_and_inherited_ones_come_first() -> None:
    assert int(GAME.packed) == 3 | 77 << 4 | 1 << 31
    assert int(GAME.rest) == 0 | 129 << 3


def test_it_is_a_pytree_of_its_words() -> None:
    leaves, _ = jax.tree.flatten_with_path(GAME)
    assert {jax.tree_util.keystr(path): leaf.dtype for path, leaf in leaves} == {
        ".packed": jnp.uint32,
        ".rest": jnp.uint32,
        ".bricks": jnp.uint32,
    }
    doubled = jax.tree.map(lambda x: jnp.stack([x, x]), GAME)
    assert isinstance(doubled, Game)
    assert doubled.y.tolist() == [77, 77]


@pytest.mark.parametrize(
    ("update", "value"),
    [
        ("x", 15),
        ("x", np.uint8(0)),
        ("x", jnp.int8(9)),
        ("y", 2**27 - 1),
        ("lost", False),
        ("lost", np.bool_(False)),
        ("timer", 6),
        ("timer", jnp.int32(0)),
        ("faces", 255),
    ],
)
def test_replace_changes_one_field(update: str, value: Any) -> None:
    """The same under `jit`."""
    for replaced in (
        GAME.replace(**{update: value}),
        jax.jit(lambda game, x: game.replace(**{update: x}))(GAME, value),
    ):
        assert read(replaced) == {**FIELDS, update: value}
        assert jax.tree.map(jax.typeof, replaced) == jax.tree.map(jax.typeof, GAME)


def test_replace_changes_several_words_leaves_first_and_views_last() -> None:
    replaced = GAME.replace(packed=jnp.uint32(5), y=6, faces=1, direction=1, wall=[1, 0], bricks=jnp.uint32(0))
    assert read(replaced) == {"x": 5, "y": 6, "lost": True, "timer": -1, "faces": 1}
    assert int(replaced.bricks) == 1
    assert int(GAME.replace(direction=-1).direction) == -1
    assert GAME.replace(wall=[1, 1]).wall.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("update", "value", "message"),
    [
        ("x", 16, "`x` must be from 0 to 15, got 16"),
        ("x", -1, "`x` must be from 0 to 15, got -1"),
        ("x", jnp.int32(16), "`x` must be from 0 to 15, got 16"),
        ("x", 10**30, "integers or bools"),
        ("x", 1.0, "integers or bools, got 1.0"),
        ("lost", 2, "`lost` must be from 0 to 1, got 2"),
        ("timer", -2, "`timer` must be from -1 to 6, got -2"),
        ("timer", 7, "`timer` must be from -1 to 6, got 7"),
        ("x", [1, 2], r"`x` must fit the shape \(\), got shape \(2,\)"),
        ("wall", [[1, 0], [1, 0]], r"`wall` must fit the shape \(\), got shape \(2,\)"),
    ],
)
def test_values_that_do_not_fit(update: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GAME.replace(**{update: value})


def test_a_batch_with_one_value_that_does_not_fit() -> None:
    batch = jax.tree.map(lambda x: jnp.stack([x, x]), GAME)
    with pytest.raises(ValueError, match="got 99"):
        batch.replace(x=np.array([3, 99]))


def test_under_jit_floats_are_refused_and_integers_are_not_checked() -> None:
    replace = jax.jit(lambda x: GAME.replace(x=x))
    with pytest.raises(ValueError, match="integers or bools"):
        replace(1.0)
    assert read(replace(17)) != FIELDS


def test_no_such_field() -> None:
    with pytest.raises(TypeError, match="Game has no field `z`, only packed, rest, bricks, x, y, lost, timer, faces"):
        GAME.replace(z=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Game.pack(**FIELDS, bricks=0, z=1)


@pytest.mark.parametrize(("name", "meaning"), [("last_column", "9 - `x`"), ("is_left", "Whether `x` is below 5")])
def test_what_is_computed_cannot_be_replaced(name: str, meaning: str) -> None:
    with pytest.raises(TypeError, match=f"`{name}` of Game is computed from other fields. Replace those: {meaning}"):
        GAME.replace(**{name: 1})


def test_pack_takes_all_fields() -> None:
    with pytest.raises(TypeError, match=r"Ball\.pack needs the fields lost, y"):
        Ball.pack(x=1)
    with pytest.raises(ValueError, match="`x` must be from 0 to 15"):
        Ball.pack(x=16, y=0, lost=False)


def test_batches() -> None:
    """Values for each, one for all, and views; the same as under `vmap`."""
    xs = jnp.arange(6, dtype=jnp.int32).reshape(2, 3)
    batch = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (2, 3)), GAME).replace(x=xs)
    mapped = jax.vmap(jax.vmap(lambda x: GAME.replace(x=x)))(xs)
    jax.tree.map(np.testing.assert_array_equal, batch, mapped)
    assert batch.x.tolist() == xs.tolist()
    assert batch.replace(y=np.array([1, 2, 3])).y.tolist() == [[1, 2, 3]] * 2
    everything = batch.replace(x=1, y=2, lost=False, wall=[1, 0])
    assert everything.packed.shape == everything.bricks.shape == (2, 3)
    assert everything.wall.tolist() == [[[1, 0]] * 3] * 2
    jax.tree.map(np.testing.assert_array_equal, jax.vmap(lambda b: b.replace(y=4))(batch), batch.replace(y=4))


def test_repr_shows_the_fields() -> None:
    assert repr(GAME) == "Game(x=3, y=77, lost=True, timer=-1, faces=129, bricks=Array(2, dtype=uint32))"
    assert repr(Ball.pack(x=np.array([1, 2]), y=0, lost=False)).startswith("Ball(x=array([1, 2], dtype=int32), y=")


def test_repr_of_what_is_not_numbers() -> None:
    assert repr(jax.tree.map(lambda _: None, GAME)) == "Game(packed=None, rest=None, bricks=None)"
    assert "packed=ShapeDtypeStruct" in repr(jax.eval_shape(lambda: GAME))
    assert "packed=1.5" in repr(GAME.replace(packed=1.5))
    seen: list[str] = []
    jax.make_jaxpr(lambda game: seen.append(repr(game)))(GAME)
    assert "packed=JitTracer" in seen[0] or "packed=Traced" in seen[0]


def test_help_shows_what_fields_mean() -> None:
    text = pydoc.plain(pydoc.render_doc(Game))
    for line in ("Column.", "It has left the board.", "From -1 to 6.", "-1 or 1."):
        assert line in text


def test_pickle_copies_and_is_equal() -> None:
    copied = pickle.loads(pickle.dumps(GAME))
    assert copied == GAME
    assert copied.y == 77


def test_where() -> None:
    assert int(Ball.pack(x=1, y=2, lost=True).where(False).packed) == 0
    assert int(Ball.pack(x=1, y=2, lost=True).where(True).y) == 2


def test_a_word_has_32_bits() -> None:
    with pytest.raises(ValueError, match="`y` of Long does not fit the 32 bits of `packed`"):

        @bit_fields.dataclass
        class Long(Word):  # pyright: ignore[reportUnusedClass]
            x = bits(4, "")
            y = bits(29, "")


def test_a_word_is_a_leaf() -> None:
    with pytest.raises(ValueError, match="`x` of Wrong is in `other`, which is not a leaf"):

        @bit_fields.dataclass
        class Wrong(Word):  # pyright: ignore[reportUnusedClass]
            x = bits(4, "", word="other")
