from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting, spaces
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError, NoPictureError
from envcore.wrappers import Batched, FrameStack, LogWrapper, PixelObservation
from toy import Counter, Deck, Spring

KEY = jax.random.key(0)
STATE = Spring().reset(KEY)[1].replace(position=0.3)


def seen(env: Any, state: Any = STATE):
    return np.asarray(env.observe(state, env.default_params))


def test_a_picture_of_the_right_shape_is_the_observation() -> None:
    np.testing.assert_array_equal(
        seen(PixelObservation(Spring(), (16, 32))), Spring().render(STATE, Spring().default_params, height=16)
    )


@pytest.mark.parametrize(
    ("size", "rendered"),  # the spring's picture is twice as wide as high
    [
        ((16, 16), (8, 16)),
        ((16, 40), (16, 32)),
        ((9, 9), (4, 8)),
        ((10, 11), (5, 10)),
        ((5, 1), None),
        ((1, 2), (1, 2)),
    ],
)
def test_the_picture_is_rendered_as_large_as_fits_and_its_edges_are_extended(size, rendered) -> None:
    if rendered is None:
        with pytest.raises(InvalidArgumentError, match=r"picture does not fit into 5 x 1 pixels: .* its width is 10"):
            PixelObservation(Spring(), size)
        return
    picture = np.asarray(Spring().render(STATE, Spring().default_params, height=rendered[0]))
    assert picture.shape[:2] == rendered
    top, left = (size[0] - rendered[0]) // 2, (size[1] - rendered[1]) // 2
    rows = np.clip(np.arange(size[0]) - top, 0, rendered[0] - 1)
    columns = np.clip(np.arange(size[1]) - left, 0, rendered[1] - 1)
    np.testing.assert_array_equal(seen(PixelObservation(Spring(), size)), picture[rows][:, columns])


def test_grayscale_is_the_brightness_of_the_colors() -> None:
    colors = seen(PixelObservation(Spring(), (8, 16))).astype(float)
    gray = seen(PixelObservation(Spring(), (8, 16), grayscale=True))
    assert gray.shape == (8, 16)
    np.testing.assert_allclose(gray, colors @ [0.299, 0.587, 0.114], atol=1.0)
    assert len(np.unique(gray)) > 3


@pytest.mark.parametrize("level", [0, 1, 128, 255])
def test_a_gray_picture_is_unchanged(level) -> None:
    class Flat(Counter):
        def render(self, state, params, height=256):
            return jnp.full((height, height, 3), level, jnp.uint8)

    assert (seen(PixelObservation(Flat(), (4, 4), grayscale=True), Flat().reset(KEY)[1]) == level).all()


@pytest.mark.slow
def test_pictures_stack_and_batch_in_any_order() -> None:
    plain = PixelObservation(Spring(), (6, 12), grayscale=True)
    for env in (
        FrameStack(PixelObservation(Batched(Spring(), 3), (6, 12), grayscale=True), 4),
        Batched(FrameStack(plain, 4), 3),
        LogWrapper(FrameStack(Batched(plain, 3), 4)),
    ):
        obs, state = env.reset(KEY)
        assert env.observation_space(env.default_params) == spaces.Box(0, 255, (3, 4, 6, 12), np.uint8)
        assert obs.dtype == jnp.uint8
        assert obs.shape == (3, 4, 6, 12)
        for seed in range(4):
            obs, state, *_ = env.step(jax.random.key(seed), state, jnp.ones((3, 1)))
        newest, oldest = np.asarray(obs)[:, -1], np.asarray(obs)[:, 0]
        assert (newest != oldest).any()


def test_params_reach_the_picture() -> None:
    class Scaled(Spring):
        def render(self, state, params, height=256):
            return painting.paint(
                height, painting.Window((0.0, 0.0), 2.0, 1.0), (painting.circle((0, 0), params.bound), painting.RED)
            )

    env = PixelObservation(Scaled(), (8, 8))
    small = env.observe(STATE, Scaled().default_params.replace(bound=0.1))
    assert (env.observe(STATE, env.default_params) != small).any()


def test_two_equal_ones_are_one_program_whatever_the_size_was_given_as() -> None:
    assert PixelObservation(Spring(), [np.int64(6), 12]) == PixelObservation(Spring(), (6, 12))  # pyright: ignore[reportArgumentType]
    hash(PixelObservation(Spring(), [6, 12]))  # pyright: ignore[reportArgumentType]


def test_grayscale_is_a_bool() -> None:
    with pytest.raises(ValueError, match="grayscale must be True or False, got 'yes'"):
        PixelObservation(Counter(), (8, 8), "yes")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("size", [84, (84,), (84, 84, 3), (0, 84), (84, -1), (84.0, 84.0), "ab", None])
def test_a_bad_size_is_an_error(size) -> None:
    with pytest.raises(InvalidArgumentError, match=r"size must be a height and a width in pixels, .*, got "):
        PixelObservation(Spring(), size)


def test_what_is_not_a_picture_is_an_error_at_once() -> None:
    class Wrong(Counter):
        def render(self, state: Any, params: Any, height: int = 256) -> Any:
            return jnp.zeros((8, 8, 4), jnp.uint8)

    with pytest.raises(EnvironmentDefinitionError, match=r"Wrong.render\(.*height=8\) returns .*must return"):
        PixelObservation(Wrong(), (8, 8))


def test_an_environment_without_a_picture_is_an_error_at_once() -> None:
    with pytest.raises(NoPictureError, match=r"Deck cannot be rendered: .* has to implement"):
        PixelObservation(Deck())
