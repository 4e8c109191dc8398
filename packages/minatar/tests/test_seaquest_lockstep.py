"""Seaquest against the original: its recordings, the package itself, and states that are rare in both."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_episodes as episodes
import minatar_lockstep as lockstep
import numpy as np
import pytest
import seaquest_original
from envcore_minatar.seaquest import Seaquest, SeaquestDraws
from envcore_testing.compilation import quick_jit
from lockstep import Calls, Task
from minatar import Environment
from minatar_rules import not_sticky
from seaquest_original import canonical, fields

ENVS = {ramping: Seaquest(use_minimal_action_set=False, difficulty_ramping=ramping) for ramping in (True, False)}
ENV = ENVS[True]
NONE, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
# Compiled as a whole, which takes a tenth of the time.
TASK = Task(jax.jit(seaquest_original.from_original), jax.jit(seaquest_original.to_original))


def check(steps: lockstep.Steps, ramping: bool = True) -> None:
    lockstep.check(TASK, ENVS[ramping], in_our_form(steps))


def in_our_form(steps: lockstep.Steps) -> lockstep.Steps:
    return steps._replace(before=canonical(steps.before), after=canonical(steps.after))


def set_fields(original: Any, values: dict[str, Any]) -> None:
    """Sets the state of an original."""
    for name, value in values.items():
        setattr(original, name, value)


def calls(original: Any, action: int, draws: SeaquestDraws) -> Calls:
    found: Calls = []
    if original.e_spawn_timer == 0:
        found += [("rand", 0.25 if draws.enemy_right else 0.75), ("rand", 0.1 if draws.enemy_is_sub else 0.9)]
        found += [("randint", draws.enemy_row + 1)]
    if original.d_spawn_timer == 0:
        found += [("rand", 0.25 if draws.diver_right else 0.75), ("randint", draws.diver_row + 1)]
    return found


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


@pytest.mark.parametrize("ramping", [pytest.param(True, marks=pytest.mark.slow), False])
def test_lockstep_with_the_original(ramping: bool) -> None:
    policies = (None, hunts, bounces, crowds) if ramping else (hunts,)
    games = [lockstep.played("seaquest", ENVS[ramping], fields, calls, 4000, policy=policy) for policy in policies]
    steps: lockstep.Steps = jax.tree.map(lambda *x: np.concatenate(x), *games)
    assert steps.reward.max() > 5  # six divers
    assert (steps.before["e_fish_count"] + steps.before["e_subs_count"]).max() >= (20 if ramping else 3)
    check(steps, ramping)
    if ramping:  # enemies take the slots of others whose bullets are still on the board
        lockstep.check_games(TASK, ENV, in_our_form(games[1]))


@pytest.mark.slow
def test_three_bullets_in_a_row() -> None:
    """All arrangements, with a fish near the newest bullet, which play cannot reach: see `from_original`."""
    directions = list(itertools.product((True, False), repeat=3))
    rows = [(xs, ways) for xs in itertools.permutations(range(10), 3) for ways in directions]
    turns = iter(rows)

    def arranged(original: Any, rng: np.random.Generator) -> int:
        xs, ways = next(turns)
        fish = [xs[2] + int(rng.choice([-1, 0, 1])), 3, True, 5]
        calm = {"sub_x": 5, "sub_y": 6, "shot_timer": 3, "e_spawn_timer": 9, "d_spawn_timer": 9, "oxygen": 99}
        bullets = [[x, 3, way] for x, way in zip(xs, ways, strict=True)]
        fishes = [fish] if 0 <= fish[0] <= 9 else []
        set_fields(original, {**calm, "f_bullets": bullets, "e_fish": fishes, "e_subs": [], "divers": []})
        return NONE

    steps = in_our_form(lockstep.played("seaquest", ENV, fields, calls, len(rows), policy=arranged))
    differs = np.zeros(len(rows), bool)
    for i, (xs, ways) in enumerate(rows):
        moved = [[x + (1 if way else -1), 3, way] for x, way in zip(xs, ways, strict=True)]
        is_hit = steps.reward[i] == 1 and moved[2][0] == steps.before["e_fish"][i, 0, 0]
        if is_hit and moved[2] == [xs[0], 3, ways[0]]:  # in the cell, and with the direction, of the oldest
            ours = [bullet for bullet in moved[:2] if 0 <= bullet[0] <= 9]
            ours = np.array([*ours, *[[0, 0, 0]] * (3 - len(ours))], np.int32)
            theirs = steps.after["f_bullets"][i]
            assert sorted(ours.tolist()) == sorted(theirs.tolist())
            differs[i] = (ours != theirs).any()
            steps.after["f_bullets"][i] = ours
    assert differs.sum() > 50
    lockstep.check(TASK, ENV, steps)


def draw_enemies_that_enter(words: jax.Array) -> SeaquestDraws:
    """All come from the same side, so each one enters; none in row 1, where they would meet the bouncing player."""
    draws = ENV.draw_game(words)
    return draws._replace(enemy_right=jnp.bool_(True), enemy_row=jnp.maximum(draws.enemy_row, 1))


@pytest.mark.slow
def test_there_are_enough_slots_for_enemies() -> None:
    """Games that reach the highest difficulty at different times; ours are played on from the first state alone."""

    def hardest(wait: int) -> lockstep.Steps:
        time = iter(range(10**9))

        def policy(original: Any, rng: np.random.Generator) -> int:
            if next(time) == 0:
                original.diver_count = -1
            else:
                assert original.diver_count < 0, "the game has ended"
            return NONE if next(time) < 2 * wait or original.e_spawn_speed == 1 else UP if original.sub_y else DOWN

        return lockstep.played(
            "seaquest", ENV, fields, calls, 200, seed=wait, policy=policy, draw=draw_enemies_that_enter
        )

    games: Any = jax.tree.map(lambda *x: np.stack(x), *map(hardest, range(0, 60, 3)))
    after = canonical(jax.tree.map(np.concatenate, games.after))
    assert (after["e_fish_count"] + after["e_subs_count"]).max() == 29
    assert after["e_bullets_count"].max() >= 5

    @quick_jit
    @jax.vmap
    def ours(before: Any, actions: Any, draws: Any) -> Any:
        def body(state: Any, inputs: Any) -> Any:
            action, draws = inputs
            state = ENV.advance(state, action, not_sticky(draws), ENV.default_params).state
            return state, seaquest_original.to_original(state)

        return jax.lax.scan(body, seaquest_original.from_original(before), (actions, draws))[1]

    start = jax.tree.map(lambda x: x[:, 0], games.before)
    found = ours(start, games.action.astype(np.int32), games.draws)
    for name, value in found.items():
        np.testing.assert_array_equal(np.concatenate(np.asarray(value)), after[name], err_msg=name)

    num_things = after["e_fish_count"] + after["e_subs_count"] + after["e_bullets_count"]
    fullest = jax.tree.map(lambda x: jnp.asarray(x[num_things > 32]), after)
    assert len(fullest["oxygen"]) > 10
    for name, value in quick_jit(jax.vmap(lambda x: TASK.to_original(TASK.from_original(x, NONE))))(fullest).items():
        np.testing.assert_array_equal(value, fullest[name], err_msg=f"{name}, round trip")


def test_gauges() -> None:
    """All combinations of oxygen and divers, also counts below zero; the recordings have all values of each."""
    original = Environment("seaquest").env
    oxygens, counts = np.meshgrid(np.arange(-1, 201), np.arange(-12, 7))
    expected: list[np.ndarray] = []
    for oxygen, count in zip(oxygens.flat, counts.flat, strict=True):
        set_fields(original, {"oxygen": int(oxygen), "diver_count": int(count)})
        expected.append(original.state()[9])
    start = {name: jnp.asarray(value) for name, value in fields(original).items()}

    @quick_jit
    @jax.vmap
    def bottom(oxygen: jax.Array, count: jax.Array) -> jax.Array:
        return ENV.observe(
            seaquest_original.from_original({**start, "oxygen": oxygen, "diver_count": count}), ENV.default_params
        )[9]

    np.testing.assert_array_equal(bottom(jnp.asarray(oxygens.ravel()), jnp.asarray(counts.ravel())), expected)


@pytest.mark.slow
def test_episodes_are_distributed_as_the_originals() -> None:
    policy = (0.1, 0.15, 0.1, 0.15, 0.25, 0.25)
    theirs = episodes.originals_episodes("seaquest", policy, 2000)
    ours = episodes.our_episodes(ENV, policy, 2000, 1000)
    episodes.check_same_distribution(ours, theirs)
