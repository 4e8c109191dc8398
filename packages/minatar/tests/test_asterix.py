"""Asterix against the original: its recordings, the package itself, and our additions."""

from __future__ import annotations

from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore_minatar.asterix import Asterix, AsterixDraws, AsterixState
from envcore_testing.compilation import quick_jit
from lockstep import Calls
from minatar_rules import DOWN, FIRE, LEFT, NOTHING, RIGHT, UP, check_step, rules
from minatar_states import replaced

ENV = Asterix(use_minimal_action_set=False)
WITHOUT_RAMP = Asterix(use_minimal_action_set=False, difficulty_ramping=False)


def first() -> AsterixState:
    return ENV.init_state(jax.random.key(0), ENV.default_params)


NUMBERS = (
    *("player_x", "player_y", "shot_timer", "spawn_speed", "spawn_timer", "move_speed", "move_timer"),
    *("ramp_timer", "ramp_index", "terminal"),
)
TASK = lockstep.by_name(first, (*NUMBERS, "entities"), computed=["shot_timer"])


def fields(original: Any) -> dict[str, Any]:
    entities = [[0] * 5 if entity is None else [1, *entity] for entity in original.entities]
    numbers = {name: np.array(getattr(original, name), np.int8) for name in NUMBERS}
    return {**numbers, "entities": np.array(entities, np.int8)}


def calls(original: Any, action: int, draws: AsterixDraws) -> Calls:
    if original.spawn_timer > 0:
        return []
    kind: Calls = [("rand", 0.25 if draws.from_left else 0.75), ("rand", 0.2 if draws.gold else 0.7)]
    num_free = original.entities.count(None)
    return [*kind, ("randint", int(draws.choice) * num_free // 840)] if num_free else kind


def survives(original: Any, rng: np.random.Generator) -> int:
    """Rarely touches an enemy, so the difficulty rises to its maximum."""
    x, y = original.player_x, original.player_y
    cells = [(x, y), (max(0, x - 1), y), (x, max(1, y - 1)), (min(9, x + 1), y), (x, min(8, y + 1))]

    def danger(cell: tuple[int, int]) -> float:
        entity = original.entities[cell[1] - 1]
        if entity is None:
            return 1.0 if cell[0] in (0, 9) else 0.1
        if entity[3]:
            return -1.0
        ahead = (cell[0] - entity[0]) * (1 if entity[2] else -1)
        return 3.0 if ahead in (0, 1) else 0.5 if ahead > 1 else 0.0

    dangers = np.array([danger(cell) for cell in cells])
    return int(rng.choice(np.flatnonzero(dangers == dangers.min())))


TO_RIGHT, TO_LEFT = 1, 0
GOLD, ENEMY = 1, 0


def slots(**rows: tuple[int, int, int]) -> list[list[int]]:
    """`entities` with these in their rows, the others free: `slots(row3=(column, direction, kind))`."""
    entities = [rows.get(f"row{row}") for row in range(1, 9)]
    return [[0] * 5 if held is None else [1, held[0], row, *held[1:]] for row, held in enumerate(entities, 1)]


ALL_ROWS = slots(**{f"row{row}": (2, TO_LEFT, ENEMY) for row in range(1, 9)})
NEAR = {"player_x": 5, "player_y": 5, "move_timer": 0}  # entities move in this step


@rules(
    ("up", {"player_y": 5}, UP, {"player_y": 4}, 0, False),
    ("down", {"player_y": 5}, DOWN, {"player_y": 6}, 0, False),
    ("left", {"player_x": 5}, LEFT, {"player_x": 4}, 0, False),
    ("right", {"player_x": 5}, RIGHT, {"player_x": 6}, 0, False),
    ("fire does nothing", {}, FIRE, {"player_x": 5, "player_y": 5}, 0, False),
    ("row 1 is the highest", {"player_y": 1}, UP, {"player_y": 1}, 0, False),
    ("row 8 is the lowest", {"player_y": 8}, DOWN, {"player_y": 8}, 0, False),
    ("the edge stops the player", {"player_x": 9}, RIGHT, {"player_x": 9}, 0, False),
    ("gold is gathered", {"entities": slots(row4=(5, TO_LEFT, GOLD))}, UP, {"entities": slots()}, 1, False),
    ("an enemy ends the game", {"entities": slots(row4=(5, TO_LEFT, ENEMY))}, UP, {"player_y": 4}, 0, True),
    ("elsewhere they do neither", {"entities": slots(row4=(6, TO_LEFT, ENEMY))}, UP, {"player_y": 4}, 0, False),
    ("timers fall", {"spawn_timer": 3, "move_timer": 2}, NOTHING, {"spawn_timer": 2, "move_timer": 1}, 0, False),
    ("entities move right", {**NEAR, "entities": slots(row2=(5, TO_RIGHT, GOLD))}, NOTHING,
     {"entities": slots(row2=(6, TO_RIGHT, GOLD)), "move_timer": 4}, 0, False),
    ("entities move left", {**NEAR, "entities": slots(row2=(5, TO_LEFT, ENEMY))}, NOTHING,
     {"entities": slots(row2=(4, TO_LEFT, ENEMY)), "move_timer": 4}, 0, False),
    ("off the board they are gone", {**NEAR, "entities": slots(row2=(9, TO_RIGHT, ENEMY), row3=(0, TO_LEFT, GOLD))},
     NOTHING, {"entities": slots()}, 0, False),
    ("gold runs into the player", {**NEAR, "entities": slots(row5=(4, TO_RIGHT, GOLD))}, NOTHING,
     {"entities": slots()}, 1, False),
    ("an enemy runs into the player", {**NEAR, "entities": slots(row5=(6, TO_LEFT, ENEMY))}, NOTHING, {}, 0, True),
    ("an entity appears in the drawn slot", {"spawn_timer": 0, "entities": slots(row1=(5, TO_LEFT, ENEMY))}, NOTHING,
     {"entities": slots(row1=(5, TO_LEFT, ENEMY), row4=(0, TO_RIGHT, GOLD)), "spawn_timer": 9}, 0, False),
    ("no slot is free", {"spawn_timer": 0, "entities": ALL_ROWS}, NOTHING, {"entities": ALL_ROWS}, 0, False),
    ("the ramp's timer falls", {"ramp_timer": 0}, NOTHING, {"ramp_timer": -1, "ramp_index": 0}, 0, False),
    ("entities appear more often", {"ramp_timer": -1, "ramp_index": 0}, NOTHING,
     {"spawn_speed": 9, "move_speed": 5, "ramp_index": 1, "ramp_timer": 100}, 0, False),
    ("and move faster every other time", {"ramp_timer": -1, "ramp_index": 1, "spawn_speed": 9}, NOTHING,
     {"spawn_speed": 8, "move_speed": 4, "ramp_index": 2, "ramp_timer": 100}, 0, False),
    ("until both speeds are 1", {"ramp_timer": -1, "spawn_speed": 1, "move_speed": 1}, NOTHING,
     {"ramp_timer": -1, "ramp_index": 0}, 0, False),
    ("after the end nothing moves", {"terminal": True}, UP, {"player_y": 5, "spawn_timer": 10}, 0, True),
)  # fmt: skip
def test_rules(before: Any, action: int, after: Any, reward: float, end: bool) -> None:
    third_of_seven = AsterixDraws(from_left=jnp.bool_(True), gold=jnp.bool_(True), choice=jnp.int32(2 * 840 // 7))
    check_step(ENV, replaced(first(), before), action, third_of_seven, after, reward, end)


def test_every_recorded_step() -> None:
    def draws(recording: golden.Recording) -> AsterixDraws:
        number_free = 8 - recording["before.entities"][:, :, 0].sum(1)
        choice = recording["draw.spawn_choice"] * (840 // np.maximum(number_free, 1))
        found = recording["draw.spawn_u_lr"] < 1 / 2, recording["draw.spawn_u_gold"] < 1 / 3, choice
        return AsterixDraws(*map(jnp.asarray, found))

    steps = lockstep.recorded("asterix", draws)
    lockstep.check(TASK, ENV, steps)
    lockstep.check(TASK, WITHOUT_RAMP, steps)


def test_recorded_resets() -> None:
    def starts(recording: golden.Recording) -> Any:
        return jax.vmap(lambda _: first())(recording.extras["reset.terminal"])

    lockstep.check_resets(TASK, "asterix", starts)


@pytest.mark.parametrize(("env", "policy"), [(WITHOUT_RAMP, None), pytest.param(ENV, survives, marks=pytest.mark.slow)])
def test_lockstep_with_the_original(env: Asterix, policy: Any) -> None:
    steps = lockstep.played("asterix", env, fields, calls, 5000, policy=policy)
    full = steps.before["entities"][:, :, 0].all(1) & (steps.before["spawn_timer"] == 0)
    if policy:
        assert (steps.after["ramp_index"].max(), full.sum() > 10) == (9, True)
    lockstep.check(TASK, env, steps)
    lockstep.check_games(TASK, env, steps)


def test_draws_are_uniform() -> None:
    words = np.random.default_rng(0).integers(0, 2**32, (100_000, 1), dtype=np.uint32)
    draws = jax.tree.map(np.asarray, quick_jit(jax.vmap(ENV.draw_game))(words))
    numbers = draws.from_left * 2 + draws.gold
    for number, prob in enumerate([1 / 3, 1 / 6, 1 / 3, 1 / 6]):
        assert abs((numbers == number).mean() - prob) < 4 * (prob * (1 - prob) / 100_000) ** 0.5
        choices = np.bincount(draws.choice[numbers == number] // 105, minlength=8)
        assert len(choices) == 8
        assert abs(choices / choices.sum() - 1 / 8).max() < 5 * (7 / 64 / choices.sum()) ** 0.5
