"""Freeway against the original: its recordings, the package itself, and our additions."""

from __future__ import annotations

from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore_minatar.freeway import Freeway
from envcore_minatar.game import UP
from envcore_minatar.packing import unpack_lanes
from envcore_testing.compilation import quick_jit
from lockstep import Calls
from minatar_rules import DOWN, NOTHING, check_step, rules
from minatar_states import replaced

NUMBERS = ("pos", "move_timer", "terminate_timer", "terminal", "cars")
TASK = lockstep.by_name(lambda: ENV.init_state(jnp.uint32(0), ENV.default_params), NUMBERS)
CLIMBS = (0.02, 0.02, 0.8, 0.02, 0.12, 0.02)
KEY = jax.random.key(0)


ENV = Freeway(use_minimal_action_set=False)


def fields(original: Any) -> dict[str, Any]:
    return {name: np.array(getattr(original, name), np.int16) for name in NUMBERS}


def as_draws(speeds: np.ndarray, u_direction: np.ndarray) -> Any:
    """The recorded draws as ours; zeros where nothing was drawn."""
    numbers = np.where(speeds > 0, speeds + 8 * (u_direction > 0.5), 0)
    return (numbers.astype(np.uint32) << np.arange(0, 32, 4, dtype=np.uint32)).sum(1, dtype=np.uint32)


def calls(original: Any, action: int, draws: Any) -> Calls:
    wins = action == UP and original.pos == 1 and original.move_timer == 0
    numbers = draws >> np.arange(0, 32, 4, dtype=np.uint32) & np.uint32(15)
    new_cars = [("randint", (numbers % 8).astype(int)), ("rand", np.where(numbers >= 8, 0.75, 0.25))]
    return new_cars if wins else []


def climbs(original: Any, rng: np.random.Generator) -> int:
    """Goes up, most of the time."""
    return int(rng.choice(6, p=CLIMBS))


def crosses(original: Any, rng: np.random.Generator) -> int:
    """Goes up if no car is near, else stays."""
    near = any(y == original.pos - 1 and abs(x - 4) < 2 for x, y, *_ in original.cars)
    return 0 if near else UP


DRAWN = 0x99999999  # speed 1 to the right in every lane


def lanes(**rows: tuple[int, int, int]) -> list[list[int]]:
    """`cars` with (column, timer, speed) in these rows, and elsewhere cars far away: `lanes(row3=(4, 0, -2))`."""
    return [[column, row, *rest] for row in range(1, 9) for column, *rest in [rows.get(f"row{row}", (8, 5, 5))]]


def moved(**rows: tuple[int, int, int]) -> list[list[int]]:
    """The same one step later: the other cars have waited for a step."""
    return [car if f"row{car[1]}" in rows else [car[0], car[1], car[2] - 1, car[3]] for car in lanes(**rows)]


XS = 0x88888888  # of `lanes()`


@rules(
    ("up", {"pos": 5}, UP, {"pos": 4, "move_timer": 2}, 0, False),
    ("down", {"pos": 5}, DOWN, {"pos": 6, "move_timer": 2}, 0, False),
    ("nothing", {"pos": 5}, NOTHING, {"pos": 5, "move_timer": 0}, 0, False),
    ("the bottom stops the chicken", {"pos": 9}, DOWN, {"pos": 9, "move_timer": 2}, 0, False),
    ("it rests between moves", {"pos": 5, "move_timer": 1}, UP, {"pos": 5, "move_timer": 0}, 0, False),
    ("a car waits", {"cars": lanes(row3=(6, 2, 3))}, NOTHING, {"cars": moved(row3=(6, 1, 3))}, 0, False),
    ("a car drives right", {"cars": lanes(row3=(6, 0, 3))}, NOTHING, {"cars": moved(row3=(7, 3, 3))}, 0, False),
    ("a car drives left", {"cars": lanes(row3=(6, 0, -3))}, NOTHING, {"cars": moved(row3=(5, 3, -3))}, 0, False),
    ("it wraps on the right", {"cars": lanes(row3=(9, 0, 1))}, NOTHING, {"cars": moved(row3=(0, 1, 1))}, 0, False),
    ("it wraps on the left", {"cars": lanes(row3=(0, 0, -1))}, NOTHING, {"cars": moved(row3=(9, 1, -1))}, 0, False),
    ("a hit before the car moves", {"pos": 3, "cars": lanes(row3=(4, 0, 1))}, NOTHING, {"pos": 9}, 0, False),
    ("a hit after the car moved", {"pos": 3, "cars": lanes(row3=(3, 0, 1))}, NOTHING, {"pos": 9}, 0, False),
    ("a hit by a car that waits", {"pos": 4, "cars": lanes(row3=(4, 2, 1))}, UP, {"pos": 9}, 0, False),
    ("in other columns no hit", {"pos": 3, "cars": lanes(row3=(5, 0, 1))}, NOTHING, {"pos": 3}, 0, False),
    ("the top scores, and cars change", {"pos": 1}, UP, {"pos": 9, "speeds": DRAWN, "timers": 0, "xs": XS}, 1, False),
    ("time runs", {"terminate_timer": 1}, NOTHING, {"terminate_timer": 0}, 0, False),
    ("and ends the game", {"terminate_timer": 0}, NOTHING, {"terminate_timer": -1}, 0, True),
    ("after the end nothing moves", {"pos": 5, "terminal": True}, UP, {"pos": 5, "cars": lanes()}, 0, True),
)
def test_rules(before: Any, action: int, after: Any, reward: float, end: bool) -> None:
    draws = jnp.uint32(DRAWN)
    state = replaced(ENV.init_state(draws, ENV.default_params), {"move_timer": 0, "cars": lanes(), **before})
    check_step(ENV, state, action, draws, after, reward, end)


def test_every_recorded_step() -> None:
    steps = lockstep.recorded("freeway", lambda r: as_draws(r["draw.car_speed"], r["draw.car_u_direction"]))
    lockstep.check(TASK, ENV, steps)


def test_recorded_resets() -> None:
    def starts(recording: golden.Recording) -> Any:
        drawn = recording.extras["reset_draw.car_speed"], recording.extras["reset_draw.car_u_direction"]
        draws = jax.tree.map(jnp.asarray, as_draws(*drawn))
        return jax.vmap(ENV.init_state, (0, None))(draws, ENV.default_params)

    lockstep.check_resets(TASK, "freeway", starts)


@pytest.mark.parametrize(
    ("policy", "ramping", "wins"),
    [pytest.param(None, True, 0, marks=pytest.mark.slow), (climbs, False, 20), (crosses, True, 20)],
)
def test_lockstep_with_the_original(policy: Any, ramping: bool, wins: int) -> None:
    env = Freeway(use_minimal_action_set=False, difficulty_ramping=ramping)
    steps = lockstep.played("freeway", env, fields, calls, 5200, policy=policy)
    assert steps.reward.sum() >= wins
    assert steps.terminal.sum() == 2
    lockstep.check(TASK, env, steps)
    lockstep.check_games(TASK, env, steps)


def test_cars_are_drawn_uniformly_and_independently() -> None:
    words = np.random.default_rng(0).integers(0, 2**32, (200_000, 2), dtype=np.uint32)
    numbers = np.asarray(quick_jit(jax.vmap(lambda w: unpack_lanes(Freeway().draw_game(w))))(words))
    kinds = [*range(1, 6), *range(9, 14)]
    for first in range(8):
        for second in range(first):
            counts = np.histogram2d(numbers[:, first], numbers[:, second], bins=[np.arange(17)] * 2)[0]
            assert counts.sum() == counts[np.ix_(kinds, kinds)].sum()
            assert np.abs(counts[np.ix_(kinds, kinds)] - 2000).max() < 5 * 2000**0.5


@pytest.mark.parametrize("limit", [2501, 3, 3000])
def test_time_ends_the_game(limit: int) -> None:
    """At the original's limit or a different one; the original's timer stops at -1."""
    params = ENV.default_params.replace(max_steps_in_episode=limit)
    _, state = ENV.reset(KEY, params)
    for time in (limit - 2, limit - 1, limit):
        _, state, _, ended, info = ENV.step_env(KEY, state.replace(time=jnp.int32(time)), UP, params)
        assert (bool(ended), bool(state.terminal)) == (time >= limit - 1,) * 2
        assert not info["truncated"]
        assert int(state.terminate_timer) == max(2499 - time, -1)
