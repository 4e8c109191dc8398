"""Sequences of states, rendered and checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from counted import BARS, ENV, PARAMS, STATES, TOGETHER, bar
from envcore import random
from envcore.errors import (
    InvalidArgumentError,
)
from envcore.wrappers import Batched, LogWrapper
from envcore_viewer import frames
from envcore_viewer.errors import VisualizerError
from envcore_viewer.frames import checked_states, render_frames
from flax import struct
from switches import switched
from toy import Counter, CounterState, Spring


def test_long_sequences_are_rendered_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_CHUNK", 4)
    counts = np.random.default_rng(0).integers(0, 4, 11).astype(np.int32)
    states = CounterState(count=counts, time=jnp.arange(11, dtype=jnp.int32))
    expected = np.stack([bar(count) for count in counts])
    np.testing.assert_array_equal(render_frames(ENV, states, height=12), expected)
    monkeypatch.setattr(frames, "_CHUNK_BYTES", 1)
    np.testing.assert_array_equal(render_frames(ENV, states, PARAMS, height=12), expected)


def test_one_program_renders_sequences_of_all_lengths() -> None:
    traces = []

    @dataclasses.dataclass(frozen=True)
    class Traced(Counter):
        def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
            traces.append(height)
            return super().render(state, params, height=height)

    env = Traced()
    for length in (5, 3, 1):
        states = jax.tree.map(lambda x, length=length: x[:length], TOGETHER)
        np.testing.assert_array_equal(render_frames(env, states, height=12), BARS[:length])
    assert len(traces) == 3 + 1  # the shape, each time, and one program


def test_x64_mode_changes_nothing() -> None:
    with switched(jax_enable_x64=True):
        states = jax.tree.map(lambda x: x.astype(jnp.int64), TOGETHER)
        assert states.time.dtype == jnp.int64
        for sequence in (states, [jax.tree.map(lambda x, i=i: x[i], states) for i in range(5)]):
            np.testing.assert_array_equal(render_frames(ENV, sequence, height=12), BARS)


_FOREIGN = Spring().reset(jax.random.key(0))[1]
_LONG = STATES[0].replace(count=jnp.zeros(2, jnp.int32))
BAD: dict[str, tuple[Any, Any, str]] = {
    "no states": (ENV, [], "state_seq is empty"),
    "an empty trace": (ENV, jax.tree.map(lambda x: x[:0], TOGETHER), "state_seq is empty"),
    "one state": (ENV, STATES[0], r"time of shape \(\). Put a single state in a list"),
    "too many axes": (
        ENV,
        jax.tree.map(lambda x: x[:, None, None], TOGETHER),
        r"at most one more axis for several environments: got time of shape \(5, 1, 1\)\.$",
    ),
    "foreign": (ENV, [_FOREIGN], "must be CounterState, got SpringState"),
    "not a batch's": (Batched(ENV, 2), STATES, r"before the batch's \(2,\): got time of shape \(5,\)\.$"),
    "one batch": (Batched(ENV, 5), TOGETHER, r"shape \(5,\). Put a single state in a list"),
    "of a wrapper": (LogWrapper(ENV), STATES, "must be LogState, got CounterState"),
    "not states": (ENV, np.zeros(5), "must be CounterState"),
    "None": (ENV, None, "must be CounterState"),
    "mixed": (ENV, [STATES[0], _FOREIGN], "number 1 differs from number 0"),
    "shapes": (ENV, [*STATES, _LONG], r"number 5 has shape \(2,\) where number 0"),
    "same bad shape": (ENV, [_LONG], r"count must have shape \(1,\), got \(1, 2\)"),
    "floats": (ENV, [STATES[0].replace(count=0.5)], "count must be int32, got float"),
    "a generator": (ENV, (x for x in STATES), "state_seq must be a list with one entry for each state, .* generator"),
    "a string": (ENV, "states", "must be a list with .* got a value of type str"),
}


@pytest.mark.parametrize(("env", "states", "message"), BAD.values(), ids=BAD)
def test_what_is_not_a_sequence_of_states(env: Any, states: Any, message: str) -> None:
    with pytest.raises(VisualizerError if "empty" in message else InvalidArgumentError, match=message) as caught:
        checked_states(env, states)
    assert "\n" not in str(caught.value)


@struct.dataclass
class DiceState(CounterState):
    key: Any


@dataclasses.dataclass(frozen=True)
class Dice(Counter):
    """A counter whose state holds a random key."""

    def init_state(self, draws: jax.Array, params: Any) -> DiceState:
        return DiceState(count=0, key=random.split(draws)[0])


@pytest.mark.parametrize("as_list", [False, True])
def test_states_that_hold_random_keys(as_list: bool) -> None:
    states = [DiceState(count=s.count, time=s.time, key=jax.random.key(i)) for i, s in enumerate(STATES)]
    sequence = states if as_list else jax.tree.map(lambda *x: jnp.stack(x), *states)
    np.testing.assert_array_equal(render_frames(Dice(), sequence, height=12), BARS)
