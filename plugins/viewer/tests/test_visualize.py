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
from envcore import random, rendering, rollout
from envcore.engine import arguments
from envcore.errors import (
    EnvcoreError,
    EnvironmentDefinitionError,
    InvalidArgumentError,
    InvalidParamsError,
    NoPictureError,
)
from envcore.wrappers import Batched, FrameStack, LogWrapper, NormalizeObservation
from envcore_viewer import frames, visualize
from envcore_viewer.animation import caption, mosaic
from envcore_viewer.errors import AnimationError, VisualizerError
from envcore_viewer.frames import render_frames
from envcore_viewer.visualize import Visualizer
from flax import struct
from PIL import Image, ImageSequence
from switches import switched
from toy import Counter, CounterState, Deck, Spring

KEY = jax.random.key(0)
ENV = Counter()
PARAMS = ENV.default_params
COUNTS = [0, 1, 1, 2, 3]
STATES = [CounterState(count=jnp.int32(count), time=jnp.int32(time)) for time, count in enumerate(COUNTS)]
TOGETHER = jax.tree.map(lambda *x: jnp.stack(x), *STATES)


def bar(count: int, height: int = 12) -> np.ndarray:
    return np.asarray(ENV.render(STATES[0].replace(count=count), ENV.default_params, height=height))


BARS = np.stack([bar(count) for count in COUNTS])


@dataclasses.dataclass(frozen=True)
class Painted(Counter):
    """A counter with a different picture."""

    paint_at: Any = None

    def render(self, state: Any, params: Any, height: int = 256) -> Any:
        return self.paint_at(height)


def collected(env: Any, num_steps: int = 6) -> Any:
    start = rollout.start_rollout(env, KEY)
    return rollout.run_rollout(env, rollout.random_policy(env), start, num_steps)[1]


@pytest.mark.parametrize("states", [STATES, tuple(STATES), TOGETHER, jax.tree.map(np.asarray, TOGETHER)])
def test_a_list_of_states_and_states_with_a_time_axis(states: Any) -> None:
    vis = Visualizer(ENV, PARAMS, states, height=12)
    assert isinstance(vis.frames, np.ndarray)
    assert vis.frames.dtype == np.uint8
    np.testing.assert_array_equal(vis.frames, BARS)
    assert vis.frames is vis.frames


@pytest.mark.slow
def test_the_loop_of_gymnax_s_readme(tmp_path: Any) -> None:
    rng, state_seq, reward_seq = KEY, [], []
    _, env_state = ENV.reset(rng, PARAMS)
    while True:
        state_seq.append(env_state)
        rng, rng_act, rng_step = jax.random.split(rng, 3)
        action = ENV.action_space(PARAMS).sample(rng_act)
        _, env_state, reward, done, _ = ENV.step(rng_step, env_state, action, PARAMS)
        reward_seq.append(reward)
        if done:
            break
    vis = Visualizer(ENV, PARAMS, state_seq, jnp.cumsum(jnp.array(reward_seq)))
    assert vis.animate(f"{tmp_path}/anim.gif") == tmp_path / "anim.gif"
    assert (tmp_path / "anim.gif").read_bytes().startswith(b"GIF89a")


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
    assert render_frames(env, steps.state, height=12).shape == (6, 3, 12, 12, 3)


def test_a_second_axis_is_a_mosaic() -> None:
    states = jax.tree.map(lambda x: jnp.stack([x, x[::-1]], 1), TOGETHER)
    expected = mosaic([BARS, BARS[::-1]])
    np.testing.assert_array_equal(Visualizer(ENV, None, states, height=12).frames, expected)


def test_x64_mode_changes_nothing() -> None:
    with switched(jax_enable_x64=True):
        states = jax.tree.map(lambda x: x.astype(jnp.int64), TOGETHER)
        assert states.time.dtype == jnp.int64
        for sequence in (states, [jax.tree.map(lambda x, i=i: x[i], states) for i in range(5)]):
            np.testing.assert_array_equal(Visualizer(ENV, PARAMS, sequence, height=12).frames, BARS)


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


@pytest.mark.parametrize("as_list", [False, True])
def test_small_floats_are_numbers(as_list: bool) -> None:
    values = jnp.arange(5, dtype=jnp.bfloat16) / 2
    given = list(values) if as_list else values
    assert texts(given, given)[3] == "step 3  action 1.50  reward 0.50  return 1.50"


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
    states = jax.tree.map(lambda x: jnp.stack([x, x[::-1]], 1), TOGETHER)
    rewards = np.arange(10.0).reshape(5, 2)
    both = texts(rewards, rewards.astype(np.int32) % 2, states=states)
    assert both[:4] == [
        "step 0  wait  reward 0.00  return 0.00",
        "step 4  count  reward 1.00  return 1.00",
        "step 1  wait  reward 2.00  return 2.00",
        "step 3  count  reward 2.00  return 3.00",
    ]
    videos = [render_frames(ENV, jax.tree.map(lambda x, i=i: x[:, i], states), height=64) for i in range(2)]
    captioned = caption(np.stack(videos, 1).reshape(10, 64, 64, 3), both)
    expected = mosaic([captioned[::2], captioned[1::2]])
    vis = Visualizer(ENV, None, states, rewards, rewards.astype(np.int32) % 2, height=64, overlay=True)
    np.testing.assert_array_equal(vis.frames, expected)


# Files and notebooks.


def read(file: Any) -> tuple[np.ndarray, list[int]]:
    with Image.open(file) as image:
        frames = [(np.asarray(each.convert("RGB")), each.info["duration"]) for each in ImageSequence.Iterator(image)]
    return np.stack([pixels for pixels, _ in frames]), [duration for _, duration in frames]


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
    [("a.txt", None, r"must end in \.gif"), ("no/a.gif", None, "does not exist"), ("a.gif", 60, "0.01 to 50")],
)
def test_no_picture_is_rendered_for_a_file_that_cannot_be_written(
    tmp_path: Any, name: str, fps: Any, message: str
) -> None:
    vis = Visualizer(ENV, None, STATES, height=12)
    with pytest.raises(AnimationError, match=message):
        vis.animate(tmp_path / name, fps)
    assert "frames" not in vars(vis)
    assert not list(tmp_path.iterdir())


def test_no_picture_is_rendered_that_is_too_large_for_the_format(tmp_path: Any) -> None:
    wide = Painted(paint_at=lambda h: jnp.zeros((h, 10_000, 3), jnp.uint8))
    vis = Visualizer(wide, None, jax.tree.map(lambda x: jnp.stack([x, x], 1), TOGETHER), height=2)
    with pytest.raises(AnimationError, match=r"a WebP can be at most 16383 .*, the frames are 20008 by 2: make them"):
        vis.animate(tmp_path / "a.webp")
    assert "frames" not in vars(vis)


@pytest.mark.parametrize("overlay", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_size_is_known_before_frames_are_rendered(overlay: bool, count: int) -> None:
    states = jax.tree.map(lambda x: jnp.stack([x] * count, 1), TOGETHER) if count else TOGETHER
    rewards = np.full((5, count) if count else 5, -123.456).cumsum(0)
    vis = Visualizer(ENV, None, states, rewards, height=40, overlay=overlay)
    size = vis._frame_shape()
    assert "frames" not in vars(vis)
    assert size == vis.frames.shape[1:3]


def test_an_overlay_needs_a_picture_that_is_wide_enough() -> None:
    with pytest.raises(AnimationError, match="a width of 32 pixels for a caption, this one has 31: render it larger"):
        Visualizer(ENV, None, STATES, height=31, overlay=True)
    assert Visualizer(ENV, None, STATES, height=32, overlay=True).frames.shape[2] == 32
    assert Visualizer(ENV, None, STATES, height=31).frames.shape == (5, 31, 31, 3)


def test_more_frames_than_fit_into_memory() -> None:
    endless = Painted(paint_at=lambda h: jnp.zeros((h, 2**40, 3), jnp.uint8))
    message = (
        r"^5 frames of 1099511627776 x 1024 pixels need 15728640.0 GiB, more than is available: use fewer or smaller"
    )
    with pytest.raises(AnimationError, match=message):
        _ = Visualizer(endless, None, STATES, height=1024).frames


@dataclasses.dataclass(frozen=True)
class Hasty(Counter):
    render_fps: ClassVar[float] = 120


def test_an_environments_own_frame_rate_is_limited_by_the_format(tmp_path: Any) -> None:
    vis = Visualizer(Hasty(), None, CHANGING, height=12)
    vis.animate(tmp_path / "a.gif")
    assert read(tmp_path / "a.gif")[1] == [20] * 4
    with pytest.raises(AnimationError, match=r"0\.01 to 50 frames per second, got 120"):
        vis.animate(tmp_path / "a.gif", 120)
    with pytest.raises(AnimationError, match=r"0\.01 to 50 frames per second, got 60"):
        Visualizer(Hasty(), None, CHANGING, height=12, fps=60).animate(tmp_path / "a.gif")
    with pytest.raises(AnimationError, match="a path must be a string"):
        vis.animate(None)  # pyright: ignore[reportArgumentType]


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


@pytest.mark.parametrize("rendered", [False, True])
@pytest.mark.parametrize("limit", ["_INLINE_FRAMES", "_INLINE_BYTES"])
def test_a_notebook_shows_the_beginning_of_a_long_sequence(
    monkeypatch: pytest.MonkeyPatch, rendered: bool, limit: str
) -> None:
    monkeypatch.setattr(visualize, limit, 2 if limit == "_INLINE_FRAMES" else 3 * 12 * 12 * 3 - 1)
    vis = Visualizer(ENV, None, CHANGING, height=12, fps=1000)
    expected = Visualizer(ENV, None, CHANGING, height=12).frames
    if rendered:
        assert len(vis.frames) == 4
        monkeypatch.setattr(vis, "_rendered", None)  # not rendered again
    pictures, durations, note = shown(vis)
    np.testing.assert_array_equal(pictures, expected[:2])
    assert note == "<p>The first 2 of 4 frames; <code>animate(path)</code> writes them all.</p>"
    assert sum(durations) == 22  # browsers play no faster
    assert ("frames" in vars(vis)) == rendered


def test_a_notebook_shows_it_at_the_slowest_rate_of_the_format() -> None:
    assert shown(Visualizer(ENV, None, CHANGING, height=12, fps=0.001))[1] == [100_000] * 4


def test_its_repr() -> None:
    assert repr(Visualizer(ENV, None, STATES, height=12)) == "<Visualizer of Counter: 5 frames, 12 by 12 pixels>"
    states = jax.tree.map(lambda x: jnp.stack([x, x, x], 1), TOGETHER)
    assert "5 frames, 3 environments, each 12 by 12 pixels" in repr(Visualizer(ENV, None, states, height=12))


# Errors.


def at_length(count: int) -> Any:
    return jax.tree.map(lambda x: x[:count], TOGETHER)


@struct.dataclass
class Twin(CounterState):
    pass


_FOREIGN = Spring().reset(KEY)[1]
_LONG = STATES[0].replace(count=jnp.zeros(2, jnp.int32))
BAD = {
    "a pair": (((ENV, PARAMS), None, STATES), {}, VisualizerError, r"got \(Counter.*make returns a pair"),
    "an id": (("CartPole-v1", None, STATES), {}, VisualizerError, "needs an Environment, got 'CartPole-v1'"),
    "no states": ((ENV, None, []), {}, VisualizerError, "state_seq is empty"),
    "an empty trace": ((ENV, None, at_length(0)), {}, VisualizerError, "state_seq is empty"),
    "one state": (
        (ENV, None, STATES[0]),
        {},
        InvalidArgumentError,
        r"time of shape \(\). Put a single state in a list",
    ),
    "too many axes": (
        (ENV, None, jax.tree.map(lambda x: x[:, None, None], TOGETHER)),
        {},
        InvalidArgumentError,
        r"at most one more axis for several environments: got time of shape \(5, 1, 1\)\.$",
    ),
    "foreign": ((ENV, None, [_FOREIGN]), {}, InvalidArgumentError, "must be CounterState, got SpringState"),
    "not a batch's": (
        (Batched(ENV, 2), None, STATES),
        {},
        InvalidArgumentError,
        r"before the batch's \(2,\): got time of shape \(5,\)\.$",
    ),
    "one batch": (
        (Batched(ENV, 5), None, TOGETHER),
        {},
        InvalidArgumentError,
        r"shape \(5,\). Put a single state in a list",
    ),
    "of a wrapper": ((LogWrapper(ENV), None, STATES), {}, InvalidArgumentError, "must be LogState, got CounterState"),
    "not states": ((ENV, None, np.zeros(5)), {}, InvalidArgumentError, "must be CounterState"),
    "None": ((ENV, None, None), {}, InvalidArgumentError, "must be CounterState"),
    "mixed": ((ENV, None, [STATES[0], _FOREIGN]), {}, InvalidArgumentError, "number 1 differs from number 0"),
    "shapes": (
        (ENV, None, [*STATES, _LONG]),
        {},
        InvalidArgumentError,
        r"number 5 has shape \(2,\) where number 0",
    ),
    "same bad shape": ((ENV, None, [_LONG]), {}, InvalidArgumentError, r"count must have shape \(1,\), got \(1, 2\)"),
    "floats": ((ENV, None, [STATES[0].replace(count=0.5)]), {}, InvalidArgumentError, "count must be int32, got float"),
    "params": ((ENV, Spring().default_params, STATES), {}, InvalidParamsError, "must be CounterParams"),
    "rewards": ((ENV, None, STATES, [1.0, 2.0]), {}, VisualizerError, "state_seq has 5, cum_rewards 2"),
    "no rewards": ((ENV, None, STATES, []), {}, VisualizerError, "state_seq has 5, cum_rewards 0"),
    "a reward": ((ENV, None, STATES, 1.0), {}, VisualizerError, r"one for each state, got float64\[\]\.$"),
    "rewards of two": (
        (ENV, None, STATES, np.zeros((5, 2))),
        {},
        VisualizerError,
        r"numbers of shape \(5,\), one for each state, got float64\[5, 2\]",
    ),
    "words": ((ENV, None, STATES, np.array(["a"] * 5)), {}, VisualizerError, "cum_rewards must be numbers"),
    "actions": ((ENV, None, STATES, None, [0, 1]), {}, VisualizerError, "state_seq has 5, action_seq 2"),
    "one action": ((ENV, None, STATES, None, 1), {}, VisualizerError, r"leading axes \(5,\), .* got shape \(\)"),
    "uneven actions": (
        (ENV, None, STATES, None, [0, [1]]),
        {},
        VisualizerError,
        "action_seq must hold values of one structure: number 1",
    ),
    "actions of one": (
        (ENV, None, jax.tree.map(lambda x: jnp.stack([x, x], 1), TOGETHER), None, np.zeros(5)),
        {},
        VisualizerError,
        r"the leading axes \(5, 2\), one action of at least one number for each state, got shape \(5,\)",
    ),
    "words for actions": (
        (ENV, None, STATES, None, ["left"] * 5),
        {},
        VisualizerError,
        r"action_seq must hold numbers, or trees of them, got <U4\[5\]\.$",
    ),
    "no actions": ((ENV, None, STATES, None, []), {}, VisualizerError, "state_seq has 5, action_seq 0"),
    "None for actions": (
        (ENV, None, STATES, None, [None] * 5),
        {},
        VisualizerError,
        r"must hold numbers, .* got a list of values of type NoneType\.$",
    ),
    "a tree of no actions": ((ENV, None, STATES, None, {}), {}, VisualizerError, "got a value of type dict"),
    "empty actions": ((ENV, None, STATES, None, np.zeros((5, 0))), {}, VisualizerError, r"at least one number .*5, 0"),
    "objects for actions": ((ENV, None, STATES, None, [object()] * 5), {}, VisualizerError, r"numbers, .*object\[5\]"),
    "actions that are not alike": (
        (ENV, None, STATES, None, [0, KEY]),
        {},
        VisualizerError,
        "cannot be stacked into an array",
    ),
    "keys for actions": (
        (ENV, None, STATES, None, jax.random.split(KEY, 5)),
        {},
        VisualizerError,
        r"got key<fry>\[5\]",
    ),
    "iterated actions": ((ENV, None, STATES, None, iter([0] * 5)), {}, VisualizerError, "of type list_iterator"),
    "None for rewards": (
        (ENV, None, STATES, [None] * 5),
        {},
        VisualizerError,
        r"cum_rewards must be numbers of shape \(5,\), .* got a list of values of type NoneType\.$",
    ),
    "a tree of rewards": ((ENV, None, STATES, {"a": np.zeros(5)}), {}, VisualizerError, "got a value of type dict"),
    "complex rewards": ((ENV, None, STATES, np.zeros(5, complex)), {}, VisualizerError, r"got complex128\[5\]"),
    "durations": ((ENV, None, STATES, np.zeros(5, "m8[s]")), {}, VisualizerError, r"got timedelta64\[s\]\[5\]"),
    "a generator": (
        (ENV, None, (x for x in STATES)),
        {},
        InvalidArgumentError,
        "state_seq must be a list with one entry for each state, .* generator",
    ),
    "a string": ((ENV, None, "states"), {}, InvalidArgumentError, "must be a list with .* got a value of type str"),
    "no picture": ((Deck(), None, [Deck().reset(KEY)[1]]), {}, NoPictureError, "Deck has to implement render"),
    "height 0": ((ENV, None, STATES), {"height": 0}, InvalidArgumentError, "a positive integer, got 0"),
    "height 1.5": ((ENV, None, STATES), {"height": 1.5}, InvalidArgumentError, "a positive integer, got 1.5"),
    "fps 0": ((ENV, None, STATES), {"fps": 0}, VisualizerError, "fps must be a positive number .*, got 0"),
    "fps nan": ((ENV, None, STATES), {"fps": np.nan}, VisualizerError, "got nan"),
    "fps inf": ((ENV, None, STATES), {"fps": np.inf}, VisualizerError, "got inf"),
    "fps True": ((ENV, None, STATES), {"fps": True}, VisualizerError, "got True"),
    "fps array": ((ENV, None, STATES), {"fps": np.zeros((2, 2))}, VisualizerError, r"got array"),
    "fps text": ((ENV, None, STATES), {"fps": "10"}, VisualizerError, "got '10'"),
}


@pytest.mark.parametrize(("args", "options", "error", "message"), BAD.values(), ids=BAD)
def test_bad_arguments(args: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        Visualizer(*args, **options)
    assert isinstance(caught.value, EnvcoreError)
    assert "\n" not in str(caught.value)


PICTURES: dict[str, tuple[Any, str]] = {
    "floats": (lambda h: jnp.zeros((h, h, 3), jnp.float32), r"returns float32\[8, 8, 3\]"),
    "flat": (lambda h: jnp.zeros((h, h), jnp.uint8), r"returns uint8\[8, 8\]"),
    "transparent": (lambda h: jnp.zeros((h, h, 4), jnp.uint8), r"returns uint8\[8, 8, 4\]"),
    "channels first": (lambda h: jnp.zeros((3, h, h), jnp.uint8), r"returns uint8\[3, 8, 8\]"),
    "wrong height": (lambda h: jnp.zeros((9, h, 3), jnp.uint8), r"returns uint8\[9, 8, 3\]"),
    "no width": (lambda h: jnp.zeros((h, 0, 3), jnp.uint8), r"returns uint8\[8, 0, 3\]"),
    "a scalar": (lambda h: jnp.int32(h), r"returns int32\[\]"),
    "None": (lambda _: None, "returns None"),
    "a dict": (lambda h: {"image": jnp.zeros((h, h, 3), jnp.uint8)}, "returns a dict"),
    "a list": (lambda h: [jnp.zeros((h, h, 3), jnp.uint8)], "returns a list"),
    "a word": (lambda _: "picture", "returns something that is not an array"),
}


@pytest.mark.parametrize(("paint_at", "message"), PICTURES.values(), ids=PICTURES)
def test_a_picture_of_a_wrong_type(paint_at: Any, message: str) -> None:
    must = r": it must return uint8 \[8, 'width', 3\]\.$"
    with pytest.raises(EnvironmentDefinitionError, match=message + must) as caught:
        Visualizer(Painted(paint_at=paint_at), None, STATES, height=8)
    assert "\n" not in str(caught.value)
    batched = Batched(LogWrapper(Painted(paint_at=paint_at)), 2)
    with pytest.raises(EnvironmentDefinitionError, match=r"it must return uint8 \[2, 8, 'width', 3\]\.$"):
        rendering.picture_struct(batched, arguments.state_struct(batched), None, 8)


def test_an_authors_own_type_error_is_not_hidden() -> None:
    def broken(height: int) -> Any:
        return height + "1"  # pyright: ignore[reportOperatorIssue]

    with pytest.raises(TypeError, match="unsupported operand") as caught:
        Visualizer(Painted(paint_at=broken), None, STATES)
    assert not isinstance(caught.value, EnvcoreError)


# States that hold keys.


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
