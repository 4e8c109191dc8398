"""The announced policy."""

from __future__ import annotations

import envcore
import jax
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


def test_it_plays_no_other_environment() -> None:
    with pytest.raises(envcore.EnvcoreError, match="plays WindyGridworld-v0, not Other-v0"):
        windy("Other-v0", *envcore.make("envcore-example:WindyGridworld-v0", king_moves=True), "")
