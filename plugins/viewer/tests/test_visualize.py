from __future__ import annotations

import base64
import dataclasses
import io
import re
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from clips import read
from counted import BARS, ENV, PARAMS, STATES, TOGETHER, TWO, bar
from envcore import random, rollout, spaces
from envcore.errors import InvalidArgumentError
from envcore.wrappers import Batched, FrameStack, LogWrapper, NormalizeObservation
from envcore_viewer import visualize
from envcore_viewer.animation import caption, mosaic
from envcore_viewer.errors import AnimationError
from envcore_viewer.visualize import Visualizer
from flax import struct
from toy import Counter, CounterState, Spring

KEY = jax.random.key(0)


def collected(env: Any, num_steps: int = 6) -> Any:
    start = rollout.start_rollout(env, KEY)
    return rollout.run_rollout(env, rollout.random_policy(env), start, num_steps)[1]


@pytest.mark.parametrize("states", [STATES, TOGETHER, jax.tree.map(np.asarray, TOGETHER)])
def test_a_list_of_states_and_states_with_a_time_axis(states: Any) -> None:
    vis = Visualizer(ENV, PARAMS, states, height=12)
    assert isinstance(vis.frames, np.ndarray)
    assert vis.frames.dtype == np.uint8
    np.testing.assert_array_equal(vis.frames, BARS)
    assert vis.frames is vis.frames


def test_long_sequences_are_rendered_in_parts_by_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = []

    @dataclasses.dataclass(frozen=True)
    class Traced(Counter):
        def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
            traces.append(height)
            return super().render(state, params, height=height)

    counts = np.random.default_rng(0).integers(0, 4, 11).astype(np.int32)
    states = CounterState(count=counts, time=jnp.arange(11, dtype=jnp.int32))
    monkeypatch.setattr(visualize, "_CHUNK", 4)
    for length in (11, 3):
        some = jax.tree.map(lambda x, length=length: x[:length], states)
        frames = Visualizer(Traced(), None, some, height=12).frames
        np.testing.assert_array_equal(frames, [bar(count) for count in counts[:length]])
    assert len(traces) == 2 + 1  # the shape, each time, and one program
    monkeypatch.setattr(visualize, "_CHUNK_BYTES", 1)
    np.testing.assert_array_equal(Visualizer(ENV, None, some, height=12).frames, frames)


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
    np.testing.assert_array_equal(Visualizer(Dice(), None, sequence, height=12).frames, BARS)


def test_params_and_height_reach_the_picture() -> None:
    @dataclasses.dataclass(frozen=True)
    class Lamp(Counter):
        def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
            level = params.bonus * 100
            return jnp.full((height, 2 * height, 3), level, jnp.float32).astype(jnp.uint8)

    env = Lamp()
    assert (Visualizer(env, PARAMS.replace(bonus=2.0), STATES, height=3).frames == 200).all()
    assert (Visualizer(env, None, STATES).frames == 50).all()
    assert Visualizer(env, None, STATES).frames.shape == (5, 256, 512, 3)


WRAPPED = {
    "LogWrapper": LogWrapper(ENV),
    "FrameStack": FrameStack(LogWrapper(ENV), 2),
}


def innermost(state: Any) -> Any:
    while hasattr(state, "env_state"):
        state = state.env_state
    return state


@pytest.mark.parametrize("env", WRAPPED.values(), ids=WRAPPED)
def test_through_wrappers(env: Any) -> None:
    steps = collected(env)
    inner = innermost(steps.state)
    np.testing.assert_array_equal(
        Visualizer(env, None, steps.state, height=12).frames, Visualizer(ENV, None, inner, height=12).frames
    )


BATCHES = {
    "Batched": Batched(ENV, 3),
    "of wrappers": Batched(LogWrapper(ENV), 3),
    "in wrappers": LogWrapper(Batched(ENV, 3)),
    "shared statistics": NormalizeObservation(Batched(ENV, 3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("env", BATCHES.values(), ids=BATCHES)
def test_a_batch_is_a_mosaic(env: Any) -> None:
    steps = collected(env)
    inner = innermost(steps.state)
    expected = mosaic([[bar(count) for count in inner.count[:, i]] for i in range(3)])
    vis = Visualizer(env, env.default_params, steps.state, height=12)
    np.testing.assert_array_equal(vis.frames, expected)
    assert expected.shape == (6, 12 + 8 + 12, 12 + 8 + 12, 3)
    as_list = [jax.tree.map(lambda x, i=i: x[i], steps.state) for i in range(6)]
    np.testing.assert_array_equal(Visualizer(env, None, as_list, height=12).frames, expected)


def test_a_second_axis_is_a_mosaic() -> None:
    expected = mosaic([BARS, BARS[::-1]])
    np.testing.assert_array_equal(Visualizer(ENV, None, TWO, height=12).frames, expected)


# Captions.


@dataclasses.dataclass(frozen=True)
class Nameless(Counter):
    action_names: ClassVar[tuple[str, ...]] = ()


def texts(*args: Any, env: Any = ENV, states: Any = STATES) -> list[str]:
    return Visualizer(env, None, states, *args, height=12)._texts(5)


def test_captions_show_what_is_known() -> None:
    assert texts() == [f"step {time}" for time in range(5)]
    assert texts([0.5, 1.0, 1.0, 0.75, 1.75])[2:4] == [
        "step 2  reward 0.00  return 1.00",
        "step 3  reward -0.25  return 0.75",
    ]
    assert texts(jnp.arange(5.0), jnp.array([0, 1, 1, 0, 1]))[:2] == [
        "step 0  wait  reward 0.00  return 0.00",
        "step 1  count  reward 1.00  return 1.00",
    ]
    assert texts(None, [0, 1, 1, 0, 1], env=Nameless())[4] == "step 4  action 1"
    assert texts(None, [0, 1, 1, -1, 7])[3:] == ["step 3  action -1", "step 4  action 7"]


def test_actions_of_several_numbers() -> None:
    vectors = np.array([[0.5, -1.0]] * 4 + [[0.123, -0.001]], np.float32)
    assert texts(None, vectors)[3:] == ["step 3  action 0.50 -1.00", "step 4  action 0.12 0.00"]
    assert texts(None, list(vectors))[3] == "step 3  action 0.50 -1.00"
    assert texts(None, np.array([[1, 2]] * 5))[0] == "step 0  action 1 2"
    assert texts(None, {"a": np.arange(5), "b": np.ones((5, 2), np.float32)})[2] == "step 2  action 2.00 1.00 1.00"


def test_small_rewards_are_not_zeros() -> None:
    assert texts(np.cumsum([0.001, 0.0, -0.002, 0.0, 0.0]))[:3:2] == [
        "step 0  reward 0.0010  return 0.0010",
        "step 2  reward -0.0020  return -0.0010",
    ]
    assert texts([np.nan, 0.0, 1.0, np.inf, 2.0])[0] == "step 0  reward nan  return nan"


def test_step_and_return_are_the_episodes() -> None:
    states = jax.tree.map(lambda x: jnp.concatenate([x[1:4], x[:2]]), TOGETHER)
    assert texts([1.0, 3.0, 4.0, 4.5, 9.0], states=states) == [
        "step 1  reward 1.00  return 1.00",
        "step 2  reward 2.00  return 3.00",
        "step 3  reward 1.00  return 4.00",
        "step 0  reward 0.50  return 0.50",
        "step 1  reward 4.50  return 5.00",
    ]


def test_the_strip_is_under_each_picture() -> None:
    plain = Visualizer(ENV, None, STATES, height=64).frames
    vis = Visualizer(ENV, None, STATES, [0.0] * 5, height=64, overlay=True)
    expected = caption(plain, texts([0.0] * 5))
    np.testing.assert_array_equal(vis.frames, expected)


def test_each_environment_of_a_mosaic_has_its_own_strip() -> None:
    rewards = np.arange(10.0).reshape(5, 2)
    both = texts(rewards, rewards.astype(np.int32) % 2, states=TWO)
    assert both[:4] == [
        "step 0  wait  reward 0.00  return 0.00",
        "step 4  count  reward 1.00  return 1.00",
        "step 1  wait  reward 2.00  return 2.00",
        "step 3  count  reward 2.00  return 3.00",
    ]
    videos = [Visualizer(ENV, None, jax.tree.map(lambda x, i=i: x[:, i], TWO), height=64).frames for i in range(2)]
    captioned = caption(np.stack(videos, 1).reshape(10, 64, 64, 3), both)
    expected = mosaic([captioned[::2], captioned[1::2]])
    vis = Visualizer(ENV, None, TWO, rewards, rewards.astype(np.int32) % 2, height=64, overlay=True)
    np.testing.assert_array_equal(vis.frames, expected)


# Files and notebooks.


CHANGING = [STATES[i] for i in (0, 1, 3, 4)]


@pytest.mark.parametrize(("fps", "at", "milliseconds"), [(None, None, 100), (5, None, 200), (5, 20, 50)])
def test_the_frame_rate(tmp_path: Any, fps: Any, at: Any, milliseconds: int) -> None:
    vis = Visualizer(ENV, None, CHANGING, height=12, fps=fps)
    vis.animate(tmp_path / "a.webp", at)
    frames, durations = read(tmp_path / "a.webp")
    np.testing.assert_array_equal(frames, vis.frames)
    assert durations == [milliseconds] * 4


@pytest.mark.parametrize(
    ("name", "fps", "message"),
    [("a.txt", None, r"must end in \.gif"), ("no/a.gif", None, "does not exist"), ("a.gif", 0, "at least 0.01")],
)
def test_no_picture_is_rendered_for_a_file_that_cannot_be_written(
    tmp_path: Any, name: str, fps: Any, message: str
) -> None:
    vis = Visualizer(ENV, None, STATES, height=12)
    with pytest.raises(AnimationError, match=message):
        vis.animate(tmp_path / name, fps)
    assert "frames" not in vars(vis)
    assert not list(tmp_path.iterdir())


def shown(vis: Visualizer) -> tuple[np.ndarray, list[int], str]:
    page = vis._repr_html_()
    match = re.match(r'<img src="data:image/webp;base64,([^"]*)" alt="([^"]*)" style="max-width: 100%">', page)
    assert match
    assert "&lt;Visualizer of Counter" in match[2]
    return *read(io.BytesIO(base64.b64decode(match[1], validate=True))), page[match.end() :]


def test_a_notebook_shows_it() -> None:
    vis = Visualizer(ENV, None, CHANGING, height=12, fps=20)
    pictures, durations, note = shown(vis)
    np.testing.assert_array_equal(pictures, vis.frames)
    assert durations == [50] * 4
    assert not note


@pytest.mark.parametrize("limit", ["_INLINE_FRAMES", "_INLINE_BYTES"])
def test_a_notebook_shows_the_beginning_of_a_long_sequence(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(visualize, limit, 2 if limit == "_INLINE_FRAMES" else 3 * 12 * 12 * 3 - 1)
    vis = Visualizer(ENV, None, CHANGING, height=12)
    pictures, _, note = shown(vis)
    assert "frames" not in vars(vis)
    np.testing.assert_array_equal(pictures, vis.frames[:2])
    assert note == "<p>The first 2 of 4 frames. <code>animate(path)</code> writes them all.</p>"


def test_its_repr() -> None:
    assert repr(Visualizer(ENV, None, STATES, height=12)) == "<Visualizer of Counter: 5 frames, 12 by 12 pixels>"
    states = jax.tree.map(lambda x: jnp.stack([x, x, x], 1), TOGETHER)
    assert "5 frames, 3 environments, each 12 by 12 pixels" in repr(Visualizer(ENV, None, states, height=12))


# Errors.


_FOREIGN = Spring().reset(KEY)[1]
ARGUMENTS: dict[str, Any] = {"env": ENV, "env_params": None, "state_seq": STATES}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a pair": ({"env": (ENV, PARAMS)}, r"got \(Counter.*make returns a pair"),
    "an id": ({"env": "CartPole-v1"}, "needs an Environment, got 'CartPole-v1'"),
    "no states": ({"state_seq": []}, "state_seq is empty"),
    "one state": ({"state_seq": STATES[0]}, r"time of shape \(\). Put a single state in a list"),
    "foreign": ({"state_seq": [_FOREIGN]}, "must be CounterState, got SpringState"),
    "not a batch's": ({"env": Batched(ENV, 2)}, r"before the batch's \(2,\): got time of shape \(5,\)\.$"),
    "mixed": ({"state_seq": [STATES[0], _FOREIGN]}, "state_seq must hold values of the same structure and shape"),
    "cum_rewards of another length": ({"cum_rewards": [1.0, 2.0]}, r"leading axes \(5,\), got float64 \(2,\)"),
    "words": ({"cum_rewards": np.array(["a"] * 5)}, r"got <U1 \(5,\)"),
    "actions of another length": ({"action_seq": [0, 1]}, r"action_seq must be numbers, .* got int64 \(2,\)"),
    "no height": ({"height": 0}, "a positive integer, got 0"),
    "no frames a second": ({"fps": 0}, "fps must be a number of frames per second, at least 0.01, got 0"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidArgumentError, AnimationError), match=message) as caught:
        Visualizer(**{**ARGUMENTS, **arguments})
    assert "\n" not in str(caught.value)


class Pair(Counter):
    """Takes two actions, of which it uses the first."""

    def action_space(self, params: Any) -> Any:
        return spaces.Tuple((spaces.Discrete(2), spaces.Discrete(2)))

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        return super().transition(state, action[0], draws, params)


def test_actions_that_are_tuples() -> None:
    steps = collected(Pair())
    one_by_one = [jax.tree.map(lambda x, i=i: x[i], steps.action) for i in range(6)]
    found, expected = (
        Visualizer(Pair(), PARAMS, steps.state, action_seq=each).frames for each in (steps.action, one_by_one)
    )
    np.testing.assert_array_equal(found, expected)
