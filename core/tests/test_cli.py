"""The command as a user types it, in this process; tests/test_readme.py runs the console script itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import jax
import pytest
from envcore import registry
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


def test_check_shows_every_breach_with_its_line(run: Run) -> None:
    registry._SHARED.register(EnvSpec("Careless-v0", "broken:Careless"))
    code, out, err = run("check", "Careless-v0")
    assert code == 1
    assert err == "error: Careless-v0 breaks 2 of the rules: strict_dtype_promotion, strict_rank_promotion.\n"
    lines = out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.strip() == "reward = reward + 0.5 * (action == 1)"]
    assert re.search(r"broken\.py:\d+, in transition$", lines[at - 1])
    assert lines[at + 1].endswith(
        "turn the flag into a number, as in flag.astype(jnp.float32) or jnp.where(flag, 1.0, 0.0)."
    )
    assert out.count("broken.py:") == 4
    assert "broken strict_rank_promotion" in out


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
