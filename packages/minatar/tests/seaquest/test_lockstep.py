"""Seaquest against the original: its recordings, the package itself, and states that are rare in both."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore_minatar.seaquest import Seaquest, SeaquestDraws
from seaquest_original import TASK, calls, canonical, fields, in_our_form, set_fields

ENVS = {ramping: Seaquest(use_minimal_action_set=False, difficulty_ramping=ramping) for ramping in (True, False)}
ENV = ENVS[True]
NONE, LEFT, UP, RIGHT, DOWN, FIRE = range(6)


def check(steps: lockstep.Steps, ramping: bool = True) -> None:
    lockstep.check(TASK, ENVS[ramping], in_our_form(steps))


def hunts(original: Any, rng: np.random.Generator) -> int:
    """Mostly shoots at what is ahead, picks up the nearest diver, and brings divers up."""
    x, y = original.sub_x, original.sub_y
    if rng.random() < 0.1:
        return int(rng.integers(6))
    if original.shot_timer == 0 and any(e[1] == y for e in original.e_fish + original.e_subs):
        return FIRE
    if y == 0:
        return DOWN
    if original.diver_count == 6 or (original.diver_count and original.oxygen < 40):
        return UP
    divers = sorted(original.divers, key=lambda diver: abs(diver[0] - x) + abs(diver[1] - y))
    to_x, to_y = divers[0][:2] if divers else (5, 4)
    if y != to_y:
        return DOWN if y < to_y else UP
    return LEFT if to_x < x else RIGHT if to_x > x else NONE


def bounces(original: Any, rng: np.random.Generator) -> int:
    """Surfaces with a negative diver count until the difficulty is highest, waits for enemies, and dives among them."""
    if original.diver_count == 0:
        original.diver_count = -1
    if original.e_spawn_speed > 1:
        return UP if original.sub_y else DOWN
    if original.sub_y == 0 and rng.random() < 0.95:
        return int(rng.choice([NONE, LEFT, RIGHT, FIRE]))
    return int(rng.choice([LEFT, RIGHT, DOWN, FIRE]))


def recorded_draws(recording: golden.Recording) -> SeaquestDraws:
    """The recorded draws, and any numbers where nothing was drawn."""
    draw = recording.group("draw")
    enemy_row, diver_row = (jnp.maximum(draw[f"{name}_y"].astype(np.int32) - 1, 0) for name in ("enemy", "diver"))
    return SeaquestDraws(
        enemy_right=jnp.asarray(draw["enemy_u_lr"] < 1 / 2),
        enemy_is_sub=jnp.asarray(draw["enemy_u_sub"] < 1 / 3),
        enemy_row=enemy_row,
        diver_right=jnp.asarray(draw["diver_u_lr"] < 1 / 2),
        diver_row=diver_row,
    )


@pytest.mark.parametrize("ramping", [pytest.param(True, marks=pytest.mark.slow), False])
def test_every_recorded_step(ramping: bool) -> None:
    check(lockstep.recorded("seaquest", recorded_draws), ramping)


def test_recorded_resets() -> None:
    first = canonical(golden.load("minatar.seaquest").group("reset"))
    state = ENV.init_state(jax.random.key(0), ENV.default_params)
    for name, value in TASK.to_original(state).items():
        np.testing.assert_array_equal(np.broadcast_to(value, first[name].shape), first[name], err_msg=name)


def crowded(rng: np.random.Generator) -> dict[str, Any]:
    """A state with many objects in the rows around the player, equal bullets, and timers that are often zero."""
    sub_x, sub_y = int(rng.integers(10)), int(rng.integers(9))
    low, high = max(1, sub_y - 1), min(8, sub_y + 1)
    move_speed = int(rng.integers(2, 6))

    def some(most: int, *extra: Callable[[], int]) -> list[Any]:
        return [
            [
                int(rng.integers(10)),
                int(rng.integers(low, high + 1)),
                bool(rng.integers(2)),
                *(draw() for draw in extra),
            ]
            for _ in range(rng.integers(most + 1))
        ]

    def timer(most: int) -> int:
        return int(rng.integers(most + 1) * (rng.random() < 1 / 3))

    move, shot, swim = (functools.partial(timer, most) for most in (move_speed, 10, 5))
    shot_timer = timer(5)
    bullets = {tuple(bullet[:2]): bullet for bullet in some(2 if shot_timer else 1)}  # never three, see `bullets_hit`
    divers = {tuple(diver[:2]): diver for diver in some(3, swim)}
    return {
        "oxygen": int(rng.choice(np.array([0, 1, *range(20, 201, 20)]))),
        "diver_count": int(rng.choice([-2, -1, 0, 1, 4, 5, 6])),
        "sub_x": sub_x,
        "sub_y": sub_y,
        "sub_or": sub_x == 9 or (sub_x > 0 and bool(rng.integers(2))),
        "e_spawn_speed": int(rng.integers(1, 21)),
        "e_spawn_timer": timer(20),
        "d_spawn_timer": timer(30),
        "move_speed": move_speed,
        "ramp_index": int(rng.integers(20)),
        "shot_timer": shot_timer,
        "surface": sub_y == 0 and bool(rng.integers(2)),
        "f_bullets": list(bullets.values()),
        "e_bullets": some(8),
        "e_fish": _distinct(some(9, move)),
        "e_subs": _distinct(some(9, move, shot)),
        "divers": list(divers.values()),
    }


def _distinct(items: list[Any]) -> list[Any]:
    return [item for i, item in enumerate(items) if item not in items[:i]]


def crowds(original: Any, rng: np.random.Generator) -> int:
    """Rare cases: which of several enemies is hit, and by which bullet; submarines that shoot as they die."""
    set_fields(original, crowded(rng))
    return int(rng.choice([NONE, LEFT, UP, RIGHT, DOWN, FIRE, FIRE]))


@pytest.mark.parametrize("ramping", [True, False])
@pytest.mark.slow
def test_lockstep_with_the_original(ramping: bool) -> None:
    policies = (None, hunts, bounces, crowds) if ramping else (hunts,)
    games = [lockstep.played("seaquest", ENVS[ramping], fields, calls, 4000, policy=policy) for policy in policies]
    steps: lockstep.Steps = jax.tree.map(lambda *x: np.concatenate(x), *games)
    assert steps.reward.max() > 5  # six divers
    assert (steps.before["e_fish_count"] + steps.before["e_subs_count"]).max() >= (20 if ramping else 3)
    check(steps, ramping)
    if ramping:  # enemies take the slots of others whose bullets are still on the board
        lockstep.check_games(TASK, ENV, in_our_form(games[1]))
