"""Space Invaders against the original: its recordings, the package itself, and our additions."""

from __future__ import annotations

from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore_minatar.space_invaders import SpaceInvaders, SpaceInvadersState, rows_of
from minatar_rules import FIRE, LEFT, NOTHING, RIGHT, UP, check_step, rules
from minatar_states import replaced


def first() -> SpaceInvadersState:
    env = SpaceInvaders()
    return env.init_state(jax.random.key(0), env.default_params)


NUMBERS = (
    "pos", "alien_dir", "enemy_move_interval", "alien_move_timer", "alien_shot_timer", "ramp_index", "shot_timer",
    "terminal", "f_bullet_map", "e_bullet_map", "alien_map",
)  # fmt: skip
TASK = lockstep.by_name(first, NUMBERS, computed=["ramp_index"])


def game(difficulty_ramping: bool = True) -> SpaceInvaders:
    return SpaceInvaders(use_minimal_action_set=False, difficulty_ramping=difficulty_ramping)


def fields(original: Any) -> dict[str, Any]:
    return {name: np.array(getattr(original, name), np.int8) for name in NUMBERS}


def in_danger(original: Any, pos: int) -> bool:
    """Whether the next step may be fatal in this column."""
    near = original.alien_map[9, max(0, pos - 1) : pos + 2] if original.alien_move_timer == 0 else [0]
    return bool(original.e_bullet_map[8, pos] or original.alien_map[9, pos] or np.any(near))


def targets(original: Any) -> np.ndarray:
    """Columns from which a bullet shot now would hit, unless the aliens turn before."""
    columns = np.flatnonzero(original.alien_map.any(0))
    flight = np.argmax(original.alien_map[::-1, columns], axis=0)
    period = min(np.count_nonzero(original.alien_map), original.enemy_move_interval)
    moves = np.maximum(0, (flight - original.alien_move_timer - 1) // period + 1)
    return columns + original.alien_dir * moves


def dodges_and_fires(original: Any, rng: np.random.Generator) -> int:
    """Avoids bullets, else moves where a shot hits, and fires: it clears waves."""
    pos, aims = original.pos, targets(original)
    aim = aims[np.argmin(abs(aims - pos))]
    wanted = int(np.select([aim < pos, aim > pos], [LEFT, RIGHT], FIRE))
    choices = [(wanted, pos + (wanted == RIGHT) - (wanted == LEFT)), (FIRE, pos), (LEFT, pos - 1), (RIGHT, pos + 1)]
    safe = [action for action, x in choices if 0 <= x <= 9 and not in_danger(original, x)]
    return safe[0] if safe and rng.random() > 0.005 else int(rng.integers(6))


def dodges(original: Any, rng: np.random.Generator) -> int:
    """The same without shooting: aliens come down to the bottom."""
    action = dodges_and_fires(original, rng)
    return NOTHING if action == FIRE else action


def board(*cells: tuple[int, int]) -> list[list[bool]]:
    """The board with these cells (row, column) set."""
    return [[(row, column) in cells for column in range(10)] for row in range(10)]


WAVE = board(*((row, column) for row in range(4) for column in range(2, 8)))
CALM = {"alien_map": board((0, 4), (0, 5)), "alien_move_timer": 5, "alien_shot_timer": 5, "alien_dir": -1, "pos": 5}


@rules(
    ("left", {}, LEFT, {"pos": 4}, 0, False),
    ("right", {}, RIGHT, {"pos": 6}, 0, False),
    ("up does nothing", {}, UP, {"pos": 5, "f_bullet_map": board()}, 0, False),
    ("the edge stops the cannon", {"pos": 9}, RIGHT, {"pos": 9}, 0, False),
    ("fire, and the bullet flies", {}, FIRE, {"f_bullet_map": board((8, 5)), "shot_timer": 4}, 0, False),
    ("too early to fire", {"shot_timer": 2}, FIRE, {"f_bullet_map": board(), "shot_timer": 1}, 0, False),
    ("our bullets fly up", {"f_bullet_map": board((5, 1), (0, 3))}, NOTHING, {"f_bullet_map": board((4, 1))}, 0, False),
    ("theirs fly down", {"e_bullet_map": board((5, 1), (9, 3))}, NOTHING, {"e_bullet_map": board((6, 1))}, 0, False),
    ("one reaches the cannon", {"e_bullet_map": board((8, 5))}, NOTHING, {}, 0, True),
    ("or misses it", {"e_bullet_map": board((8, 5))}, LEFT, {"pos": 4}, 0, False),
    ("timers fall", {}, NOTHING, {"alien_move_timer": 4, "alien_shot_timer": 4}, 0, False),
    ("two aliens move every second step", {"alien_move_timer": 0}, NOTHING,
     {"alien_map": board((0, 3), (0, 4)), "alien_move_timer": 1}, 0, False),
    ("to the right", {"alien_move_timer": 0, "alien_dir": 1}, NOTHING, {"alien_map": board((0, 5), (0, 6))}, 0, False),
    ("many move at the interval", {"alien_move_timer": 0, "alien_map": WAVE}, NOTHING,
     {"alien_move_timer": 11}, 0, False),
    ("at the edge they go down and turn", {"alien_move_timer": 0, "alien_map": board((2, 0), (3, 4))}, NOTHING,
     {"alien_map": board((3, 0), (4, 4)), "alien_dir": 1}, 0, False),
    ("an alien reaches the cannon", {"alien_move_timer": 0, "alien_map": board((9, 6))}, NOTHING, {}, 0, True),
    ("or the cannon an alien", {"alien_map": board((9, 6))}, RIGHT, {}, 0, True),
    ("they turn at the bottom", {"alien_move_timer": 0, "alien_map": board((2, 0), (9, 9))}, NOTHING, {}, 0, True),
    ("the lowest in the nearest column shoots", {"alien_shot_timer": 0, "alien_map": board((1, 6), (3, 6), (4, 2))},
     NOTHING, {"e_bullet_map": board((3, 6)), "alien_shot_timer": 9}, 0, False),
    ("of two columns the left one", {"alien_shot_timer": 0, "alien_map": board((1, 6), (2, 4))}, NOTHING,
     {"e_bullet_map": board((2, 4))}, 0, False),
    ("an alien and the bullet are gone", {"f_bullet_map": board((1, 5))}, NOTHING,
     {"alien_map": board((0, 4)), "f_bullet_map": board()}, 1, False),
    ("the next wave is faster", {"alien_map": board((0, 5)), "f_bullet_map": board((1, 5))}, NOTHING,
     {"alien_map": WAVE, "enemy_move_interval": 11, "ramp_index": 1}, 1, False),
    ("down to every sixth step", {"alien_map": board((0, 5)), "f_bullet_map": board((1, 5)), "enemy_move_interval": 6},
     NOTHING, {"alien_map": WAVE, "enemy_move_interval": 6, "ramp_index": 6}, 1, False),
    ("after the end nothing moves", {"terminal": True}, LEFT, {"pos": 5, "alien_move_timer": 5}, 0, True),
)  # fmt: skip
def test_rules(before: Any, action: int, after: Any, reward: float, end: bool) -> None:
    state = replaced(first(), {**CALM, **before})
    check_step(game(), state, action, (), after, reward, end)


def test_states_from_boards() -> None:
    boards = np.random.default_rng(0).integers(2, size=(3, 4, 10, 10))
    state = first().replace(rows=rows_of(*boards), alien_dir=1)
    for found, wanted in zip((state.alien_map, state.f_bullet_map, state.e_bullet_map), boards, strict=True):
        np.testing.assert_array_equal(found, wanted)
    obs = game().observe(state.replace(rows=state.rows[0]), game().default_params)
    np.testing.assert_array_equal(obs[..., 3], boards[0, 0])  # aliens that move right


@pytest.mark.parametrize("difficulty_ramping", [pytest.param(True, marks=pytest.mark.slow), False])
def test_every_recorded_step(difficulty_ramping: bool) -> None:
    steps = lockstep.recorded("space_invaders", lambda recording: ())
    lockstep.check(TASK, game(difficulty_ramping), steps)


def test_recorded_resets() -> None:
    def starts(recording: golden.Recording) -> Any:
        number = len(recording.extras["reset.pos"])
        return jax.vmap(lambda _: first())(jnp.zeros(number))

    lockstep.check_resets(TASK, "space_invaders", starts)


@pytest.mark.parametrize(("difficulty_ramping", "fastest"), [(True, 6), (False, 12)])
@pytest.mark.slow
def test_lockstep_with_the_original(difficulty_ramping: bool, fastest: int) -> None:
    env = game(difficulty_ramping)

    waves, *others = [
        lockstep.played("space_invaders", env, fields, lockstep.no_calls, num_steps, policy=policy)
        for policy, num_steps in ((dodges_and_fires, 6000), (None, 3000), (dodges, 3000))
    ]
    assert waves.after["enemy_move_interval"].min() == fastest
    assert waves.reward.sum() > 500
    lockstep.check_games(TASK, env, waves)
    lockstep.check(TASK, env, jax.tree.map(lambda *x: np.concatenate(x), waves, *others))
