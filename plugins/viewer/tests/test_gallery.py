"""`envcore gallery` in this process, with toy environments."""

from __future__ import annotations

import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from clips import extent
from envcore import registry
from envcore.registration import Registry
from envcore_viewer import gallery
from envcore_viewer.recording import visualizer

if TYPE_CHECKING:
    from command_line import Run


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
            assert extent(folder / image)[1] == (24, 24)
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
            (("Nowhere-v0", "--out", "g"), "there is no environment 'Nowhere-v0'"),
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

    def test_the_page_and_the_log_grow_with_each_environment(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        before: list[int] = []

        def seen(*args: Any, **options: Any) -> Any:
            page = tmp_path / "index.html"
            before.append(len(_Page(page.read_text()).articles) if page.exists() else 0)
            return visualizer(*args, **options)

        registry.register("Spring-v0", "toy:Spring")
        monkeypatch.setattr(gallery, "_cores", lambda: 1)
        monkeypatch.setattr(gallery, "visualizer", seen)
        _, out, _ = run("gallery", "Spring-v0", "Counter-v0", "--out", str(tmp_path), "--height", "8")
        assert before == [0, 1]
        assert "1 of 2: Spring-v0" in out
        assert "2 of 2: Counter-v0" in out

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
        assert "Deck-v0 has no option 'goal'" in err

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


def test_gallery_says_what_does_not_fit(run: Run, tmp_path: Path):
    code, _, err = run("gallery", "Counter-v0", "--out", str(tmp_path / "g"), "--height", "60000")
    assert code == 1
    assert err.startswith("error: --height 60,000 would take about")
    assert not (tmp_path / "g" / "index.html").exists()
