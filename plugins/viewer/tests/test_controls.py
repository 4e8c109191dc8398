"""The keys of actions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore import spaces
from envcore_viewer.controls import Controls
from envcore_viewer.errors import PlayError
from toy import Counter


def with_actions(space: spaces.Space, *names: str) -> Counter:
    class Other(Counter):
        action_names = names

        def action_space(self, params: Any = None) -> Any:
            return space

    return Other()


class TestControls:
    def test_named_actions_have_their_arrows_and_all_have_numbers(self):
        env = with_actions(spaces.Discrete(6), "noop", "left", "up", "right", "down", "fire")
        controls = Controls(env, None)
        arrows = [controls.action([key]) for key in ("left", "up", "right", "down", "space")]
        assert arrows == [1, 2, 3, 4, 5]
        assert [controls.action([str(i)]) for i in range(6)] == list(range(6))
        assert controls.idle == 0
        assert controls.help[1] == ("\N{LEFTWARDS ARROW}/1", "left")
        assert all(env.action_space(env.default_params).contains(controls.action([str(i)])) for i in range(6))

    def test_the_newest_key_counts_and_others_do_not(self):
        controls = Controls(Counter(), None)
        assert controls.action(["0", "1", "x"]) == 1
        assert controls.action(["x", "q"]) is controls.action([]) is None

    def test_without_an_idle_action_there_is_none(self):
        assert Controls(with_actions(spaces.Discrete(3), "left", "jump", "right"), None).idle is None
        assert Controls(with_actions(spaces.Discrete(3)), None).idle is None

    def test_more_than_ten_actions_continue_with_free_letters(self):
        controls = Controls(with_actions(spaces.Discrete(40)), None)
        assert [controls.action([key]) for key in "09aozs"] == [0, 9, 10, 24, 32, 25]
        assert all(controls.action([key]) is None for key in "qrp")

    def test_keys_of_a_box_are_its_bounds(self):
        box = spaces.Box(np.array([-2.0, 0.0, -np.inf, -1.0, -1.0]), np.array([2.0, 1.0, np.inf, 1.0, 1.0]), (5,))
        controls = Controls(with_actions(box), None)
        np.testing.assert_array_equal(controls.idle, np.array([0, 0.5, 0, 0, 0], np.float32))
        np.testing.assert_array_equal(controls.action(["left", "up", "d"]), np.array([-2, 1, 1, 0, 0], np.float32))
        np.testing.assert_array_equal(controls.action(["right", "down", "a"]), np.array([2, 0, -1, 0, 0], np.float32))
        assert controls.action(["1"]) is None
        assert controls.action(["w"]).dtype == np.float32

    @pytest.mark.parametrize(
        "space", [spaces.MultiDiscrete([2, 3]), spaces.Tuple([spaces.Discrete(2)]), spaces.Box(0, 9, (2,), np.int32)]
    )
    def test_other_actions_are_an_error(self, space):
        with pytest.raises(
            PlayError, match=r"^Other cannot be played by hand: its actions are .*, not Discrete or Box"
        ):
            Controls(with_actions(space), None)
