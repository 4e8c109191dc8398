"""The command as a user types it, in this process; tests/test_readme.py runs the console script itself."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import envcore
import jax
import pytest
import toy
from envcore import registry
from envcore.errors import EnvcoreError
from envcore.plugins import PluginRecord
from envcore.registration import Registry
from envcore_cli.assignments import choose, parse_value
from envcore_cli.catalogue import _in_parts, _lines
from envcore_cli.rollout_report import report_rollout
from envcore_runs.measured_rollout import MeasuredRollout
from envcore_runs.pace import Pace
from rich.cells import cell_len
from terminal import Terminal
from toy import Counter

if TYPE_CHECKING:
    from command_line import Run


def test_list(run: Run) -> None:
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["id", "Broken-v0", "Counter-v0", "Deck-v0"]
    assert "Count to three." in out
    assert "Guess [/red] the cards." in out


def test_a_registered_class_is_shown(run: Run) -> None:
    registry.register("Walk-v0", type("Walk", (toy.Counter,), {"__module__": "toy"}), summary="Walk.", source="made up")
    assert "Walk-v0     local         Walk." in run("list")[1]
    code, out, _ = run("info", "Walk-v0")
    assert code == 0
    assert [line.split() for line in out.splitlines()[:4]] == [
        ["id", "Walk-v0"],
        ["distribution", "local"],
        ["class", "toy:Walk"],
        ["source", "made", "up"],
    ]


def test_list_shows_a_family_in_one_row(run: Run) -> None:
    for n in (8, 9, 10):
        registry.register(
            f"counters/{n}", "toy:Counter", kwargs={"goal": n}, summary=f"Count to {n}.", family="counters"
        )
    registry.register("decks/0", "toy:Deck", family="decks")
    for name in ("Snake-v1", "Maze-v0"):
        registry.register(f"games/{name}", "toy:Deck", summary="Play.", source="Games 1.0", family="games")
    _, out, _ = run("list")
    assert [line.split()[0] for line in out.splitlines()][3:] == ["Deck-v0", "counters/8..10", "decks/0", "games/..."]
    assert out.splitlines()[-1].split(maxsplit=2)[2] == "2 environments: Games 1.0"
    _, out, _ = run("list", "counters")
    assert [line.split()[0] for line in out.splitlines()] == ["id", "counters/8", "counters/9", "counters/10"]
    code, _, err = run("list", "count")
    assert code == 1
    assert "no family of environments is called 'count'; there are: counters, decks, games.\n" in err


def test_an_unknown_family_among_many_or_none(run: Run) -> None:
    assert run("list", "counters")[2] == "error: no family of environments is called 'counters'; there are: none.\n"
    for number in range(100):
        registry.register(f"family{number:03}/0", "toy:Counter", family=f"family{number:03}")
    assert run("list", "families")[2].endswith("family028, family029 and 70 more.\n")


def test_list_fits_the_terminal(run: Run) -> None:
    rows = [("id", "distribution", "task"), ("Counter-v0", "envcore-of-somebody", "Count to three, and no further.")]
    assert list(_lines(rows, None)) == list(_lines(rows, 66))
    assert list(_lines(rows, None))[1] == "Counter-v0  envcore-of-somebody  Count to three, and no further."
    assert list(_lines(rows, 50)) == ["id          task", "Counter-v0  Count to three, and no further."]
    assert list(_lines(rows, 30)) == ["id          task", "Counter-v0  Count to three, a…"]
    wide = [("id", "distribution", "task"), ("A-v0", "d", "\N{CJK UNIFIED IDEOGRAPH-4E00}" * 20)]
    for room in range(1, 60):
        assert all(cell_len(line) <= room for each in (rows, wide) for line in _lines(each, room))


def test_list_in_a_terminal_of_80_columns_does_not_wrap() -> None:
    code = """
import sys
from envcore import registration
from envcore.registration import registry
from envcore_cli import main
registration.discover = lambda *args: ()
for i in range(3):
    registry.register(f"family/{i}", "toy:Counter", summary="long " * 30, family="family")
registry.register("Counter-v0", "toy:Counter", summary="Count to three. " * 9)
sys.argv = ["envcore", "list"]
main()
"""
    with Terminal(code, rows=10, columns=80) as terminal:
        assert terminal.wait_for_end() == 0
        lines = [line.rstrip() for line in terminal.text.splitlines()]
        assert [line.partition(" ")[0] for line in lines if line] == ["id", "Counter-v0", "family/0..2"]
        assert all(line.endswith("\N{HORIZONTAL ELLIPSIS}") for line in lines[1:3])


def test_a_long_listing_is_quick() -> None:
    rows = [(f"Game-{i}-v0", "envcore-many", "Play a game, and win.") for i in range(100_000)]
    started = time.process_time()
    assert sum(map(len, _in_parts(_lines(rows, 40)))) > 3_000_000
    assert time.process_time() - started < 5  # rich's table takes 30 times as long


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2.5e3", -2500.0),
        ("True", True),
        ("false", False),
        ("None", None),
        ("(1, 2)", (1, 2)),
        ("'5'", "5"),
        ("-inf", float("-inf")),
        ("a/folder", "a/folder"),
        ("1/3", "1/3"),
        ("", ""),
        ("(" * 10_000, "(" * 10_000),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


@pytest.mark.parametrize(
    "text", ["1" + "0" * 400, "-" + "9" * 5000, "1e400", "[1, 1e400]", "(2, {'a': 1" + "0" * 400 + "})", "1e400j"]
)
@pytest.mark.parametrize(("flag", "name"), [("--set", "bonus"), ("--option", "goal")])
def test_a_number_beyond_float64(run: Run, text: str, flag: str, name: str) -> None:
    with pytest.raises(OverflowError):
        parse_value(text)
    status, out, err = run("info", "Counter-v0", flag, f"{name}={text}")
    shown = text if len(text) <= 20 else f"{text[:20]}..."
    assert (status, out) == (1, "")
    assert err == f"error: {flag} {name} must be within the range of float64, 1.8e308, got {shown}\n"


def test_an_option_that_no_environment_can_take(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy.Counter, "default_params", property(lambda self: [0] * int(self.goal)))
    status, _, err = run("info", "Counter-v0", "--option", "goal=inf")
    assert status == 1
    assert err.startswith("error: Counter-v0 does not work with --option goal=inf: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("steps", ["10000000000000000", "9223372036854775807"])
def test_more_steps_than_can_be_counted(run: Run, tmp_path: Path, steps: str) -> None:
    status, out, err = run("rollout", "Counter-v0", "--steps", steps, "--out", str(tmp_path / "run"))
    assert (status, out) == (1, "")
    expected = (
        f"error: --num-envs 2,048 times --steps {int(steps):,} is more than 2**53 steps, which nobody can count.\n"
    )
    assert err == expected
    assert not (tmp_path / "run").exists()


def test_a_long_rollout_says_how_long_and_an_endless_one_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def advance(self: MeasuredRollout, limit: int) -> int:
        raise EnvcoreError("enough")

    monkeypatch.setattr(MeasuredRollout, "advance", advance)
    monkeypatch.setattr(Pace, "seconds", lambda self, steps: steps * 0.001)
    args = ("rollout", "Counter-v0", "--num-envs", "2", "--steps")
    assert "will take" not in run(*args, "3000000")[1]
    status, out, err = run(*args, "864000000")
    assert (status, err) == (1, "error: enough\n")
    assert "--steps 864,000,000 will take about 10 days.\n" in out
    status, out, err = run(*args, "1000000000000")
    assert (status, out) == (1, "")
    assert err == "error: --steps 1,000,000,000,000 would take about 32 years here: choose less.\n"


def test_version(run: Run) -> None:
    code, out, _ = run("--version")
    assert code == 0
    assert out == f"envcore {envcore.__version__}, jax {jax.__version__}, Python {platform.python_version()}\n"


@pytest.mark.parametrize(
    "args",
    [
        "list",
        "rollout nope",
        *(
            pytest.param(args, marks=pytest.mark.slow)
            for args in (
                "--version",
                "info nope",
                "render nope --out x.gif",  # of envcore-viewer; no more than its options is imported
                "play nope",
                "gallery nope --out g",
                "info nope --set a=1",
                "rollout CartPole --option size",
            )
        ),
    ],
)
def test_answers_that_need_no_jax_do_not_import_it(args: str) -> None:
    code = f"""
import sys
from envcore_cli import main
sys.argv = ["envcore", *{args.split()!r}]
try:
    main()
except SystemExit as leaving:
    heavy = [each for each in ("jax", "numpy", "PIL") if each in sys.modules]
    sys.exit(f"status {{leaving.code or 0}}, heavy: {{heavy}}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    status = 0 if args in ("--version", "list") else 1
    assert done.stderr.splitlines()[-1] == f"status {status}, heavy: []"


def test_plugins_without_any(run: Run) -> None:
    assert "pip install 'envcore[all]'" in run("plugins")[1]


def test_info(run: Run) -> None:
    code, out, _ = run("info", "Counter-v0")
    assert code == 0
    for part in ("Counter-v0", "made up", "Discrete(2)", "goal=3", "bonus=0.5", "max_steps_in_episode=10"):
        assert part in out
    assert out.endswith("\nAction 1 counts, action 0 waits; the episode ends at `goal`. Draws nothing.\n")


def test_info_of_a_wrapped_environment_has_the_rules_inside(run: Run) -> None:
    registry.register("Gain-v0", "toy:make_gain")
    code, out, _ = run("info", "Gain-v0")
    assert code == 0
    assert "gain=3.0, max_steps_in_episode=10, bonus=0.5" in out
    assert "Action 1 counts, action 0 waits" in out
    assert "Gain(" not in out  # its docstring is only its signature


def test_info_shows_what_set_and_option_change(run: Run) -> None:
    code, out, _ = run(
        "info", "Counter-v0", "--set", "bonus=0.3", "--option", "goal=5", "--set", "max_steps_in_episode=7"
    )
    assert code == 0
    for part in ("goal=5", "max_steps_in_episode=7", "(6,)"):
        assert part in out
    assert re.search(r"bonus=0\.3\s", out)  # not float32's 0.30000001192092896


def test_info_sets_the_params_of_a_wrapper_and_those_inside(run: Run) -> None:
    registry.register("Gain-v0", "toy:make_gain")
    _, out, _ = run("info", "Gain-v0", "--set", "gain=2", "--set", "bonus=7")
    assert "gain=2.0, " in out
    assert "bonus=7.0" in out


def test_rollout_with_set_and_option(run: Run) -> None:
    args = ("--num-envs", "5", "--steps", "80", "--set", "bonus=2", "--option", "goal=2")
    assert " to 4.00)" in run("rollout", "Counter-v0", *args, "--set", "max_steps_in_episode=6")[1]


@pytest.mark.slow
def test_rollout_without_steps_runs_for_a_second_and_says_how_many_steps(run: Run) -> None:
    _, out, _ = run("rollout", "Counter-v0", "--num-envs", "64")
    rate, seconds = re.search(r"speed +([0-9,]+) steps/s on .*, over ([0-9.]+) s", out).groups()  # pyright: ignore
    steps = int(re.search(r"64 in parallel, ([0-9,]+) steps each", out)[1].replace(",", ""))  # pyright: ignore
    assert float(seconds) >= 1
    assert int(rate.replace(",", "")) == pytest.approx(64 * steps / float(seconds), rel=0.06)


def test_rollout_is_the_same_for_the_same_seed(run: Run) -> None:
    def facts() -> list[str]:
        out = run("rollout", "Spring-v0", "--num-envs", "9", "--steps", "150")[1].splitlines()
        return [line for line in out if line.startswith(("episodes", "return", "length"))]

    registry.register("Spring-v0", "toy:Spring")
    assert facts() == facts() != []


POLICIES = """
import jax.numpy as jnp

def count(policy_params, obs, key):
    assert obs.shape == (4,)
    return jnp.int32(1)

def outside(policy_params, obs, key):
    return jnp.int32(7)
"""


def test_rollout_with_a_custom_policy(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rollout_agent.py").write_text(POLICIES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    args = ("rollout", "Counter-v0", "--num-envs", "3", "--steps", "30", "--policy")
    code, out, _ = run(*args, "rollout_agent:count")
    assert code == 0
    assert "episodes finished  30 " in out
    assert "1.50 ± 0.00 (from 1.50 to 1.50)" in out
    code, _, err = run(*args, "rollout_agent:outside")
    assert code == 1
    assert err == "error: --policy rollout_agent:outside returned actions that are not in Discrete(2).\n"
    assert "has no attribute 'f'" in run(*args, "rollout_agent:f")[2]


def test_results_so_far_are_shown_on_ctrl_c(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def advance(self: MeasuredRollout, limit: int) -> int:
        if self.progress.steps:
            raise KeyboardInterrupt
        self._chunk = 40  # however slow the machine is now
        return before(self, 40)

    before = MeasuredRollout.advance
    monkeypatch.setattr(MeasuredRollout, "advance", advance)
    choice = choose("Counter-v0")
    with pytest.raises(KeyboardInterrupt):
        report_rollout(choice, 500, num_envs=7)
    out = capsys.readouterr().out
    assert "interrupted: these are the results up to then" in out
    assert "7 in parallel, 40 steps each" in out
    assert "return" in out


def test_ctrl_c_before_the_first_step_shows_no_table(run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def advance(self: MeasuredRollout, limit: int) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(MeasuredRollout, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        report_rollout(choose("Counter-v0"), 500, num_envs=7)
    assert "in parallel" not in capsys.readouterr().out


HOSTILE = "\x1b]0;renamed\x07\x9b2J\u202e \r\n[red]words"


def test_text_of_plugins_cannot_control_the_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = PluginRecord(f"evil{HOSTILE}", HOSTILE, "main", HOSTILE, "broken", (), HOSTILE)
    monkeypatch.setattr("envcore.registration.discover", lambda *_: (record,))
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))
    monkeypatch.setattr(toy.Counter, "action_names", ("wait", HOSTILE))
    monkeypatch.setattr(toy.Counter, "__doc__", f"First line.\n\n{HOSTILE}")

    def refuse() -> None:
        raise ValueError(HOSTILE)

    monkeypatch.setattr(toy, "refuse", refuse, raising=False)
    registry.register("Evil-v0", "toy:Counter", summary=HOSTILE, source=HOSTILE)
    registry.register("Fails-v0", "toy:refuse")
    for args in (("list",), ("plugins",), ("info", "Evil-v0"), ("info", "Fails-v0"), ("info", "Eviler-v0")):
        code, out, err = run(*args)
        assert code == (1 if args[-1] in ("Fails-v0", "Eviler-v0") else 0)
        assert r"\x1b]0;renamed\x07\x9b2J\u202e" in out + err, args
        assert set(out + err) & set(HOSTILE) <= set(" \n[]redworsnam0;2J"), args


def test_an_empty_path_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("rollout", "Counter-v0", "--gif", "")
    assert (code, out) == (2, "")
    assert "the path is empty." in err
    assert not list(tmp_path.iterdir())


def test_a_picture_without_the_viewer_is_an_error_before_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "envcore_viewer.animation", None)
    code, out, err = run("rollout", "Counter-v0", "--gif", str(tmp_path / "a.gif"))
    assert (code, out) == (1, "")
    assert err == "error: --gif needs envcore-viewer, which is not installed: pip install envcore-viewer.\n"


def test_rollout_reports(run: Run) -> None:
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "7", "--steps", "43")
    assert code == 0
    for part in ("7 in parallel, 43 steps each", "episodes finished", "return", "length", "steps/s", "compile time"):
        assert part in out
    assert "to 1.50)" in out  # an episode that counts to three returns 3 * 0.5


def test_rollout_writes_a_picture(run: Run, tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "counter.gif"
    code, out, _ = run("rollout", "Counter-v0", "--num-envs", "2", "--steps", "25", "--gif", str(path))
    assert code == 0
    assert "25 steps" in out
    with Image.open(path) as image:
        height, width, _ = Counter().render(Counter().reset(jax.random.key(0))[1], Counter().default_params).shape
        assert image.size == (width, height)
        assert image.info["duration"] % (1000 / Counter.render_fps) == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("rollout", "Conter-v0"), "Did you mean 'Counter-v0'"),
        (("rollout", "Counter-v0", "--num-envs", "0"), "--num-envs and --steps must be at least 1, got 0."),
        (("rollout", "Counter-v0", "--steps", "0"), "--num-envs and --steps must be at least 1"),
        (("rollout", "Counter-v0", "--seed", "99999999999999999999"), "seed must be an integer from 0 to"),
        (("rollout", "Counter-v0", "--gif", "/no/such/folder/x.gif"), "/no/such/folder"),
        (("rollout", "Deck-v0", "--num-envs", "2", "--steps", "3", "--gif", "{tmp}/x.gif"), "implement render"),
        (("info", "Broken-v0"), "cannot be imported"),
        (("rollout", "Counter-v0", "--num-envs", "10000000000"), " fit."),
        (("rollout", "Counter-v0", "--num-envs", "2147483648000"), "--num-envs 2,147,483,648,000 would take about"),
        (
            ("info", "Counter-v0", "--set", "boni=1"),
            "Counter-v0 has no param 'boni'; its params: max_steps_in_episode, bonus.",
        ),
        (("info", "Counter-v0", "--set", "goal=1"), "'goal' is an option: --option goal=..."),
        (("info", "Counter-v0", "--set", "bonus"), "--set must be NAME=VALUE, as in --set size=8, got 'bonus'"),
        (("info", "Counter-v0", "--set", "bonus=1", "--set", "bonus=2"), "--set gives 'bonus' twice"),
        (("info", "Counter-v0", "--set", "bonus=much"), "param 'bonus' must be a number, got 'much'"),
        (("info", "Counter-v0", "--set", "bonus=none"), "param 'bonus' must be a number, got None"),
        (("info", "Counter-v0", "--set", "bonus=(1, 2)"), "params.bonus must have shape (), got (2,)"),
        (("info", "Counter-v0", "--set", "bonus=((1, 2), 3)"), "must be a number or an array, got ((1, 2), 3)"),
        (("info", "Counter-v0", "--set", "bonus=True"), "params.bonus must be float32, got bool"),
        (("info", "Counter-v0", "--set", "max_steps_in_episode=1.5"), "must be int32, got float64"),
        (("info", "Counter-v0", "--set", "max_steps_in_episode=0"), "must be at least 1, got 0"),
        (("info", "Counter-v0", "--set", "max_steps_in_episode=99999999999"), "must fit into int32"),
        *(
            ((command, "Counter-v0", "--set", f"bonus={value}"), f"Counter's params.bonus must {message}.")
            for command in ("info", "rollout")
            for value, message in (
                ("nan", "be finite, got nan"),
                ("-inf", "be finite, got -inf"),
                ("1e300", "fit into float32, got 1e+300"),
            )
        ),
        (("info", "Counter-v0", "--option", "size=1"), "got an unexpected keyword argument 'size'; its options: goal"),
        (("info", "Counter-v0", "--option", "bonus=1"), "or --set bonus=... on the command line"),
        (("info", "Counter-v0", "--option", "goal=[1]"), "must be hashable"),
        (("info", "Counter-v0", "--option", "goal=many"), "Counter-v0 does not work with --option goal='many': "),
    ],
)
def test_errors_are_one_line(run: Run, tmp_path: Path, args: tuple[str, ...], message: str) -> None:
    code, _, err = run(*(arg.format(tmp=tmp_path) for arg in args))
    assert code == 1
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert not list(tmp_path.iterdir())
