"""FrozenLake: its rules, one case per line, the recordings of the original, and our additions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.frozen_lake import FrozenLake, FrozenLakeState
from rules import check_rule, rules

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "toy_text.frozen_lake.npz"
LAKES = range(5)
LEFT, DOWN, RIGHT, UP = range(4)


def at(row: int, column: int) -> dict[str, int]:
    """A tile of the lake of 4 rows and 4 columns."""
    return {"position": 4 * row + column}


def turned(turn: Any) -> Any:
    return turn


to, STRAIGHT = at, turned(0)


# SFFF
# FHFH
# FFFH
# HFFG
@rules(
    ("left", at(2, 1), LEFT, STRAIGHT, to(2, 0), 0, False),
    ("down", at(2, 1), DOWN, STRAIGHT, to(3, 1), 0, False),
    ("right", at(2, 1), RIGHT, STRAIGHT, to(2, 2), 0, False),
    ("up", at(2, 2), UP, STRAIGHT, to(1, 2), 0, False),
    ("the left edge stops it", at(1, 0), LEFT, STRAIGHT, {}, 0, False),
    ("the bottom edge stops it", at(3, 1), DOWN, STRAIGHT, {}, 0, False),
    ("the right edge stops it", at(0, 3), RIGHT, STRAIGHT, {}, 0, False),
    ("the top edge stops it", at(0, 0), UP, STRAIGHT, {}, 0, False),
    ("a hole ends it", at(0, 1), DOWN, STRAIGHT, to(1, 1), 0, True),
    ("the goal earns 1 and ends it", at(3, 2), RIGHT, STRAIGHT, to(3, 3), 1, True),
    ("a slip to one side: left becomes up", at(2, 2), LEFT, turned(-1), to(1, 2), 0, False),
    ("a slip to the other: left becomes down", at(2, 2), LEFT, turned(1), to(3, 2), 0, False),
    ("up becomes right", at(2, 1), UP, turned(-1), to(2, 2), 0, False),
    ("up becomes left", at(2, 1), UP, turned(1), to(2, 0), 0, False),
    ("nothing leads out of a hole", at(1, 1), LEFT, STRAIGHT, {}, 0, True),
    ("or off the goal, and it earns 0", at(3, 3), LEFT, STRAIGHT, {}, 0, True),
    ("not even a bump earns it again", at(3, 3), RIGHT, STRAIGHT, {}, 0, True),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(FrozenLake(), before, action, draws, after, reward, end)


@rules(
    ("any tile", at(2, 1), LEFT, None, to(2, 0), -1, False),
    ("a bump is a step onto the same tile", at(1, 0), LEFT, None, {}, -1, False),
    ("a hole", at(0, 1), DOWN, None, to(1, 1), -100, True),
    ("the goal", at(3, 2), RIGHT, None, to(3, 3), 50, True),
    ("a step from it", at(3, 3), LEFT, None, {}, 0, True),
)
def test_rewards_on_ice_that_is_not_slippery(
    before: Any, action: int, draws: Any, after: Any, reward: float, end: bool
) -> None:
    env = FrozenLake(is_slippery=False, reward_schedule=(50, -100, -1))
    check_rule(env, before, action, draws, after, reward, end)


@rules(
    ("right", {"position": 1}, RIGHT, None, {"position": 2}, 0, False),
    ("down", {"position": 0}, DOWN, None, {"position": 3}, 0, False),
    ("the goal", {"position": 1}, DOWN, None, {"position": 4}, 1, True),
)
def test_a_lake_of_two_rows(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    env = FrozenLake(desc=("SFS", "FGS"), is_slippery=False)
    check_rule(env, before, action, draws, after, reward, end)


def recording(number: int) -> tuple[FrozenLake, dict[str, np.ndarray]]:
    with np.load(GOLDEN) as file:
        prefix = f"lake{number}."
        columns = {name.removeprefix(prefix): file[name] for name in file.files if name.startswith(prefix)}
        settings = json.loads(str(file["meta"]))["segments"][number]["kwargs"]
    settings.pop("map_name", None)
    settings["desc"] = tuple(columns["desc"].tolist())
    if "reward_schedule" in settings:
        settings["reward_schedule"] = tuple(settings["reward_schedule"])
    return FrozenLake(**settings), columns


@pytest.mark.parametrize("number", LAKES)
def test_every_recorded_step(number: int) -> None:
    env, columns = recording(number)
    action = jnp.asarray(columns["action"], jnp.int32)
    if env.is_slippery:
        draw = jnp.asarray(columns["draw_u"], jnp.float32)
        cumulative = np.array([(1 - env.success_rate) / 2, (1 + env.success_rate) / 2])
        clear: Any = (np.abs(columns["draw_u"][:, None] - cumulative) > 1e-6).all(1)  # of float32 rounding
        draws = jax.vmap(env.slip)(draw)
        expected = (columns["draw_u"][:, None] >= cumulative).sum(1) - 1
        assert clear.sum() >= len(clear) - 2
        np.testing.assert_array_equal(np.asarray(draws)[clear], expected[clear])
        # From a hole or the goal the original has one outcome, whatever the draw.
    else:
        draws, clear = None, np.full(len(action), True)
    before = FrozenLakeState(position=jnp.asarray(columns["before"], jnp.int32), time=jnp.zeros_like(action))
    after, reward, terminated = jax.vmap(env.transition, (0, 0, 0, None))(before, action, draws, env.default_params)
    np.testing.assert_array_equal(np.asarray(after.position)[clear], columns["after"][clear])
    np.testing.assert_allclose(np.asarray(reward)[clear], columns["reward"][clear], rtol=1e-6)
    np.testing.assert_array_equal(np.asarray(terminated)[clear], columns["terminated"][clear])


@pytest.mark.parametrize(("name", "registered"), [("4x4", "FrozenLake-v1"), ("8x8", "FrozenLake8x8-v1")])
def test_transition_table_and_time_limit_are_gymnasiums(name: str, registered: str) -> None:
    made: Any = gymnasium.make(registered)
    original, env = made.unwrapped, FrozenLake(map_name=name)
    assert env.default_params.max_steps_in_episode == made.spec.max_episode_steps
    tiles = original.observation_space.n
    assert env.observation_space(env.default_params).n == tiles  # pyright: ignore[reportAttributeAccessIssue]
    for action in range(4):
        for tile in range(tiles):
            outcomes = original.P[tile][action]
            for turn, (_, there, reward, terminated) in zip((-1, 0, 1), outcomes * (3 // len(outcomes)), strict=True):
                state = FrozenLakeState(position=jnp.int32(tile), time=jnp.int32(0))
                draws = jnp.int32(turn)
                after, ours, over = _transition(env, state, jnp.int32(action), draws, env.default_params)
                assert (int(after.position), float(ours), bool(over)) == (there, reward, terminated)


_transition = jax.jit(FrozenLake.transition, static_argnums=0)


def test_slips_with_the_success_rate() -> None:
    env = FrozenLake(success_rate=0.6)
    directions = np.asarray(2 + jax.vmap(env.slip)(jnp.linspace(0.0, 0.99999, 10_000)))
    np.testing.assert_allclose([(directions == d).mean() for d in range(4)], [0, 0.2, 0.6, 0.2], atol=2e-4)


def test_starts_uniformly_on_start_tiles() -> None:
    env = FrozenLake(desc=("SFS", "FGS"))
    keys = jax.random.split(jax.random.key(0), 3000)
    position = np.asarray(jax.vmap(env.reset)(keys)[0])
    counts = np.bincount(position, minlength=6)
    assert set(np.flatnonzero(counts)) == {0, 2, 5}
    assert (np.abs(counts[[0, 2, 5]] - 1000) < 4 * np.sqrt(3000 * 2 / 9)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"map_name": "5x5"}, "map_name must be one of 4x4, 8x8, got '5x5'"),
        ({"desc": ("SF", "F")}, "rows of equal length"),
        ({"desc": ("FF", "FG")}, "at least one S"),
        ({"success_rate": 1.5}, r"success_rate must be in \[0, 1\]"),
        ({"reward_schedule": (1, 0)}, r"reward_schedule must be three finite numbers, got \(1, 0\)"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FrozenLake(**options)
