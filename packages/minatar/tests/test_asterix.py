"""Asterix against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_episodes as episodes
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore.testing.compilation import quick_jit
from envcore_minatar import asterix
from envcore_minatar.asterix import Asterix, AsterixDraws

ENV = Asterix(use_minimal_action_set=False)
WITHOUT_RAMP = Asterix(use_minimal_action_set=False, difficulty_ramping=False)
NUMBERS = (
    *("player_x", "player_y", "shot_timer", "spawn_speed", "spawn_timer", "move_speed", "move_timer"),
    *("ramp_timer", "ramp_index", "terminal"),
)
ORIGINAL = lockstep.by_name(asterix.start, (*NUMBERS, "entities"), computed=["shot_timer"])
RANDOM = (1 / 6,) * 6


def fields(original: Any) -> dict[str, Any]:
    entities = [[0] * 5 if entity is None else [1, *entity] for entity in original.entities]
    numbers = {name: np.array(getattr(original, name), np.int8) for name in NUMBERS}
    return {**numbers, "entities": np.array(entities, np.int8)}


def script(original: Any, draws: AsterixDraws) -> list[Any]:
    choice = int(draws.choice) * original.entities.count(None) // 840
    return [0.25 if draws.from_left else 0.75, 0.2 if draws.gold else 0.7, choice]


def survives(original: Any, rng: np.random.Generator) -> int:
    """Seldom touches an enemy, so that the difficulty rises as far as it can."""
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


def test_every_recorded_step() -> None:
    def draws(recording: golden.Recording) -> AsterixDraws:
        number_free = 8 - recording["before.entities"][:, :, 0].sum(1)
        choice = recording["draw.spawn_choice"] * (840 // np.maximum(number_free, 1))
        return AsterixDraws(recording["draw.spawn_u_lr"] < 1 / 2, recording["draw.spawn_u_gold"] < 1 / 3, choice)

    steps = lockstep.recorded("asterix", draws)
    lockstep.check(ORIGINAL, ENV, steps)
    lockstep.check(ORIGINAL, WITHOUT_RAMP, steps)


def test_recorded_resets() -> None:
    def starts(recording: golden.Recording) -> Any:
        return jax.vmap(lambda _: asterix.start())(recording.extras["reset.terminal"])

    lockstep.check_resets(ORIGINAL, "asterix", starts)


@pytest.mark.parametrize("env", [ENV, WITHOUT_RAMP])
def test_lockstep_with_the_original(env: Asterix) -> None:
    steps = lockstep.played("asterix", env, fields, script, 4000)
    assert steps.reward.sum() > 20
    assert steps.terminal.sum() > 30
    lockstep.check(ORIGINAL, env, steps)


def test_lockstep_with_the_original_up_to_full_difficulty() -> None:
    steps = lockstep.played("asterix", ENV, fields, script, 5000, policy=survives)
    assert steps.reward.sum() > 100
    assert steps.after["ramp_index"].max() == 9
    full = steps.before["entities"][:, :, 0].all(1)
    assert (full & (steps.before["spawn_timer"] == 0)).sum() > 10
    lockstep.check(ORIGINAL, ENV, steps)


@pytest.mark.parametrize("policy", [None, survives])
def test_whole_games_follow_the_original(policy: Any) -> None:
    steps = lockstep.played("asterix", ENV, fields, script, 3000, seed=1, policy=policy)
    lockstep.check_games(ORIGINAL, ENV, steps)


@pytest.mark.slow
def test_episodes_are_distributed_as_the_originals() -> None:
    theirs = episodes.originals_episodes("asterix", RANDOM, 3000)
    ours = episodes.our_episodes(ENV, RANDOM, 3000, 1000)
    episodes.check_same_distribution(ours, theirs)


def test_draws_are_uniform() -> None:
    words = np.random.default_rng(0).integers(0, 2**32, (100_000, 1), dtype=np.uint32)
    draws = jax.tree.map(np.asarray, quick_jit(jax.vmap(ENV.draw))(words))
    numbers = draws.from_left * 2 + draws.gold
    for number, prob in enumerate([1 / 3, 1 / 6, 1 / 3, 1 / 6]):
        assert abs((numbers == number).mean() - prob) < 4 * (prob * (1 - prob) / 100_000) ** 0.5
        choices = np.bincount(draws.choice[numbers == number] // 105, minlength=8)
        assert len(choices) == 8
        assert abs(choices / choices.sum() - 1 / 8).max() < 5 * (7 / 64 / choices.sum()) ** 0.5


def test_free_slots_are_equally_likely() -> None:
    """All sets of free slots, all choices."""
    filled = np.array([[mask >> slot & 1 for slot in range(8)] for mask in range(256)])
    entities = np.stack([filled, filled * 4, filled * np.arange(1, 9), filled, 0 * filled], -1)

    @quick_jit
    @jax.vmap
    def counts(entities: Any) -> Any:
        state = asterix.start().replace(spawn_timer=0, entities=entities)

        def filled_after(choice: Any) -> Any:
            draws = AsterixDraws(jnp.bool_(False), jnp.bool_(True), choice)
            return ENV.play(state, jnp.int32(0), draws)[0].entities[:, 0]

        return jax.vmap(filled_after)(jnp.arange(840)).sum(0)

    appeared = np.asarray(counts(entities)) - 840 * filled
    free = 1 - filled
    np.testing.assert_array_equal(appeared, free * (840 // np.maximum(free.sum(1), 1))[:, None])
