"""The command as a user types it, in this process; tests/test_readme.py runs the console script itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import jax
import pytest
import toy
from envcore import registry
from envcore.plugins import PluginRecord
from envcore.specs import EnvSpec
from toy import Counter

if TYPE_CHECKING:
    from conftest import Run


def test_list(run: Run) -> None:
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["id", "Broken-v0", "Counter-v0", "Deck-v0"]
    assert "Count to three." in out
    assert "Guess [/red] the cards." in out


def test_list_shows_a_family_in_one_row(run: Run) -> None:
    members = [
        EnvSpec(f"counters/{n}", "toy:Counter", {"goal": n}, f"Count to {n}.", family="counters") for n in (8, 9, 10)
    ]
    registry.register(*members, EnvSpec("decks/0", "toy:Deck", family="decks"))
    _, out, _ = run("list")
    assert [line.split()[0] for line in out.splitlines()][3:] == ["Deck-v0", "counters/8..10", "decks/0"]
    _, out, _ = run("list", "counters")
    assert [line.split()[0] for line in out.splitlines()] == ["id", "counters/8", "counters/9", "counters/10"]
    code, _, err = run("list", "count")
    assert code == 1
    assert "no family of environments is called 'count'; there are: counters, decks." in err


def test_plugins_without_any(run: Run) -> None:
    assert "pip install 'envcore[all]'" in run("plugins")[1]


def test_info(run: Run) -> None:
    code, out, _ = run("info", "Counter-v0")
    assert code == 0
    for part in ("Counter-v0", "made up", "Discrete(2)", "goal=3", "bonus=0.5", "max_steps_in_episode=10"):
        assert part in out


def test_info_of_a_wrapped_environment_has_the_rules_inside(run: Run) -> None:
    registry.register(EnvSpec("Gain-v0", "test_params_wrapper:make_gain"))
    code, out, _ = run("info", "Gain-v0")
    assert code == 0
    assert "gain=3.0, max_steps_in_episode=10, bonus=0.5" in out
    assert "Toy environments for core's own tests" in out
    assert "Wrappers with params of their own." in out


HOSTILE = "\x1b]0;renamed\x07\x9b2J\u202e \r\n[red]words"


def test_what_plugins_say_cannot_steer_the_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = PluginRecord(f"evil{HOSTILE}", HOSTILE, "main", HOSTILE, "broken", (), HOSTILE)
    monkeypatch.setattr(registry, "discover", lambda *_: (record,))
    monkeypatch.setattr(registry, "_SHARED", registry.Registry())
    monkeypatch.setattr(toy.Counter, "action_names", ("wait", HOSTILE))
    monkeypatch.setattr(toy, "__doc__", f"First line.\n\n{HOSTILE}")

    def refuse() -> None:
        raise ValueError(HOSTILE)

    monkeypatch.setattr(toy, "refuse", refuse, raising=False)
    registry.register(
        EnvSpec("Evil-v0", "toy:Counter", summary=HOSTILE, source=HOSTILE), EnvSpec("Fails-v0", "toy:refuse")
    )
    for args in (("list",), ("plugins",), ("info", "Evil-v0"), ("info", "Fails-v0"), ("info", "Eviler-v0")):
        code, out, err = run(*args)
        assert code == (1 if args[-1] in ("Fails-v0", "Eviler-v0") else 0)
        assert r"\x1b]0;renamed\x07\x9b2J\u202e" in out + err, args
        assert set(out + err) & set(HOSTILE) <= set(" \n[]redworsnam0;2J"), args
    run("gallery", "Evil-v0", "Fails-v0", "--out", str(tmp_path), "--height", "8")
    shown = capsys.readouterr().out + (tmp_path / "index.html").read_text()
    assert not {*"\x1b\x07\x9b\u202e"} & set(shown)


def test_an_empty_path_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for args in (
        ("gallery", "--out", ""),
        ("render", "Counter-v0", "--out", ""),
        ("rollout", "Counter-v0", "--gif", ""),
    ):
        code, out, err = run(*args)
        assert (code, out) == (2, "")
        assert "the path is empty." in err
    assert not list(tmp_path.iterdir())


def test_rollout_reports(run: Run) -> None:
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "7", "--steps", "43")
    assert code == 0
    for part in ("7 in parallel, 43 steps each", "episodes finished", "return", "length", "steps/s", "compile time"):
        assert part in out
    assert "to 1.50)" in out  # an episode that counts to three earns 3 * 0.5


def test_rollout_writes_a_picture(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "counter.gif"
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "2", "--steps", "25", "--gif", str(path))
    assert code == 0
    assert "25 steps" in out
    with Image.open(path) as image:
        height, width, _ = Counter().render(Counter().reset(jax.random.key(0))[1]).shape
        assert image.size == (width, height)
        assert image.info["duration"] % (1000 / Counter.render_fps) == 0


def test_check(run: Run) -> None:
    code, out, _ = run("check", "Counter-v0")
    assert code == 0
    assert "Counter-v0 keeps the contract." in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("rollout", "Conter-v0"), "Did you mean 'Counter-v0'"),
        (("rollout", "Counter-v0", "--num-envs", "0"), "--num-envs and --steps must be at least 1, got 0 and 500"),
        (("rollout", "Counter-v0", "--steps", "0"), "--num-envs and --steps must be at least 1"),
        (("rollout", "Counter-v0", "--seed", "99999999999999999999"), "--seed must be from 0 to"),
        (("rollout", "Counter-v0", "--gif", "/no/such/folder/x.gif"), "/no/such/folder"),
        (("rollout", "Deck-v0", "--num-envs", "2", "--steps", "3", "--gif", "{tmp}/x.gif"), "implement render"),
        (("info", "Broken-v0"), "cannot be imported"),
    ],
)
def test_errors_are_one_line(run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    code, _, err = run(*(arg.format(tmp=tmp_path) for arg in args))
    assert code == 1
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("Nowhere-v0",), "no installed environment is called 'Nowhere-v0'"),
        (("Counter-v0",), "envcore play needs a keyboard: run it in a POSIX terminal"),
        (("Counter-v0", "--fps", "0"), "--fps must be more than 0 and at most 1000, got 0.0"),
        (("Counter-v0", "--seed", "-1"), r"--seed must be from 0 to 2**63 - 1, got -1"),
    ],
)
def test_play_says_in_one_line_what_is_wrong(run: Run, args: tuple[str, ...], message: str) -> None:
    code, out, err = run("play", *args)
    assert (code, out) == (1, "")
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
