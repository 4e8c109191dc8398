"""`envcore render` and `envcore gallery` in this process, with toy environments."""

from __future__ import annotations

import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import pytest
import toy
from envcore import registry
from envcore.registration import Registry
from envcore_runs.policies import Player, find_player
from envcore_viewer import gallery
from envcore_viewer.recording import record, resampled, visualizer
from PIL import Image
from toy import Counter, Spring

if TYPE_CHECKING:
    from command_line import Run

KEY = jax.random.key(0)
ONES = """
import jax.numpy as jnp

def ones(policy_params, obs, key):
    assert policy_params is None
    return jnp.int32(1)

number = 3

def breaks(policy_params, obs, key):
    raise ValueError("first line\\nsecond line")

def leaves(policy_params, obs, key):
    raise SystemExit(3)

def of_two(policy_params, obs):
    return 0

def looks(policy_params, obs, key):
    return 0 if obs[0] > 0 else 1

def floats(policy_params, obs, key):
    return jnp.float32(1)

def outside(policy_params, obs, key):
    return jnp.int32(7)
"""


def frames(path: Path) -> tuple[int, tuple[int, int]]:
    with Image.open(path) as image:
        return getattr(image, "n_frames", 1), image.size


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


class TestRender:
    def test_writes_the_requested_file(self, run: Run, tmp_path: Path):
        path = tmp_path / "a.png"
        code, out, _ = run("render", "Counter-v0", "--out", str(path), "--steps", "7", "--height", "20")
        assert code == 0
        assert "7 frames of 20 x 20 pixels" in out
        assert frames(path) == (7, (20, 20))

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
                state = Counter().reset(KEY)[1].replace(count=np.int32(count))
                np.testing.assert_array_equal(
                    np.asarray(image.convert("RGB")), Counter().render(state, Counter().default_params, height=6)
                )

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("number", "my_agent:number is not a function, but 3"),
            ("breaks", "ValueError: first line"),
            ("leaves", "SystemExit: 3"),
            ("of_two", "TypeError: of_two() takes 2 positional arguments"),
            ("looks", "TracerBoolConversionError: "),
            (
                "floats",
                "an action of Counter must be in Discrete(2): expected an integer, got float32",
            ),
            ("outside", "returned actions that are not in Discrete(2)"),
        ],
    )
    def test_a_policy_that_fails_is_named(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
    ):
        (tmp_path / "my_agent.py").write_text(ONES)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.path", list(__import__("sys").path))
        args = ("--policy", f"my_agent:{name}", "--steps", "2", "--height", "6")
        code, _, err = run("render", "Counter-v0", "--out", "a.png", *args)
        assert code == 1
        assert f"--policy my_agent:{name}" in err
        assert message in err
        assert err.count("\n") == 1
        assert not Path("a.png").exists()

    def test_several_environments_and_copies_are_a_mosaic_with_their_own_frame_rates(self, run: Run, tmp_path: Path):
        path = tmp_path / "a.webp"
        args = ("--steps", "6", "--height", "10", "--columns", "1", "--num-envs", "2", "--fps", "5")
        code, out, _ = run("render", "Counter-v0", "Counter-v0", "--out", str(path), *args)
        assert code == 0
        assert "3 frames of 28 x 28 pixels" in out
        assert frames(path)[1] == (28, 28)

    def test_set_and_option_apply_to_all_environments(self, run: Run, tmp_path: Path):
        registry.register("Fuse-v0", "toy:Fuse")
        args = ("render", "Counter-v0", "--out", str(tmp_path / "a.png"), "--steps", "3", "--height", "8")
        assert run(*args, "--set", "bonus=2", "Fuse-v0", "--option", "goal=2")[0] == 0
        code, _, err = run(*args, "--set", "bonus=2", "Deck-v0")
        assert code == 1
        assert "Deck-v0 has no param 'bonus'; its params: max_steps_in_episode." in err

    def test_the_overlay_is_a_strip_below(self, run: Run, tmp_path: Path):
        run("render", "Counter-v0", "--out", str(tmp_path / "a.gif"), "--steps", "2", "--height", "40", "--overlay")
        assert frames(tmp_path / "a.gif")[1][1] > 50

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("Nowhere-v0", "--out", "a.gif"), "no installed environment is called 'Nowhere-v0'"),
            (("Deck-v0", "--out", "a.gif"), "Deck cannot be rendered: its class Deck has to implement render"),
            (("Counter-v0", "--out", "a.txt"), "the name must end in .gif"),
            (("Counter-v0", "--out", "no/a.gif"), "the folder no does not exist; create it first"),
            (("Counter-v0", "--out", "."), " is a folder: name a file in it"),
            (("Counter-v0", "--out", "a.gif", "--steps", "0"), "--steps must be from 1 to 1,000,000, got 0"),
            (("Counter-v0", "--out", "a.gif", "--num-envs", "0"), "--num-envs must be from 1 to 10,000, got 0"),
            (("Counter-v0", "--out", "a.gif", "--columns", "0"), "--columns must be from 1 to 10,000, got 0"),
            (
                ("Counter-v0", "--out", "a.gif", "--steps", "9999999"),
                "--steps must be from 1 to 1,000,000",
            ),
            (("Counter-v0", "--out", "a.gif", "--policy", "my.py:f"), "MODULE:FUNCTION, as in `import MODULE`"),
            (("Counter-v0", "--out", "a.gif", "--policy", "./my:f"), "MODULE:FUNCTION, as in `import MODULE`"),
            (("Counter-v0", "--out", "a.webp", "--height", "20000"), "at most 16383 pixels wide and high"),
            (("Counter-v0", "--out", "a.gif", "--height", "0"), "a positive integer, got 0"),
            (("Counter-v0", "--out", "a.gif", "--height", "2000000000"), "at most 65,536, got 2000000000"),
            (("Counter-v0", "--out", "a.gif", "--fps", "0"), "supports 0.01 to 50 frames per second, got 0.0"),
            (("Counter-v0", "--out", "a.gif", "--seed", "-1"), "seed must be an integer from 0 to 2**63 - 1, got -1"),
            (
                ("Counter-v0", "--out", "a.gif", "--policy", "best"),
                "--policy must be random, legal, trained or MODULE:FUNCTION",
            ),
            (
                ("Counter-v0", "--out", "a.gif", "--policy", "nowhere:f"),
                "No module named 'nowhere'",
            ),
            (("Counter-v0", "--out", "a.gif", "--policy", "json:f"), "has no attribute 'f'"),
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

    def test_a_missing_extra_is_named_before_the_work(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
        monkeypatch.setitem(__import__("sys").modules, "imageio", None)
        code, _, err = run("render", "Counter-v0", "--out", str(tmp_path / "a.mp4"))
        assert code == 1
        assert "envcore-viewer[video]" in err


class _Page(HTMLParser):
    """The page's images, article titles and text."""

    def __init__(self, text: str):
        super().__init__()
        self.images: list[str] = []
        self.articles: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs)["src"] or "")
        elif tag == "article":
            self.articles.append(dict(attrs)["id"] or "")

    def handle_data(self, data):
        self.text += data


class TestGallery:
    def test_shows_every_environment_and_says_what_is_wrong_with_the_others(self, run: Run, tmp_path: Path):
        for n in (8, 9):
            registry.register(f"counters/{n}", "toy:Counter", kwargs={"goal": n}, family="counters")
        code, out, _ = run("gallery", "--out", str(tmp_path / "new" / "g"), "--height", "24")
        assert code == 0
        folder = tmp_path / "new" / "g"
        page = _Page((folder / "index.html").read_text())
        assert len(page.articles) == 4
        assert len(page.images) == 2
        for image in page.images:
            assert frames(folder / image)[1] == (24, 24)
        for part in (
            "Counter-v0",
            "Count to three.",
            "Discrete(2): 0 wait, 1 count",
            "bonus=0.5",
            "goal=3",
            "counters/... (2)",
            "Deck cannot be rendered",
            "Guess [/red] the cards.",
            "No module named 'test_cli_broken'",
        ):
            assert part in page.text, part
        assert "Deck-v0: Deck cannot be rendered" in out
        assert "shows 4 environments" in out

    def test_only_given_ids_and_markup_is_text(self, run: Run, tmp_path: Path):
        registry.register("Evil-v0", "toy:Counter", summary="<script>alert(1)</script>")
        run("gallery", "Evil-v0", "--out", str(tmp_path), "--height", "8")
        text = (tmp_path / "index.html").read_text()
        assert "<script" not in text
        assert "<script>alert(1)</script>" in _Page(text).text
        assert len(_Page(text).articles) == 1

    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (("Nowhere-v0", "--out", "g"), "no installed environment is called 'Nowhere-v0'"),
            (("Counter-v0", "--out", "file"), "cannot write into file: Not a directory; choose another folder"),
            (("Counter-v0", "--out", "g", "--height", "0"), "--height must be at least 1, got 0"),
            (("Counter-v0", "--out", "g", "--seed", "-1"), "seed must be an integer from 0"),
        ],
    )
    def test_says_in_one_line_what_is_wrong(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], message: str
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "file").touch()
        code, out, err = run("gallery", *args)
        assert (code, out) == (1, "")
        assert message in err
        assert err.count("\n") == 1

    def test_environments_are_rendered_side_by_side(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        together = threading.Barrier(2, timeout=60)  # times out if one is rendered after the other

        def drawn_together(*args: Any, **options: Any) -> Any:
            together.wait()
            return visualizer(*args, **options)

        registry.register("Spring-v0", "toy:Spring")
        monkeypatch.setattr(gallery, "_cores", lambda: 2)
        monkeypatch.setattr(gallery, "visualizer", drawn_together)
        code, out, _ = run("gallery", "Counter-v0", "Spring-v0", "--out", str(tmp_path), "--height", "8")
        assert code == 0
        page = _Page((tmp_path / "index.html").read_text())
        assert page.articles == ["local:Counter-v0", "local:Spring-v0"]
        assert len(page.images) == 2
        assert "2/2" in out

    def test_a_problem_of_several_is_printed_once(self, run: Run, tmp_path: Path):
        registry.register("Dock-v0", "toy:Deck")
        _, out, _ = run("gallery", "Deck-v0", "Counter-v0", "Dock-v0", "--out", str(tmp_path), "--height", "8")
        assert "Deck-v0, Dock-v0: Deck cannot be rendered" in out
        assert out.count("cannot be rendered") == 1

    def test_set_and_option_apply_to_the_given_ids(self, run: Run, tmp_path: Path):
        args = ("gallery", "--out", str(tmp_path), "--height", "8", "--option", "goal=4", "--set", "bonus=0.3")
        assert "need ids: name the environments" in run(*args)[2]
        assert run(*args, "Counter-v0")[0] == 0
        text = _Page((tmp_path / "index.html").read_text()).text
        assert "goal=4" in text
        assert "bonus=0.3" in text
        code, _, err = run(*args, "Counter-v0", "Deck-v0")
        assert code == 1
        assert "Deck-v0 got an unexpected keyword argument 'goal'" in err

    def test_a_picture_that_cannot_be_written_is_reported_on_its_card(self, run: Run, tmp_path: Path):
        registry.register("Slow-v0", "toy:Slow")
        code, out, _ = run("gallery", "Slow-v0", "Counter-v0", "Counter-v0", "--out", str(tmp_path), "--height", "8")
        page = _Page((tmp_path / "index.html").read_text())
        assert code == 0
        assert "Slow-v0: a WebP supports 0.01" in out
        assert "shows 2 environments" in out
        assert len(page.images) == 1

    def test_nothing_installed(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(registry, "__dict__", vars(Registry()))
        code, _, err = run("gallery", "--out", str(tmp_path))
        assert code == 1
        assert "no environments are installed: pip install" in err


def test_an_empty_path_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for args in (("gallery", "--out", ""), ("render", "Counter-v0", "--out", "")):
        code, out, err = run(*args)
        assert (code, out) == (2, "")
        assert "the path is empty." in err
    assert not list(tmp_path.iterdir())


def test_text_of_plugins_cannot_control_a_browser(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "\x1b]0;renamed\x07\x9b2J\u202e \r\n[red]words"

    def refuse() -> None:
        raise ValueError(hostile)

    monkeypatch.setattr(toy.Counter, "action_names", ("wait", hostile))
    monkeypatch.setattr(toy, "refuse", refuse, raising=False)
    registry.register("Evil-v0", "toy:Counter", summary=hostile)
    registry.register("Fails-v0", "toy:refuse")
    _, out, _ = run("gallery", "Evil-v0", "Fails-v0", "--out", str(tmp_path), "--height", "8")
    assert not {*"\x1b\x07\x9b\u202e"} & set(out + (tmp_path / "index.html").read_text())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("Nowhere-v0",), "no installed environment is called 'Nowhere-v0'"),
        (("Counter-v0",), "envcore play needs a keyboard: run it in a POSIX terminal"),
        (("Counter-v0", "--fps", "0"), "--fps must be more than 0 and at most 1000, got 0.0"),
        (("Counter-v0", "--seed", "-1"), r"seed must be an integer from 0 to 2**63 - 1, got -1"),
    ],
)
def test_play_says_in_one_line_what_is_wrong(run: Run, args: tuple[str, ...], message: str) -> None:
    code, out, err = run("play", *args)
    assert (code, out) == (1, "")
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--steps", "1000000", "--num-envs", "1000"), "--steps 1,000,000 would take about"),
        (("--num-envs", "10000", "--height", "2000"), "--num-envs 10,000 would take about"),
        (("--height", "60000"), "--height 60,000 would take about"),
    ],
)
def test_render_says_what_does_not_fit(run: Run, tmp_path: Path, args: tuple[str, ...], message: str):
    code, _, err = run("render", "Counter-v0", "--out", str(tmp_path / "a.gif"), *args)
    assert code == 1
    assert err.startswith(f"error: {message}")
    assert err.count("\n") == 1


def test_gallery_says_what_does_not_fit(run: Run, tmp_path: Path):
    code, _, err = run("gallery", "Counter-v0", "--out", str(tmp_path / "g"), "--height", "60000")
    assert code == 1
    assert err.startswith("error: --height 60,000 would take about")
    assert not (tmp_path / "g" / "index.html").exists()
