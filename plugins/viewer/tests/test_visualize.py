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
from envcore import rollout
from envcore.errors import (
    InvalidArgumentError,
    InvalidParamsError,
)
from envcore.wrappers import Batched, FrameStack, LogWrapper, NormalizeObservation
from envcore_viewer import visualize
from envcore_viewer.animation import caption, mosaic
from envcore_viewer.errors import AnimationError, VisualizerError
from envcore_viewer.frames import render_frames
from envcore_viewer.visualize import Visualizer
from toy import Counter, Painted, Spring

KEY = jax.random.key(0)


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
@pytest.mark.long
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
    rewards = np.arange(10.0).reshape(5, 2)
    both = texts(rewards, rewards.astype(np.int32) % 2, states=TWO)
    assert both[:4] == [
        "step 0  wait  reward 0.00  return 0.00",
        "step 4  count  reward 1.00  return 1.00",
        "step 1  wait  reward 2.00  return 2.00",
        "step 3  count  reward 2.00  return 3.00",
    ]
    videos = [render_frames(ENV, jax.tree.map(lambda x, i=i: x[:, i], TWO), height=64) for i in range(2)]
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
    vis = Visualizer(wide, None, TWO, height=2)
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


ARGUMENTS: dict[str, Any] = {"env": ENV, "env_params": None, "state_seq": STATES}
BAD: dict[str, tuple[Any, str]] = {
    "cum_rewards of another length": ({"cum_rewards": [1.0, 2.0]}, "state_seq has 5, cum_rewards 2"),
    "no rewards": ({"cum_rewards": []}, "state_seq has 5, cum_rewards 0"),
    "a reward": ({"cum_rewards": 1.0}, r"one for each state, got float64\[\]\.$"),
    "rewards of two": ({"cum_rewards": np.zeros((5, 2))}, r"of shape \(5,\), one for each state, got float64\[5, 2\]"),
    "words": ({"cum_rewards": np.array(["a"] * 5)}, "cum_rewards must be numbers"),
    "None for rewards": (
        {"cum_rewards": [None] * 5},
        r"cum_rewards must be numbers of shape \(5,\), .* got a list of values of type NoneType\.$",
    ),
    "a tree of rewards": ({"cum_rewards": {"a": np.zeros(5)}}, "got a value of type dict"),
    "complex rewards": ({"cum_rewards": np.zeros(5, complex)}, r"got complex128\[5\]"),
    "durations": ({"cum_rewards": np.zeros(5, "m8[s]")}, r"got timedelta64\[s\]\[5\]"),
    "actions of another length": ({"action_seq": [0, 1]}, "state_seq has 5, action_seq 2"),
    "one action": ({"action_seq": 1}, r"leading axes \(5,\), .* got shape \(\)"),
    "uneven actions": ({"action_seq": [0, [1]]}, "action_seq must hold values of one structure: number 1"),
    "actions of one": (
        {"state_seq": TWO, "action_seq": np.zeros(5)},
        r"the leading axes \(5, 2\), one action of at least one number for each state, got shape \(5,\)",
    ),
    "words for actions": (
        {"action_seq": ["left"] * 5},
        r"action_seq must hold numbers, or trees of them, got <U4\[5\]\.$",
    ),
    "no actions": ({"action_seq": []}, "state_seq has 5, action_seq 0"),
    "None for actions": ({"action_seq": [None] * 5}, r"must hold numbers, .* got a list of values of type NoneType\.$"),
    "a tree of no actions": ({"action_seq": {}}, "got a value of type dict"),
    "empty actions": ({"action_seq": np.zeros((5, 0))}, r"at least one number .*5, 0"),
    "objects for actions": ({"action_seq": [object()] * 5}, r"numbers, .*object\[5\]"),
    "actions that are not alike": ({"action_seq": [0, KEY]}, "cannot be stacked into an array"),
    "keys for actions": ({"action_seq": jax.random.split(KEY, 5)}, r"got key<fry>\[5\]"),
    "iterated actions": ({"action_seq": iter([0] * 5)}, "of type list_iterator"),
    "a pair": ({"env": (ENV, PARAMS)}, r"got \(Counter.*make returns a pair"),
    "an id": ({"env": "CartPole-v1"}, "needs an Environment, got 'CartPole-v1'"),
    **{
        f"fps {fps!r}": ({"fps": fps}, f"fps must be a positive number .*, got {shown}")
        for fps, shown in (
            (0, 0),
            (np.nan, "nan"),
            (np.inf, "inf"),
            (True, True),
            (np.zeros(2), "array"),
            ("10", "'10'"),
        )
    },
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(VisualizerError, match=message) as caught:
        Visualizer(**{**ARGUMENTS, **arguments})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"state_seq": STATES[0]}, InvalidArgumentError),
        ({"env_params": Spring().default_params}, InvalidParamsError),
        ({"height": 0}, InvalidArgumentError),
    ],
)
def test_states_params_and_height_are_checked_before_anything_is_rendered(arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        Visualizer(**{**ARGUMENTS, **arguments})
