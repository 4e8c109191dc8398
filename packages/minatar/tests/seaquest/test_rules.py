"""The rules of Seaquest, one case per line, and its draws; `test_lockstep` plays the original beside it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore_minatar.seaquest import SeaquestDraws
from envcore_testing.compilation import quick_jit
from minatar_rules import DOWN, FIRE, LEFT, NOTHING, RIGHT, UP, check_step, rules
from seaquest_original import ENV, LISTS, TASK, state_with

FROM_LEFT, FROM_RIGHT = True, False  # directions: to the right, to the left
DIVED = {"sub_x": 5, "sub_y": 4, "surface": False, "oxygen": 100, "e_spawn_timer": 9, "d_spawn_timer": 9}
DRAWS = {"enemy_right": True, "enemy_is_sub": False, "enemy_row": 2, "diver_right": False, "diver_row": 6}


# An item of the original's lists has x, y, direction, then timers of moves and shots.
@rules(
    ("left", {}, LEFT, {"sub_x": 4, "sub_or": False}, 0, False),
    ("right turns the submarine", {}, RIGHT, {"sub_x": 6, "sub_or": True}, 0, False),
    ("up", {}, UP, {"sub_y": 3}, 0, False),
    ("down", {}, DOWN, {"sub_y": 5}, 0, False),
    ("row 8 is the lowest", {"sub_y": 8}, DOWN, {"sub_y": 8}, 0, False),
    ("the edge stops the player", {"sub_x": 0}, LEFT, {"sub_x": 0}, 0, False),
    ("fire, and the bullet flies", {}, FIRE, {"f_bullets": [(4, 4, FROM_RIGHT)], "shot_timer": 4}, 0, False),
    ("too early to fire", {"shot_timer": 2}, FIRE, {"f_bullets": [], "shot_timer": 1}, 0, False),
    ("off the board it is gone", {"f_bullets": [(9, 2, FROM_LEFT)]}, NOTHING, {"f_bullets": []}, 0, False),
    ("a bullet kills a fish", {"f_bullets": [(2, 2, FROM_LEFT)], "e_fish": [(3, 2, FROM_RIGHT, 5)]}, NOTHING,
     {"f_bullets": [], "e_fish": []}, 1, False),
    ("a bullet kills a submarine", {"f_bullets": [(2, 2, FROM_LEFT)], "e_subs": [(3, 2, FROM_RIGHT, 5, 9)]}, NOTHING,
     {"f_bullets": [], "e_subs": []}, 1, False),
    ("a fish swims into a bullet", {"f_bullets": [(2, 2, FROM_LEFT)], "e_fish": [(4, 2, FROM_RIGHT, 0)]}, NOTHING,
     {"f_bullets": [], "e_fish": []}, 1, False),
    ("a fish waits", {"e_fish": [(3, 2, FROM_LEFT, 1)]}, NOTHING, {"e_fish": [(3, 2, FROM_LEFT, 0)]}, 0, False),
    ("and swims", {"e_fish": [(3, 2, FROM_LEFT, 0)]}, NOTHING, {"e_fish": [(4, 2, FROM_LEFT, 5)]}, 0, False),
    ("and leaves", {"e_fish": [(0, 2, FROM_RIGHT, 0)]}, NOTHING, {"e_fish": []}, 0, False),
    ("a submarine shoots", {"e_subs": [(3, 2, FROM_LEFT, 5, 0)]}, NOTHING,
     {"e_subs": [(3, 2, FROM_LEFT, 4, 10)], "e_bullets": [(4, 2, FROM_LEFT)]}, 0, False),
    ("a fish hits the player", {"e_fish": [(4, 4, FROM_LEFT, 0)]}, NOTHING, {}, 0, True),
    ("the player hits a fish", {"e_fish": [(4, 4, FROM_RIGHT, 3)]}, LEFT, {}, 0, True),
    ("a bullet hits the player", {"e_bullets": [(4, 4, FROM_LEFT)]}, NOTHING, {}, 0, True),
    ("a diver waits", {"divers": [(3, 2, FROM_LEFT, 1)]}, NOTHING, {"divers": [(3, 2, FROM_LEFT, 0)]}, 0, False),
    ("and swims", {"divers": [(3, 2, FROM_LEFT, 0)]}, NOTHING, {"divers": [(4, 2, FROM_LEFT, 5)]}, 0, False),
    ("and comes on board", {"divers": [(5, 4, FROM_LEFT, 3)]}, NOTHING, {"divers": [], "diver_count": 1}, 0, False),
    ("there is room for six", {"divers": [(5, 4, FROM_LEFT, 3)], "diver_count": 6}, NOTHING,
     {"divers": [(5, 4, FROM_LEFT, 2)], "diver_count": 6}, 0, False),
    ("an enemy spawns", {"e_spawn_timer": 0}, NOTHING,
     {"e_fish": [(0, 3, FROM_LEFT, 4)], "e_spawn_timer": 19}, 0, False),
    ("but not where one comes the other way", {"e_spawn_timer": 0, "e_fish": [(8, 3, FROM_RIGHT, 5)]}, NOTHING,
     {"e_fish": [(8, 3, FROM_RIGHT, 4)], "e_spawn_timer": 19}, 0, False),
    ("a diver spawns", {"d_spawn_timer": 0}, NOTHING,
     {"divers": [(9, 7, FROM_RIGHT, 4)], "d_spawn_timer": 29}, 0, False),
    ("oxygen falls", {"oxygen": 100}, NOTHING, {"oxygen": 99}, 0, False),
    ("and runs out", {"oxygen": 0}, NOTHING, {"oxygen": -1}, 0, True),
    ("surfacing takes a diver", {"sub_y": 1, "diver_count": 2}, UP,
     {"oxygen": 200, "diver_count": 1, "surface": True}, 0, False),
    ("and makes enemies spawn faster", {"sub_y": 1, "diver_count": 2, "ramp_index": 0}, UP,
     {"e_spawn_speed": 19, "move_speed": 5, "ramp_index": 1}, 0, False),
    ("and move faster every second time", {"sub_y": 1, "diver_count": 2, "ramp_index": 1}, UP,
     {"e_spawn_speed": 19, "move_speed": 4, "ramp_index": 2}, 0, False),
    ("six divers are worth the oxygen left", {"sub_y": 1, "diver_count": 6, "oxygen": 119}, UP,
     {"oxygen": 200, "diver_count": -1}, 5, False),
    ("surfacing without a diver", {"sub_y": 1, "diver_count": 0}, UP, {}, 0, True),
    ("with less than none", {"sub_y": 1, "diver_count": -1}, UP, {"oxygen": 200, "diver_count": -2}, 0, False),
    ("at the surface nothing is used up", {"sub_y": 0, "surface": True}, NOTHING, {"oxygen": 100}, 0, False),
    ("after the end nothing moves", {"terminal": True}, UP, {"sub_y": 4, "oxygen": 100}, 0, True),
)  # fmt: skip
def test_rules(before: Any, action: int, after: Any, reward: float, end: bool) -> None:
    draws = SeaquestDraws(**{name: jnp.asarray(number) for name, number in DRAWS.items()})
    found = check_step(ENV, state_with({**DIVED, **before}), action, draws, numbers(after), reward, end)
    fields = TASK.to_original(found)
    for name in LISTS.keys() & after.keys():
        items = np.asarray(fields[name])[: int(fields[f"{name}_count"])].tolist()
        assert items == [[*map(int, item)] for item in after[name]], name


def numbers(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in LISTS}


def test_draws_are_uniform() -> None:
    """Each of the 768 outcomes has its share of the random words."""
    words = (np.arange(768 * 8, dtype=np.uint64) * 2**32 // (768 * 8) + 1000).astype(np.uint32)
    draws = quick_jit(jax.vmap(ENV.draw_game))(words[:, None])
    assert np.asarray(draws.enemy_is_sub).mean() == 1 / 3
    outcomes, shares = np.unique(np.stack([np.asarray(x, np.int32) for x in draws]), axis=1, return_counts=True)
    assert outcomes.shape[1] == 2 * 2 * 8 * 2 * 8
    subs = outcomes[1] == 1
    assert set(shares[subs]) == {8}
    assert set(shares[~subs]) == {16}
