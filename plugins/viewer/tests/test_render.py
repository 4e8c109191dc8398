"""`envcore render` in this process, with toy environments, and its recordings of episodes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import pytest
from clips import extent
from envcore import registry
from envcore_runs.policies import Player, find_player
from envcore_viewer.render import record
from PIL import Image
from toy import Counter, Spring

if TYPE_CHECKING:
    from command_line import Run

ONES = """
import jax.numpy as jnp

def ones(policy_params, obs, key):
    assert policy_params is None
    return jnp.int32(1)

def breaks(policy_params, obs, key):
    raise ValueError("first line\\nsecond line")
"""


class TestRender:
    def test_writes_the_requested_file(self, run: Run, tmp_path: Path):
        path = tmp_path / "a.png"
        code, out, _ = run("render", "Counter-v0", "--out", str(path), "--steps", "7", "--height", "20")
        assert code == 0
        assert "7 frames of 20 x 20 pixels" in out
        assert extent(path)[1] == (20, 20)

    def test_a_custom_policy(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "my_agent.py").write_text(ONES)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.path", list(__import__("sys").path))
        args = ("--policy", "my_agent:ones", "--steps", "4", "--height", "6")
        code, _, err = run("render", "Counter-v0", "--out", "a.png", *args)
        assert (code, err) == (0, "")
        with Image.open("a.png") as image:
            for count in range(4):
                image.seek(count)
                state = Counter().reset(jax.random.key(0))[1].replace(count=np.int32(count))
                np.testing.assert_array_equal(
                    np.asarray(image.convert("RGB")), Counter().render(state, Counter().default_params, height=6)
                )

    def test_a_policy_that_fails_is_named(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        (tmp_path / "my_agent.py").write_text(ONES)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.path", list(__import__("sys").path))
        args = ("--policy", "my_agent:breaks", "--steps", "2", "--height", "6")
        code, _, err = run("render", "Counter-v0", "--out", "a.png", *args)
        assert code == 1
        assert "policy my_agent:breaks" in err
        assert "ValueError: first line" in err
        assert err.count("\n") == 1
        assert not Path("a.png").exists()

    def test_several_environments_and_copies_are_a_mosaic_with_a_frame_a_step(self, run: Run, tmp_path: Path):
        path = tmp_path / "a.webp"
        args = ("--steps", "6", "--height", "10", "--columns", "1", "--num-envs", "2", "--fps", "5")
        code, out, _ = run("render", "Counter-v0", "Counter-v0", "--out", str(path), *args)
        assert code == 0
        assert "6 frames of 28 x 28 pixels" in out
        assert extent(path)[1] == (28, 28)

    def test_a_mosaic_without_steps_plays_each_environment_at_its_own_frame_rate(self, run: Run, tmp_path: Path):
        args = ("--height", "6", "--fps", "5", "--out", str(tmp_path / "a.webp"))
        assert "40 frames" in run("render", "Counter-v0", "Counter-v0", *args)[1]  # of eight seconds

    def test_set_and_option_apply_to_all_environments(self, run: Run, tmp_path: Path):
        registry.register("Fuse-v0", "toy:Fuse")
        args = ("render", "Counter-v0", "--out", str(tmp_path / "a.png"), "--steps", "3", "--height", "8")
        assert run(*args, "--set", "bonus=2", "Fuse-v0", "--option", "goal=2")[0] == 0
        code, _, err = run(*args, "--set", "bonus=2", "Deck-v0")
        assert code == 1
        assert "Deck-v0 has no param 'bonus'; its params: max_steps_in_episode." in err

    def test_the_overlay_is_a_strip_below(self, run: Run, tmp_path: Path):
        run("render", "Counter-v0", "--out", str(tmp_path / "a.gif"), "--steps", "2", "--height", "40", "--overlay")
        assert extent(tmp_path / "a.gif")[1][1] > 50

    def test_names_are_below_the_pictures(self, run: Run, tmp_path: Path):
        registry.register("Fuse-v0", "toy:Fuse")
        path = tmp_path / "a.png"
        args = ("Counter-v0", "Fuse-v0", "--steps", "2", "--height", "60", "--columns", "1", "--out", str(path))
        found = []
        for names in ((), ("--names",)):
            run("render", *args, *names)
            with Image.open(path) as image:
                found.append(np.asarray(image.convert("RGB")))
        plain, named = found
        assert plain.shape[0] == 2 * 60 + 8
        strip = (named.shape[0] - 8) // 2 - 60
        first, second = named[60 : 60 + strip], named[-strip:]
        np.testing.assert_array_equal(named[:60], plain[:60])
        assert (first != second).any()
        assert all((part.astype(int).sum(-1) < 300).any() for part in (first, second)), "ink"

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("Counter-v0", "--out", "a.gif", "--names", "--height", "20"), "needs a width of 32 pixels for a caption"),
            (("Deck-v0", "--out", "a.gif"), "Deck cannot be rendered: its class Deck has to implement render"),
            (("Counter-v0", "--out", "a.txt"), "the name must end in .gif"),
            (("Counter-v0", "--out", "a.gif", "--height", "0"), "a positive integer, got 0"),
            (("Counter-v0", "--out", "a.gif", "--fps", "0"), "fps must be a number"),
            (("Counter-v0", "--out", "a.gif", "--policy", "best"), "policy must be random, legal or MODULE:FUNCTION"),
        ],
    )
    def test_says_in_one_line_what_is_wrong(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], message: str
    ):
        monkeypatch.chdir(tmp_path)
        code, out, err = run("render", *args)
        assert (code, out) == (1, "")
        assert message in err
        assert err.count("\n") == 1
        assert not list(tmp_path.iterdir())

    def test_says_what_does_not_fit(self, run: Run, tmp_path: Path):
        args = ("--out", str(tmp_path / "a.gif"), "--steps", "1000000", "--num-envs", "1000")
        code, _, err = run("render", "Counter-v0", *args)
        assert code == 1
        assert re.match(r"error: steps [\d,]+ would take about .*: choose fewer steps or copies, or a smaller", err)
        assert err.count("\n") == 1


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
