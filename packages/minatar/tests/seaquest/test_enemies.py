"""Enemies in crowds: which bullet hits which, and room for all of them, beside the original."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore_minatar.seaquest import SeaquestDraws
from minatar_rules import DOWN, NOTHING, UP
from seaquest_original import ENV, TASK, calls, fields, in_our_form


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
            return NOTHING if next(time) < 2 * wait or original.e_spawn_speed == 1 else UP if original.sub_y else DOWN

        steps = lockstep.played(
            "seaquest", ENV, fields, calls, 200, seed=wait, policy=policy, draw=draw_enemies_that_enter
        )
        steps.terminal[-1] = True  # the next one begins
        return steps

    games: Any = jax.tree.map(lambda *x: np.concatenate(x), *map(hardest, range(0, 60, 3)))
    assert (games.after["e_fish_count"] + games.after["e_subs_count"]).max() == 29
    assert games.after["e_bullets_count"].max() >= 5
    lockstep.check_games(TASK, ENV, in_our_form(games))
