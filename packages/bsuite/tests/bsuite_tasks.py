"""How our bsuite environments correspond to the original's, except those with physics: a `Task` each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from bsuite_lockstep import Steps, Task
from envcore_bsuite.bandit import SimpleBanditState
from envcore_bsuite.catch import CatchState
from envcore_bsuite.deep_sea import DeepSeaDraws, DeepSeaState
from envcore_bsuite.discounting_chain import DiscountingChainState
from envcore_bsuite.memory_chain import MemoryChainStart, MemoryChainState
from envcore_bsuite.umbrella_chain import UmbrellaChainDraws, UmbrellaChainStart, UmbrellaChainState
from envcore_bsuite.wrappers import RewardNoiseDraws
from lockstep import Calls, Fields


def ints(*arrays: Any) -> tuple[jax.Array, ...]:
    return tuple(jnp.asarray(x, jnp.int32) for x in arrays)


def floats(*arrays: Any) -> tuple[jax.Array, ...]:
    return tuple(jnp.asarray(x, jnp.float32) for x in arrays)


def pack(bits: jax.Array) -> jax.Array:
    """Bits (n,) in uint32 words, lowest first."""
    padded = jnp.concatenate([bits.astype(jnp.uint32), jnp.zeros(-len(bits) % 32, jnp.uint32)])
    places = np.arange(32, dtype=np.uint32)[None]
    return (padded.reshape(-1, 32) << places).sum(axis=1, dtype=jnp.uint32)


def reader(*names: str) -> Any:
    """A function that reads these fields of the running original."""
    return lambda original: {name: np.array(getattr(original, f"_{name}")) for name in names}


def _bandit(fields: Fields) -> SimpleBanditState:
    (total,) = floats(fields["total_regret"])
    return SimpleBanditState(total_regret=total, excess=jnp.zeros_like(total), time=jnp.zeros(len(total), jnp.int32))


BANDIT = Task(_bandit, lambda state: {"total_regret": state.total_regret}, reader("total_regret"))

_CATCH = ("ball_x", "ball_y", "paddle_x", "paddle_y")


def _catch(fields: Fields) -> CatchState:
    return CatchState(*ints(*(fields[name] for name in (*_CATCH, "total_regret"))), time=ints(fields["ball_y"])[0])


CATCH = Task(
    _catch,
    lambda state: {name: getattr(state, name) for name in (*_CATCH, "total_regret")},
    reader(*_CATCH, "total_regret"),
    reset_calls=lambda state: [("randint", int(state.ball_x))],
    start=lambda draws: draws["ball_x"],
)


def _deep_sea(fields: Fields) -> DeepSeaState:
    column, total, time = ints(fields["column"], fields["total_bad_episodes"], fields["row"])
    return DeepSeaState(column, jnp.asarray(fields["bad_episode"]), total, *ints(fields["denoised_return"]), time=time)


def _deep_sea_calls(original: Any, action: int, draws: DeepSeaDraws | None) -> Calls:
    calls: Calls = []
    if draws is not None and original._row == original._size - 1 and original._column in (0, original._size - 1):
        calls.append(("randn", float(draws.noise)))
    if action == original._action_mapping[original._row, original._column]:
        calls.append(("rand", 0.5 if draws is None else float(draws.wind)))
    return calls


DEEP_SEA = Task(
    _deep_sea,
    lambda state: {
        "row": state.row,
        **{name: getattr(state, name) for name in ("column", "bad_episode", "total_bad_episodes", "denoised_return")},
    },
    reader("row", "column", "bad_episode", "total_bad_episodes", "denoised_return"),
    step_calls=_deep_sea_calls,
    draws=lambda env, draws: None if env.deterministic else DeepSeaDraws(draws["reward_noise"], draws["wind_u"]),
    # Noise and treasure may cancel.
    sizes=lambda steps, params: {"reward": np.abs(_noise(steps.draws)) + 1.0},
)


def _noise(draws: Any) -> np.ndarray:
    """The noise in recorded draws or in ours, 0 if there was none."""
    if draws is None:
        return np.zeros(())
    return np.nan_to_num(draws["reward_noise"] if isinstance(draws, Mapping) else draws.noise)


def _discounting(fields: Fields) -> DiscountingChainState:
    context, time = ints(fields["context"], fields["timestep"])
    return DiscountingChainState(context, time=time)


DISCOUNTING_CHAIN = Task(
    _discounting,
    lambda state: {"context": state.context, "timestep": state.time},
    reader("context", "timestep"),
)


def _memory(fields: Fields) -> MemoryChainState:
    context, query, perfect, time = ints(*(fields[n] for n in ("context", "query", "total_perfect", "timestep")))
    return MemoryChainState(context, query, perfect, *ints(fields["total_regret"]), time=time)


MEMORY_CHAIN = Task(
    _memory,
    lambda state: {
        "timestep": state.time,
        **{name: getattr(state, name) for name in ("context", "query", "total_perfect", "total_regret")},
    },
    reader("timestep", "context", "query", "total_perfect", "total_regret"),
    reset_calls=lambda state: [("binomial", np.asarray(state.context)), ("randint", int(state.query))],
    start=lambda draws: MemoryChainStart(draws["context"], draws["query"]),
)

_UMBRELLA = ("need_umbrella", "has_umbrella")


def umbrella_chain(n_distractor: int) -> Task:
    """The task for this number of distractors. The original does not store them, so they are not among its fields."""

    def from_original(fields: Fields) -> UmbrellaChainState:
        need, has, time = ints(*(fields[name] for name in (*_UMBRELLA, "timestep")))
        words = jnp.zeros((len(time), -(-n_distractor // 32)), jnp.uint32)
        return UmbrellaChainState(need, has, words, *ints(fields["total_regret"]), time=time)

    def bits(words: Any) -> np.ndarray:
        return np.unpackbits(np.asarray(words).view(np.uint8), bitorder="little")[:n_distractor]

    def step_calls(original: Any, action: int, draws: UmbrellaChainDraws) -> Calls:
        is_last = original._timestep + 1 == original._chain_length
        return [*([] if is_last else [("binomial", int(draws.reward_bit))]), ("binomial", bits(draws.distractors))]

    return Task(
        from_original,
        lambda state: {
            "timestep": state.time,
            **{name: getattr(state, name) for name in (*_UMBRELLA, "total_regret")},
        },
        reader("timestep", *_UMBRELLA, "total_regret"),
        reset_calls=lambda state: [
            *(("binomial", int(getattr(state, name))) for name in _UMBRELLA),
            ("binomial", bits(state.distractors)),
        ],
        step_calls=step_calls,
        draws=lambda env, draws: UmbrellaChainDraws(draws["reward_bit"], pack(draws["distractors"])),
        start=lambda draws: UmbrellaChainStart(draws["need"], draws["has"], pack(draws["distractors"])),
    )


def with_noise(task: Task, scale: float) -> Task:
    """The task of an environment in `RewardNoise`; the environment itself must draw nothing in a step."""

    def sizes(steps: Steps, params: Any) -> Mapping[str, np.ndarray]:
        noise = steps.draws["noise"] if isinstance(steps.draws, Mapping) else steps.draws.noise
        return {**task.sizes(steps, params), "reward": 1 + scale * np.abs(noise)}

    return dataclasses.replace(
        task,
        step_calls=lambda original, action, draws: [("randn", float(draws.noise))],
        draws=lambda env, draws: RewardNoiseDraws(task.draws(env.env, draws), draws["noise"]),
        sizes=sizes,
    )
