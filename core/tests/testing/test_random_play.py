from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore import spaces
from envcore.testing.random_play import mostly_legal_action
from envcore.wrappers import Batched
from toy import Counter

KEYS = jax.random.split(jax.random.key(0), 4000)


@dataclasses.dataclass(frozen=True)
class Choice(Counter):
    """The counter with four actions."""

    def make_action_space(self, params: Any) -> spaces.Discrete:
        return spaces.Discrete(4)


@dataclasses.dataclass(frozen=True)
class LastIsLegal(Choice):
    def mask_actions(self, state: Any, params: Any) -> Any:
        return jnp.arange(4) == 3


@dataclasses.dataclass(frozen=True)
class OddMask(Choice):
    def mask_actions(self, state: Any, params: Any) -> Any:
        return jnp.arange(8) == 3


@pytest.mark.parametrize(("env", "share"), [(Choice(), 1 / 4), (LastIsLegal(), 7 / 8 + 1 / 32), (OddMask(), 1 / 4)])
def test_the_share_of_legal_actions(env: Choice, share: float) -> None:
    _, state = env.reset(KEYS[0])
    actions = jax.vmap(lambda key: mostly_legal_action(env, key, state, env.default_params))(KEYS)
    assert (actions == 3).mean() == pytest.approx(share, abs=0.02)
    assert jnp.unique(actions).tolist() == [0, 1, 2, 3]


def test_a_batch() -> None:
    env = Batched(LastIsLegal(), 3)
    _, state = env.reset(KEYS[0])
    actions = jax.vmap(lambda key: mostly_legal_action(env, key, state, env.default_params))(KEYS[:400])
    assert actions.shape == (400, 3)
    assert (actions == 3).all(1).mean() > 0.8
