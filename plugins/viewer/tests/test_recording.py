"""Recordings of episodes."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from envcore_runs.policies import Player, find_player
from envcore_viewer.recording import record, resampled
from toy import Counter, Spring

KEY = jax.random.key(0)


class TestRecording:
    def test_episodes_are_shown_to_their_end(self):
        ones = Player("ones", Counter(), tuple, lambda memory, obs, key: (np.int32(1), memory))
        shown = record(Counter(), Counter().default_params, ones, KEY, 9, 2)
        np.testing.assert_array_equal(shown.state.count, np.array([[0, 1, 2, 3, 0, 1, 2, 3, 0]] * 2).T)
        np.testing.assert_array_equal(shown.reward, np.array([[0.5, 0.5, 0.5, 0] * 2 + [0.5]] * 2).T)
        assert shown.action.shape == (9, 2)

    def test_a_memory_starts_anew_with_each_episode(self):
        def act(memory: Any, obs: Any, key: Any) -> Any:
            return (memory != 1).astype(np.int32), memory + 1  # all steps but the second count

        player = Player("all but the second", Counter(), lambda: np.int32(0), act)
        shown = record(Counter(), Counter().default_params, player, KEY, 10, 1)
        np.testing.assert_array_equal(shown.state.count[:, 0], [0, 1, 1, 2, 3, 0, 1, 1, 2, 3])

    def test_the_last_action_is_shown_until_the_next_episode(self):
        params = Spring().default_params.replace(max_steps_in_episode=3)
        shown = record(Spring(), params, find_player("random", "Spring-v0", Spring(), params), KEY, 8, 1)
        actions = np.asarray(shown.action)[:, 0, 0]
        assert actions[3] == actions[2]
        assert actions[7] == actions[6]
        assert len(set(actions.tolist())) == 6
        np.testing.assert_array_equal(shown.state.time[:, 0], [0, 1, 2, 3] * 2)

    def test_copies_differ_and_the_key_decides(self):
        first, again, other = (
            record(Spring(), Spring().default_params, find_player("random", "Spring-v0", Spring(), None), key, 5, 2)
            for key in (KEY, KEY, jax.random.key(1))
        )
        np.testing.assert_array_equal(first.state.position, again.state.position)
        assert (first.state.position != other.state.position).all()
        assert (first.state.position[:, 0] != first.state.position[:, 1]).all()

    @pytest.mark.parametrize(
        ("pace", "fps", "shown"),
        [(10, 10, [0, 1, 2, 3]), (10, 20, [0, 0, 1, 1, 2, 2, 3, 3]), (10, 5, [0, 2]), (10, 1, [0]), (3, 2, [0, 1, 3])],
    )
    def test_resampled(self, pace, fps, shown):
        assert resampled(np.arange(4), pace, fps).tolist() == shown
