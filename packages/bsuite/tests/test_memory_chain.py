"""MemoryChain: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

import dataclasses
from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import MEMORY_CHAIN
from envcore_bsuite.memory_chain import MemoryChain
from rules import check_rule, rules

RECORDINGS = (
    *(f"memory_len.memory_length{length}" for length in (1, 2, 5, 30)),
    *(f"memory_size.num_bits{bits}" for bits in (1, 3, 10, 40)),
)


CONTEXT = {"context": [1, 0, 1], "query": 1}  # the answer is 0, after 5 steps


@rules(
    ("at first actions have no effect", {"time": 0}, 0, None, {}, 0, False),
    ("nor when the bit is asked for", {"time": 4}, 1, None, {}, 0, False),
    ("the right answer", {"time": 5}, 0, None, {"total_perfect": 1}, 1, True),
    ("the wrong answer", {"time": 5}, 1, None, {"total_regret": 2}, -1, True),
    ("another bit, the right answer", {"time": 5, "query": 2}, 1, None, {"total_perfect": 1}, 1, True),
    ("another bit, the wrong answer", {"time": 5, "query": 2}, 0, None, {"total_regret": 2}, -1, True),
    ("right answers add up", {"time": 5, "total_perfect": 3}, 0, None, {"total_perfect": 4}, 1, True),
    ("regret adds up", {"time": 5, "total_regret": 6}, 1, None, {"total_regret": 8}, -1, True),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    env = MemoryChain(num_bits=3, memory_length=5)
    check_rule(env, {**CONTEXT, **before}, action, draws, after, reward, end)


@pytest.mark.parametrize("name", RECORDINGS)
def test_every_recorded_step(name: str) -> None:
    lockstep.check_recorded(name, MEMORY_CHAIN)


@pytest.mark.parametrize("name", ["memory_len.memory_length5", "memory_size.num_bits10", "memory_size.num_bits40"])
def test_recorded_resets(name: str) -> None:
    lockstep.check_resets(name, MEMORY_CHAIN)


def mostly_remembers(key: jax.Array, state: Any, params: Any) -> jax.Array:
    return jnp.where(jax.random.bernoulli(key, 0.7), state.context[state.query], 1 - state.context[state.query])


LENGTHS = (*range(1, 11), 12, 14, 17, 20, 25, *range(30, 101, 10))


def test_games_of_every_length() -> None:
    for length in LENGTHS:
        made = lockstep.make("memory_len", memory_length=length)
        made = made._replace(env=dataclasses.replace(made.env, memory_length=7))  # compiled once
        game = lockstep.check_game(made, MEMORY_CHAIN, mostly_remembers, 400, seed=length)
        assert game.done.sum() == 400 // (length + 1)


@pytest.mark.parametrize("bits", [2, 40])
def test_game_of_many_bits(bits: int) -> None:
    game = lockstep.check_game(lockstep.make("memory_size", num_bits=bits), MEMORY_CHAIN, mostly_remembers, 3000)
    assert set(game.state.query) == set(range(bits))
    assert game.state.total_perfect[-1] > 600
    assert game.info["total_regret"][-1] > 400


def test_contexts_and_queries_are_uniform() -> None:
    state = jax.vmap(MemoryChain(num_bits=40).reset)(jax.random.split(jax.random.key(0), 4000))[1]
    frequency = np.asarray(state.context).mean(axis=0)
    assert (abs(frequency - 0.5) < 4 * 0.5 / 4000**0.5).all()
    counts = np.bincount(state.query, minlength=40)
    assert len(counts) == 40
    assert (abs(counts - 100) < 45).all()
    correlation = np.corrcoef(np.column_stack([state.context, state.query]).T) - np.eye(41)
    assert (abs(correlation) < 5 / 4000**0.5).all()
