"""Wrappers that change observations."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random, spaces
from envcore.wrappers import (
    ActionMaskObservation,
    Batched,
    FlattenObservation,
    FrameStack,
    LogWrapper,
    PixelObservation,
)
from toy import Counter, Deck, Spring

KEY = jax.random.key(3)
STATE = Spring().reset(KEY)[1].replace(position=0.3)


@dataclasses.dataclass(frozen=True)
class MustCount(Counter):
    """Waiting is legal at the start only."""

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        return jnp.stack([state.count == 0, True])


def test_a_mask_beside_the_observation() -> None:
    env = ActionMaskObservation(MustCount())
    inside = MustCount().observation_space(MustCount().default_params)
    space = spaces.Dict({"observation": inside, "action_mask": spaces.Box(False, True, (2,), np.bool_)})
    assert env.observation_space(env.default_params) == space
    obs, state = env.reset(KEY)
    assert obs["action_mask"].tolist() == [True, True]
    for _ in range(2):
        obs, state, _, _, info = env.step(KEY, state, 1)
        assert obs["action_mask"].tolist() == info["action_mask"].tolist() == [False, True]
    obs, _, _, done, info = env.step(KEY, state, 1)
    assert done
    assert obs["action_mask"].tolist() == [True, True]  # of the next episode
    assert info["final_obs"]["action_mask"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ActionMaskObservation(Counter()), "Counter has no action masks: all actions are always legal"),
        (lambda: PixelObservation(Spring(), (5, 1)), "picture does not fit into 5 x 1 pixels: choose a larger size"),
        (lambda: PixelObservation(Spring(), 84), r"size must be \(height, width\), got 84"),  # pyright: ignore
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_flatten_observation_joins_parts_in_the_order_of_names() -> None:
    env = FlattenObservation(Deck())
    obs, state = env.reset(KEY)
    parts = Deck().observe(state, Deck().default_params)
    np.testing.assert_array_equal(obs, np.concatenate([parts["left"], np.eye(6, dtype=np.float32)[parts["top"]]]))
    np.testing.assert_array_equal(env.flatten(parts, env.default_params), obs)
    assert bool(env.observation_space(env.default_params).contains(obs))


def test_frame_stack_holds_the_last_observations() -> None:
    env, inner = FrameStack(Spring(), 3), Spring()
    key, key_reset = random.split(KEY)
    stacked, state = env.reset(key_reset)
    plain, inner_state = inner.reset(key_reset)
    history = [plain] * 3
    np.testing.assert_array_equal(stacked, jnp.stack(history))
    ends = 0
    for key_step in random.split(key, 30):
        action = env.action_space(env.default_params).sample(key_step)
        stacked, state, _, done, info = env.step(key_step, state, action)
        plain, inner_state, _, _, inner_info = inner.step(key_step, inner_state, action)
        np.testing.assert_array_equal(info["final_obs"], jnp.stack([*history[1:], inner_info["final_obs"]]))
        history = [plain] * 3 if done else [*history[1:], plain]
        np.testing.assert_array_equal(stacked, jnp.stack(history))
        ends += bool(done)
    assert ends


def seen(env: Any, state: Any = STATE):
    return np.asarray(env.observe(state, env.default_params))


@pytest.mark.parametrize(("size", "rendered"), [((16, 16), (8, 16)), ((9, 9), (4, 8))])
def test_the_picture_is_rendered_as_large_as_fits_and_its_edges_are_extended(size, rendered) -> None:
    """The spring's picture is twice as wide as high."""
    picture = np.asarray(Spring().render(STATE, Spring().default_params, height=rendered[0]))
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
