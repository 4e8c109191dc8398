from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import hostile_files
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite import checkpoints, csv_log
from envcore_bsuite.agents import random_agent
from envcore_bsuite.checkpoints import path_of
from envcore_bsuite.csv_log import Row
from envcore_bsuite.errors import RunError
from envcore_bsuite.playing import Play
from envcore_bsuite.programs import Lane
from envcore_runs import checkpoint

LANES = (Lane("catch/3", 0), Lane("catch/4", 1))
ROWS: list[list[Row]] = [[dict(zip(csv_log.COLUMNS, (9, 1, 0.1, 9, 0.1), strict=True))], []]
TREE: dict[str, Any] = {
    "key": jax.random.split(jax.random.key(3), 2),
    "legacy": jax.random.PRNGKey(4),
    "numbers": (jnp.arange(4, dtype=jnp.uint8), jnp.float32(0.1), jnp.array([True, False])),
}


def test_save_and_restore() -> None:
    found = checkpoints.load(checkpoints.content(LANES, ROWS, TREE), Path("a"))
    assert (found.path, found.lanes, found.rows) == (Path("a"), LANES, ROWS)
    restored = found.restore(jax.tree.map(jnp.zeros_like, TREE))
    assert restored["key"].dtype == TREE["key"].dtype
    for got, expected in zip(jax.tree.leaves(restored), jax.tree.leaves(TREE), strict=True):
        if jnp.issubdtype(expected.dtype, jax.dtypes.prng_key):
            got, expected = jax.random.key_data(got), jax.random.key_data(expected)
        np.testing.assert_array_equal(got, expected, strict=True)


def test_other_lanes_have_a_different_file(tmp_path: Path) -> None:
    for lanes, rows in ((LANES, ROWS), (LANES[:1], ROWS[:1])):
        path_of(tmp_path, lanes).write_bytes(checkpoints.content(lanes, rows, TREE))
    found = list(checkpoints.load_all(tmp_path))
    assert {each.lanes for each, _ in found} == {LANES, LANES[:1]}
    assert all(each.path.read_bytes() == content for each, content in found)


@pytest.mark.parametrize(
    "like", [{"key": TREE["key"]}, {**TREE, "legacy": jnp.zeros(3, jnp.uint32)}, {**TREE, "legacy": jnp.zeros(2)}]
)
def test_another_agents_state(tmp_path: Path, like: object) -> None:
    found = checkpoints.load(checkpoints.content(LANES, ROWS, TREE), path_of(tmp_path, LANES))
    with pytest.raises(RunError, match=r"catch-3-.*\.safetensors was saved by another agent, or by another version"):
        found.restore(like)


def test_a_flipped_bit() -> None:
    content = bytearray(checkpoints.content(LANES, ROWS, TREE))
    content[-1] ^= 1
    with pytest.raises(RunError, match=r"^a is damaged: its content is not what was written"):
        checkpoints.load(bytes(content), Path("a"))


def test_a_broken_file(tmp_path: Path) -> None:
    path_of(tmp_path, LANES).write_bytes(b"PK nonsense")
    with pytest.raises(RunError, match=r"is damaged: .*\. Delete it to play its settings again\.$"):
        list(checkpoints.load_all(tmp_path))


PLAY = Play(random_agent, 0, {}, (Lane("catch/0", 0), Lane("catch/1", 0)), Path("a.safetensors"))


@pytest.fixture(scope="module")
def state() -> tuple[dict[str, np.ndarray], Any]:
    """The arrays of a checkpoint after some episodes, and what it says about them."""
    save = next(save for update, save in PLAY(None) if all(number >= 3 for number in update.episodes.values()))
    return checkpoint.unpacked(checkpoints.file_of(PLAY.path), save(), dict[str, Any])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about: about["lanes"].__setitem__(1, ["catch/0", 0]), "several different lanes"),
        (lambda about: about["lanes"].__setitem__(1, ["catch/99", 0]), "a lane of no setting of bsuite, 'catch/99'"),
        (
            lambda about: about["lanes"].__setitem__(1, ["catch/1", -1]),
            r"its lanes\[1\].repeat is -1, not an integer from 0",
        ),
        (lambda about: about["rows"][0].pop(0), "rows of other episodes than those that are logged"),
        (lambda about: about["rows"].pop(), "not one list of rows for each"),
        (lambda about: about["rows"][0][1].pop("episode"), "a row without the columns"),
        (lambda about: about["rows"][0][0].update(steps="1"), r"its rows\[0\]\[0\].steps is '1', not a number"),
    ],
)
def test_facts_that_do_not_fit(state: tuple[dict[str, np.ndarray], Any], change: Any, message: str) -> None:
    arrays, about = copy.deepcopy(state)
    change(about)
    with pytest.raises(RunError, match=f"^a.safetensors is damaged: .*{message}"):
        list(PLAY(hostile_files.sealed(arrays, about)))
