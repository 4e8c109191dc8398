"""Enemies in crowds: which bullet hits which, and room for all of them, beside the original."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import minatar_lockstep as lockstep
import numpy as np
import pytest
import seaquest_original
from envcore_minatar.seaquest import Seaquest, SeaquestDraws
from envcore_testing.compilation import quick_jit
from minatar_rules import DOWN, NOTHING, UP, not_sticky
from seaquest_original import TASK, calls, canonical, fields

ENV = Seaquest(use_minimal_action_set=False)


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
    for name, value in quick_jit(jax.vmap(lambda x: TASK.to_original(TASK.from_original(x, NOTHING))))(fullest).items():
        np.testing.assert_array_equal(value, fullest[name], err_msg=f"{name}, round trip")
