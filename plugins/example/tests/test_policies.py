"""The announced policy."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import numpy as np
import pytest
from envcore.specs import PolicySpec
from envcore_example.policies import windy


def test_it_is_announced() -> None:
    found = envcore.registry.announced(PolicySpec).find("envcore-example:windy", envcore.EnvcoreError)
    assert found is not None
    assert found.load(envcore.EnvcoreError) is windy


def test_windy_takes_the_shortest_path_of_the_book() -> None:
    env, params = envcore.make("envcore-example:WindyGridworld-v0")
    policy = windy("WindyGridworld-v0", env, params, "")
    key, memory = jax.random.key(0), policy.start_memory()
    obs, state = env.reset(key, params)
    for number in range(15):
        action, memory = policy.act(memory, obs, key)
        obs, state, _, done, _ = env.step(key, state, action, params)
        assert bool(done) == (number == 14)


@pytest.mark.parametrize(
    ("options", "params", "argument"),
    [({"king_moves": True}, {}, ""), ({}, {"goal": np.zeros(2)}, ""), ({}, {}, "typo")],
)
def test_it_plays_the_books_grid_only(options: Any, params: Any, argument: str) -> None:
    env, defaults = envcore.make("envcore-example:WindyGridworld-v0", **options)
    with pytest.raises(envcore.EnvcoreError, match="the book's grid only, not this Other-v0"):
        windy("Other-v0", env, defaults.replace(**params), argument)
