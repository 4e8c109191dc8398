"""Returns of trained agents, with agents whose play is known."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_baselines import trained
from envcore_baselines.trained import episode_returns
from toy import Counter

KEY = jax.random.key(0)


class Player:
    """Counts with the probability that is its agent; greedily, if that is above a half."""

    def __init__(self, env: Any):
        self.env = env

    def start_memory(self) -> Any:
        return ()

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        counts = agent > 0.5 if greedy else jax.random.uniform(key) < agent
        return counts.astype(jnp.int32), memory


def test_returns_are_those_of_first_episodes() -> None:
    env = Counter()
    params = env.default_params.replace(bonus=np.float32(2))
    returns, ended = episode_returns(Player(env), params, jnp.float32(1), KEY, 5, False)  # type: ignore[arg-type]
    np.testing.assert_array_equal(returns, [6] * 5)
    assert ended.all()


def test_sampled_and_greedy_play() -> None:
    params = Counter().default_params.replace(max_steps_in_episode=np.int32(3))
    player: Any = Player(Counter())
    sampled, _ = episode_returns(player, params, jnp.float32(0.7), KEY, 400, False)
    greedy, _ = episode_returns(player, params, jnp.float32(0.7), KEY, 400, True)
    assert float(sampled.mean()) == pytest.approx(3 * 0.7 * 0.5, abs=0.08)
    assert (greedy == 1.5).all()


def test_it_draws_other_numbers_than_training_with_the_same_key() -> None:
    """Without a stream of its own, the key of its first action would be one that training derives."""
    seen: list[tuple[int, ...]] = []

    class Noted(Player):
        def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> Any:
            jax.debug.callback(lambda words: seen.append(tuple(words.tolist())), jax.random.key_data(key))
            return super().act(agent, memory, obs, key, greedy)

    params = Counter().default_params.replace(max_steps_in_episode=np.int32(1))
    jax.block_until_ready(episode_returns(Noted(Counter()), params, jnp.float32(1), KEY, 1, False))  # type: ignore[arg-type]
    jax.effects_barrier()
    key, _ = jax.random.split(KEY)
    _, key_act, _ = jax.random.split(key, 3)
    without = tuple(jax.random.key_data(jax.random.split(key_act, 1)[0]).tolist())
    assert len(seen) == 1
    assert without not in seen


def test_an_episode_without_an_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "MAX_STEPS", 7)
    params = Counter().default_params.replace(max_steps_in_episode=np.int32(100))
    returns, ended = episode_returns(Player(Counter()), params, jnp.float32(0), KEY, 2, False)  # type: ignore[arg-type]
    assert not ended.any()
    assert (returns == 0).all()
