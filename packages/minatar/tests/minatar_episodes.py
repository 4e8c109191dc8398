"""Compares the distributions of returns and lengths of episodes in our MinAtar games and in the original's."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from minatar import Environment
from scipy import stats


class Sample(NamedTuple):
    """Finished episodes: return and length of each."""

    returns: np.ndarray
    lengths: np.ndarray


@functools.cache
def originals_episodes(game: str, action_probs: tuple[float, ...], num_episodes: int, seed: int = 0) -> Sample:
    """Episodes of the original, with sticky actions, under a policy with these probabilities of the six actions."""
    rng = np.random.default_rng(seed)
    original = Environment(game)
    original.seed(seed)
    found: list[tuple[float, int]] = []
    while len(found) < num_episodes:
        original.reset()
        total, length, terminal = 0.0, 0, False
        while not terminal:
            actions = rng.choice(6, 256, p=action_probs)
            for action in actions:
                reward, terminal = original.act(int(action))
                total, length = total + reward, length + 1
                if terminal:
                    break
        found.append((total, length))
    returns, lengths = zip(*found, strict=True)
    return Sample(np.array(returns), np.array(lengths))


def our_episodes(env: Any, action_probs: tuple[float, ...], num_episodes: int, num_steps: int) -> Sample:
    """The first episode of each of `num_episodes` environments, all of them finished within `num_steps`."""
    logits = jnp.log(jnp.asarray(action_probs))

    def body(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, total, length, over = carry
        key_act, key_step = jax.random.split(key)
        action = jax.random.categorical(key_act, logits).astype(jnp.int32)
        _, state, reward, terminated, info = env.step_env(key_step, state, action)
        total, length = jnp.where(over, total, total + reward), jnp.where(over, length, length + 1)
        return (state, total, length, over | terminated | info["truncated"]), None

    @jax.jit
    @jax.vmap
    def episode(key: jax.Array) -> Any:
        key_reset, key = jax.random.split(key)
        _, state = env.reset(key_reset)
        start = (state, jnp.float32(0), jnp.int32(0), jnp.bool_(False))
        return jax.lax.scan(body, start, jax.random.split(key, num_steps))[0][1:]

    returns, lengths, over = map(np.asarray, episode(jax.random.split(jax.random.key(1), num_episodes)))
    assert over.all()
    return Sample(returns, lengths)


def check_same_distribution(ours: Sample, theirs: Sample) -> None:
    """Fails if returns or lengths of the two samples are unlikely to come from one distribution."""
    for mine, original in zip(ours, theirs, strict=True):
        test: Any = stats.ks_2samp(mine, original)
        assert test.pvalue > 1e-3
