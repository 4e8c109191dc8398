"""UmbrellaChain: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

import dataclasses
from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import umbrella_chain
from envcore_bsuite import bits
from envcore_bsuite.umbrella_chain import UmbrellaChain, UmbrellaChainDraws
from rules import check_rule, rules

RECORDINGS = (
    *((f"umbrella_length.chain_length{length}", 20) for length in (1, 2, 10, 100)),
    *((f"umbrella_distract.n_distractor{number}", number) for number in (0, 1, 100)),
)


LEAVE, TAKE = range(2)
LAST = {"time": 3}  # of 4 steps
RAIN = {"need_umbrella": 1}


def chance(reward_bit: int, distractors: int = 0) -> UmbrellaChainDraws:
    words: Any = np.array([distractors], np.uint32)
    return UmbrellaChainDraws(reward_bit, words)  # pyright: ignore[reportArgumentType]


@rules(
    ("the first action takes the umbrella", {}, TAKE, chance(1), {"has_umbrella": 1}, 1, False),
    ("or leaves it", {"has_umbrella": 1}, LEAVE, chance(1), {"has_umbrella": 0}, 1, False),
    ("a reward before the end is chance", {}, LEAVE, chance(0), {}, -1, False),
    ("later it is too late to take it", {"time": 1}, TAKE, chance(1), {}, 1, False),
    ("or to leave it", {"time": 1, "has_umbrella": 1}, LEAVE, chance(0), {}, -1, False),
    ("rain and an umbrella", {**LAST, **RAIN, "has_umbrella": 1}, LEAVE, chance(0), {}, 1, True),
    ("rain without one", {**LAST, **RAIN}, TAKE, chance(1), {"total_regret": 2}, -1, True),
    ("no rain, no umbrella", LAST, LEAVE, chance(0), {}, 1, True),
    ("an umbrella for nothing", {**LAST, "has_umbrella": 1}, LEAVE, chance(1), {"total_regret": 2}, -1, True),
    ("regret adds up", {**LAST, **RAIN, "total_regret": 6}, LEAVE, chance(1), {"total_regret": 8}, -1, True),
    ("distractors are new", {"distractors": [0b110]}, LEAVE, chance(1, 0b011), {"distractors": [0b011]}, 1, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    env = UmbrellaChain(n_distractor=3, chain_length=4)
    check_rule(env, before, action, draws, after, reward, end)


@pytest.mark.parametrize(("name", "n_distractor"), RECORDINGS)
def test_every_recorded_step(name: str, n_distractor: int) -> None:
    lockstep.check_recorded(name, umbrella_chain(n_distractor))


@pytest.mark.parametrize(
    ("name", "n_distractor"), [RECORDINGS[2], ("umbrella_distract.n_distractor0", 0), RECORDINGS[-1]]
)
def test_recorded_resets(name: str, n_distractor: int) -> None:
    lockstep.check_resets(name, umbrella_chain(n_distractor))


def at_random(key: jax.Array, state: Any, params: Any) -> jax.Array:
    return jax.random.bernoulli(key).astype(jnp.int32)


LENGTHS = (*range(1, 11), 12, 14, 17, 20, 25, *range(30, 101, 10))
TWENTY = umbrella_chain(20)


@pytest.mark.slow
def test_games_of_every_length() -> None:
    for length in LENGTHS:
        made = lockstep.make("umbrella_length", chain_length=length, n_distractor=20)
        made = made._replace(env=dataclasses.replace(made.env, chain_length=7))  # compiled once
        game = lockstep.check_game(made, TWENTY, at_random, 400, seed=length)
        assert game.done.sum() == 400 // length


@pytest.mark.parametrize("number", [pytest.param(31, marks=pytest.mark.slow), 100])
def test_game_with_distractors(number: int) -> None:
    made = lockstep.make("umbrella_distract", n_distractor=number)
    game = lockstep.check_game(made, umbrella_chain(number), at_random, 2000)
    assert game.info["total_regret"][-1] > 40
    assert game.info["total_regret"][-1] < 160


@pytest.mark.parametrize("n_distractor", [0, 30, 31, 62])
def test_bits_are_fair_and_independent(n_distractor: int) -> None:
    env = UmbrellaChain(n_distractor)
    keys = jax.random.split(jax.random.key(0), 4000)
    obs, _ = jax.vmap(env.reset)(keys)
    draws = jax.vmap(env.draw, (0, None))(keys, env.default_params)
    distractors = jax.vmap(lambda words: bits.unpack(words, n_distractor))(draws.distractors)
    for drawn in (np.delete(np.asarray(obs)[:, 0], 2, axis=1), np.column_stack([draws.reward_bit, distractors])):
        assert set(np.unique(drawn)) == {0, 1}
        assert (abs(drawn.mean(axis=0) - 0.5) < 4.5 * 0.5 / 4000**0.5).all()
        correlation = np.corrcoef(drawn.T) - np.eye(drawn.shape[1])
        assert (abs(correlation) < 5 / 4000**0.5).all()
