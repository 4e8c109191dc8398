"""UmbrellaChain against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import umbrella_chain
from envcore.testing import check_env
from envcore_bsuite import bits
from envcore_bsuite.experiments import shared_program
from envcore_bsuite.umbrella_chain import UmbrellaChain

RECORDINGS = (
    *((f"umbrella_length.chain_length{length}", 20) for length in (1, 2, 10, 100)),
    *((f"umbrella_distract.n_distractor{number}", number) for number in (0, 1, 100)),
)


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


def test_games_of_every_length() -> None:
    for length in LENGTHS:
        made = lockstep.make("umbrella_length", chain_length=length, n_distractor=20)
        made = made._replace(env=shared_program(made.env))
        game = lockstep.check_game(made, TWENTY, at_random, 400, seed=length)
        assert game.done.sum() == 400 // length


@pytest.mark.parametrize("number", [31, 100])
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


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"n_distractor": 33, "chain_length": 1}])
def test_conforms(options: dict[str, Any]) -> None:
    check_env(*envcore.make("UmbrellaChain-bsuite", **options))


@pytest.mark.parametrize("options", [{"n_distractor": -1}, {"chain_length": 0}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"n_distractor of at least 0 and chain_length of at least 1, got -?\d+ and"):
        UmbrellaChain(**options)
