"""Views of states: what is computed from fields can be read, replaced where it has an inverse, and is no leaf."""

from __future__ import annotations

import pickle
import pydoc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar import views
from envcore_minatar.views import View, Views, check_known


@views.dataclass
class Ball(Views):
    """A ball.

    Attributes:
      x: column.
      lost: it has left the board.
    """

    x: Any
    lost: Any


@views.dataclass
class Game(Ball):
    """A ball and bricks."""

    bricks: Any

    @View
    def direction(self) -> jax.Array:
        """-1 or 1."""
        return jnp.where(self.lost, 1, -1)

    @direction.inverse
    def _lost(self, direction: Any) -> dict[str, Any]:
        check_known(direction, lambda x: abs(x) == 1, "`direction` must be -1 or 1.")
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


GAME = Game(x=jnp.int32(3), lost=jnp.bool_(True), bricks=jnp.uint32(2))


def test_it_is_a_pytree_of_its_fields() -> None:
    leaves, _ = jax.tree.flatten_with_path(GAME)
    assert {jax.tree_util.keystr(path): leaf.dtype for path, leaf in leaves} == {
        ".x": jnp.int32,
        ".lost": jnp.bool_,
        ".bricks": jnp.uint32,
    }
    doubled = jax.tree.map(lambda x: jnp.stack([x, x]), GAME)
    assert isinstance(doubled, Game)
    assert doubled.wall.tolist() == [[0, 1], [0, 1]]


def test_views_are_computed_from_fields() -> None:
    assert (int(GAME.direction), GAME.wall.tolist(), int(GAME.last_column), bool(GAME.is_left)) == (1, [0, 1], 6, True)


def test_replace_changes_fields_first_and_views_last() -> None:
    """The same under `jit`."""
    updates = {"x": jnp.int32(5), "direction": -1, "wall": [1, 0], "bricks": jnp.uint32(0)}
    for replaced in (GAME.replace(**updates), jax.jit(lambda game: game.replace(**updates))(GAME)):
        assert (int(replaced.x), bool(replaced.lost), int(replaced.bricks)) == (5, False, 1)
    assert int(GAME.replace(direction=1).direction) == 1
    assert GAME.replace(wall=[1, 1]).wall.tolist() == [1, 1]
    assert GAME.x == 3


def test_batches() -> None:
    """Fields and views; the same as under `vmap`."""
    xs = jnp.arange(6, dtype=jnp.int32).reshape(2, 3)
    walls = jnp.stack([xs % 2, xs // 2 % 2], axis=-1)
    batch = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (2, 3)), GAME).replace(x=xs, wall=walls)
    mapped = jax.vmap(jax.vmap(lambda x, wall: GAME.replace(x=x, wall=wall)))(xs, walls)
    jax.tree.map(np.testing.assert_array_equal, batch, mapped)
    assert batch.bricks.tolist() == (xs % 4).tolist()


def test_a_value_that_a_view_cannot_have() -> None:
    with pytest.raises(ValueError, match="`direction` must be -1 or 1"):
        GAME.replace(direction=2)
    assert bool(jax.jit(lambda x: GAME.replace(direction=x))(2).lost)  # what is traced is not checked


def test_no_such_field() -> None:
    with pytest.raises(TypeError, match="Game has no field `z`, only x, lost, bricks"):
        GAME.replace(z=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Game(x=1, lost=False, bricks=0, z=1)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(("name", "meaning"), [("last_column", "9 - `x`"), ("is_left", "Whether `x` is below 5")])
def test_what_is_computed_cannot_be_replaced(name: str, meaning: str) -> None:
    with pytest.raises(TypeError, match=f"`{name}` of Game is computed from other fields. Replace those: {meaning}"):
        GAME.replace(**{name: 1})


def test_repr_shows_the_fields() -> None:
    assert repr(Game(x=3, lost=True, bricks=2)) == "Game(x=3, lost=True, bricks=2)"
    assert repr(jax.tree.map(lambda _: None, GAME)) == "Game(x=None, lost=None, bricks=None)"


def test_help_shows_what_fields_and_views_mean() -> None:
    assert "it has left the board." in pydoc.plain(pydoc.render_doc(Ball))
    text = pydoc.plain(pydoc.render_doc(Game))
    for line in ("-1 or 1.", "The bricks, as an array."):
        assert line in text


def test_pickle_copies_and_is_equal() -> None:
    copied = pickle.loads(pickle.dumps(GAME))
    assert copied == GAME
    assert int(copied.x) == 3
