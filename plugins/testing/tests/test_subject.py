from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import toy
from envcore.wrappers import Batched
from envcore_testing.subject import SHORT_LIMIT, Recording, Subject


@functools.cache
def subject(env: Any = toy.Counter()) -> Subject:  # noqa: B008
    return Subject(env, None, None, 60)


def test_a_recording_follows_the_rules() -> None:
    steps: Recording = subject().recording
    count, action = np.asarray(steps.state.count), np.asarray(steps.action)
    after = np.minimum(count + action, 3)
    np.testing.assert_array_equal(steps.terminated, after == 3)
    np.testing.assert_array_equal(steps.truncated, steps.state.time == 9)
    np.testing.assert_array_equal(count[:, 1:], np.where(steps.done, 0, after)[:, :-1])
    assert len(np.unique(action, axis=0)) > 1


def test_the_short_recording_ends_in_time() -> None:
    np.testing.assert_array_equal(
        subject().short_recording.truncated, subject().short_recording.state.time == SHORT_LIMIT - 1
    )
    assert np.asarray(subject().short_recording.truncated).any()


def test_half_of_the_dissected_steps_are_ends() -> None:
    ended = subject().steps.ended
    assert ended[:16].sum() == ended[16:].sum() == 8


def test_ends_are_dissected_where_there_are_few() -> None:
    never = Subject(toy.Counter(), toy.CounterParams(max_steps_in_episode=16), None, 16)
    assert 0 < never.steps.ended[:16].sum() < 16


def test_batches_are_recorded_too() -> None:
    batch = subject(Batched(toy.Counter(), 2))
    steps = batch.recording
    assert steps.reward.shape == (4, 60, 2)
    assert steps.obs_inside["obs"].shape == (4, 60)
    assert batch.steps.ended.shape == (32, 2)


def test_the_key_can_be_asked_for_first_while_something_is_traced() -> None:
    new = Subject(toy.Counter(), None, None, 16)
    jax.eval_shape(lambda: new.key)
    assert new.key == jax.random.key(0)
