"""The documentation: its generators, its code, and a build without warnings."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import tomllib
from typing import Annotated, Any, get_type_hints
from xml.etree import ElementTree

import envcore
import numpy as np
import pytest
from envcore import spaces, typing
from envcore_baselines.curve import Curve
from envcore_testing.kit import RULES
from tool_modules import TOOLS, load_tool

SITE = TOOLS / "site"
PAGES = SITE / "pages"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def docstrings() -> Any:
    return load_tool("site/docstrings.py")


def test_sections_of_a_docstring(docstrings: Any) -> None:
    text = """Walk: to the end.

    Original: the book,
      page 1.

    It goes
    on.

    Observation: float32 (2,): place and
      speed.
    Reward: 1.

    There is no more.

    Attributes:
      length: of the line,
        in steps.
      low, high: bounds.
    """
    parts = docstrings.sections(text)
    assert parts[""] == "Walk: to the end.\n\nIt goes\non."
    assert parts["Original"] == "the book,\npage 1."
    assert (parts["Reward"], parts[docstrings.NOTES]) == ("1.", "There is no more.")
    assert parts["Observation"] == "float32 (2,): place and\nspeed."
    assert docstrings.attributes(text) == {
        "length": "of the line, in steps.",
        "low": "bounds.",
        "high": "bounds.",
    }
    assert docstrings.attributes(None) == {}


def test_values_of_an_option_become_a_list(docstrings: Any) -> None:
    text = 'Two kinds:\n\n  kind="a": if x < 1.\n  "b-c": else.\n    "d": text'
    assert docstrings.markdown(text) == 'Two kinds:\n\n- `kind="a"`: if x &lt; 1.\n- `"b-c"`: else.\n    "d": text'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`a` and `b`s, `c`", r"`a` and `b`\ s, `c`"),
        ('`"a:b"` of `f(*args)`', '``"a:b"`` of `f(*args)`'),
        ("So:\n\n    make(x)\n\n    x = 1\n\nThen.", "So:\n\n::\n\n    make(x)\n\n    x = 1\n\nThen."),
        ("Args:\n  obs: the x,\n    again.\n\n  b: it.", "Args:\n  obs: the x,\n    again.\n\n  b: it."),
        ("Returns:\n  obs, state: the x,\n    again.", "Returns:\n  obs, state: the x,\n    again."),
        ("Returns:\n  The state: it.\nYields:\n  It.", "Return:\n  The state: it.\nYield:\n  It."),
    ],
)
def test_docstrings_become_what_napoleon_reads(docstrings: Any, text: str, expected: str) -> None:
    assert docstrings.restructured(text) == expected


@pytest.mark.parametrize(
    ("hint", "notation"),
    [
        (typing.Float, "float32 ()"),
        (typing.Int, "int32 ()"),
        (typing.Bool, "bool ()"),
        (typing.FloatParam, "float32 ()"),
        (typing.IntParam, "int32 ()"),
        (typing.BoolParam, "bool ()"),
        (typing.ArrayParam, ""),
        (typing.PyTree, ""),
        (float, ""),
    ],
)
def test_the_notation_of_types(docstrings: Any, hint: object, notation: str) -> None:
    assert docstrings.notation(hint) == notation


class Goal:
    place: Annotated[typing.ArrayParam, "int32 (2,)"] | None


def test_the_notation_of_what_may_be_none(docstrings: Any) -> None:
    assert docstrings.notation(get_type_hints(Goal, include_extras=True)["place"]) == "int32 (2,)"


@pytest.fixture(scope="module")
def tables() -> Any:
    return load_tool("site/tables.py")


def test_numbered_lists_are_apart_from_paragraphs(tables: Any) -> None:
    text = """float32 (n + 2,).
0 to n - 1: walls,
  row by row
n and n + 1: place
Else:
0: no
  1.5: of
1: up, or 2, 2: down
none: 3"""
    assert tables.split(text) == [
        "float32 (n + 2,).",
        [("0 to n - 1", "walls, row by row"), ("n and n + 1", "place")],
        "Else:",
        [("0", "no 1.5: of"), ("1", "up, or 2"), ("2", "down")],
        "none: 3",
    ]


@pytest.mark.parametrize(
    ("numbers", "length", "expected"),
    [
        (["0", "1 to n", "n + 1"], 5, [range(1), range(1, 4), range(4, 5)]),
        (["0 to 2n - 1", "2n and 2n + 1"], 2, [range(0), range(2)]),
        (["0", "1 and 2"], 3, [range(1), range(1, 3)]),
        (["0", "2"], 3, None),
        (["0", "1"], 3, None),
        (["0", "0"], 1, None),
    ],
)
def test_the_elements_of_a_numbered_list(tables: Any, numbers: list[str], length: int, expected: Any) -> None:
    assert tables.elements([(each, "") for each in numbers], length) == expected


def test_the_ranges_of_a_vector(tables: Any) -> None:
    rows = [("0 to n - 1", ""), ("n", ""), ("n + 1", ""), ("n + 2", "")]
    space = spaces.Box(np.array([[-1, -2, 0, -np.inf, -np.inf]]), np.array([[1, 2, np.inf, 3, np.inf]]))
    assert tables.ranges(rows, space) == ["-2 to 2", "from 0", "up to 3", "unbounded"]
    assert tables.ranges([("0 to 1", ""), ("2 to n + 2", "")], spaces.Box(0, 1, (2,))) == []
    assert tables.ranges([("0", ""), ("1 to n", "")], spaces.Box(0, 1, (1,))) == ["0 to 1", "none, n is 0"]
    assert tables.ranges([("0", "")], spaces.Box(0, 1, (1, 1, 1))) == tables.ranges([("0", "")], spaces.Discrete(1))


def test_a_table_has_a_cell_for_each_value(tables: Any) -> None:
    assert tables.markdown([("0", "a | b")], ["element", "text", "range"], ["unbounded"]) == [
        "| element | text | range |",
        "| --- | --- | --- |",
        "| 0 | a / b | unbounded |",
    ]


def test_numbered_lists_of_environments_are_complete(tables: Any, site: Any, docstrings: Any) -> None:
    suites, seen = site("suites"), []
    for found in suites.our_environments():
        with suites.without_downloads(found.spec.id):
            env, params = envcore.make(found.spec.id)
        parts = docstrings.sections(type(env.unwrapped).__doc__)
        for title, space in (("Observation", env.observation_space(params)), ("Action", env.action_space(params))):
            lists = [part for part in tables.split(parts[title]) if isinstance(part, list)]
            length = space.n if isinstance(space, spaces.Discrete) else space.shape[-1]
            if lists:
                assert tables.elements(lists[0], length), (found.spec.id, title)
                seen.append((found.spec.id, title))
            assert lists or title == "Observation" or not env.action_names, found.spec.id
    assert {("CartPole-v1", "Observation"), ("Reacher-misc", "Observation"), ("Pong-misc", "Action")} <= set(seen)


def test_bars_are_as_long_as_their_numbers() -> None:
    charts = load_tool("site/charts.py")
    svg = charts.bars([("a", [(10.0, "10x", "peer"), (15.0, "", "ours")]), ("<b>", [(1.0, "", "ours")])], "speed")
    ten, fifteen, one = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert (fifteen, ten) == (pytest.approx(15 * one, abs=1), pytest.approx(10 * one, abs=1))
    assert "&lt;b&gt;" in svg
    assert re.findall('text-anchor="middle">([^<]*)<', svg) == ["0", "5", "10", "15"]
    assert "gap" not in svg


def test_longer_bars_are_broken() -> None:
    charts = load_tool("site/charts.py")
    svg = charts.bars([("a", [(100.0, "100x", "ours"), (10.0, "", "ours")]), ("b", [(5.0, "", "ours")])], "speed", 10)
    hundred, ten, five = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert (hundred, ten) == (pytest.approx(2 * five, abs=0.2), hundred)
    assert svg.count('class="gap"') == 1
    assert "100x" in svg


def test_the_chart_of_the_readme_is_that_of_the_figures(site: Any) -> None:
    chart = site("performance").readme_chart()
    assert (TOOLS.parent / ".github" / "speed.svg").read_text() == chart
    ElementTree.fromstring(chart)
    assert len(re.findall("<rect", chart)) == 9


def test_a_curve_goes_from_its_first_to_its_last_point() -> None:
    charts = load_tool("site/charts.py")
    sampled = charts.Band("a < b", "sampled", [0, 5, 10], [-1, 4, 9], [1, 6, 11])
    greedy = charts.Band("greedy", "greedy", [5, 10, 10], [5, 10, 10], [5, 10, 10])
    svg = charts.curve([0, 50, 100], [sampled, greedy], ("best", 10, 2), "returns", {"theirs": 10, "others": 10})
    first, second = (
        [tuple(map(float, point.split(","))) for point in line.split()]
        for line in re.findall(r'<polyline [^>]*points="([^"]*)"', svg)
    )
    (x0, y0), (x1, y1), (x2, y2) = first
    assert (x1, y1) == (pytest.approx((x0 + x2) / 2, abs=0.1), pytest.approx((y0 + y2) / 2, abs=0.1))
    assert y2 < y0
    assert second == [(x0, y1), (x1, y2), (x2, y2)]
    assert [float(level) for level in re.findall(r'class="level" [^>]*y1="([\d.]+)"', svg)] == [y2, y2]
    theirs, others = (
        float(re.findall(f'y="([\\d.]+)" text-anchor="end">{name} 10<', svg)[0]) for name in ("theirs", "others")
    )
    assert others - theirs > 13.9, "one text does not lie on the other"
    *_, dot = re.findall(r'<circle [^>]*cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert tuple(map(float, dot)) == (x2, y2)
    low, high = map(float, re.findall(r'd="M[\d.]+ ([\d.]+) V([\d.]+)"', svg)[0])
    assert (low - y2, y2 - high) == (pytest.approx((y0 - y2) / 5, abs=0.1), pytest.approx((y0 - y2) / 5, abs=0.1))
    assert all(f">{name}</text>" in svg for name in ("a &lt; b", "greedy", "best"))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.5, 1]),
        (-0.57, 1, [-0.5, 0, 0.5, 1]),
        (-500, -77, [-500, -400, -300, -200, -100]),
        (1, 1, [0.6, 0.8, 1, 1.2, 1.4]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert load_tool("site/charts.py").ticks(low, high, 5) == expected


@pytest.mark.parametrize(("number", "text"), [(0, "0"), (500, "500"), (20_000, "20k"), (1_500_000, "1.5M")])
def test_large_numbers_are_short(number: float, text: str) -> None:
    assert load_tool("site/charts.py").short(number) == text


def test_a_curve_is_thinned_by_means_of_neighbors(curves: Any) -> None:
    curve = Curve(2).with_point(0, {"returns": np.ones(2), "episodes": np.array([0, 1])})
    for step in range(1, 101):
        returns = np.array([step, step + 2])
        curve = curve.with_point(step, {"returns": returns, "episodes": np.ones(2), "greedy_return": returns + 10})
    curve.metrics["greedy_return"].insert(0, [0.0, 0.0])
    found = curves.thinned(curve)
    assert found["steps"] == list(range(2, 101, 2))
    assert (found["low"][0], found["mean"][0], found["high"][-1]) == (1.5, 2.5, 101.5)
    assert (found["greedy"]["low"][0], found["greedy"]["high"][-1]) == (11.5, 111.5)
    del curve.metrics["greedy_return"]
    assert "greedy" not in curves.thinned(curve)


def test_every_curve_is_that_of_the_best_return(curves: Any) -> None:
    returns = json.loads((SITE / "data" / "returns.json").read_text())
    kept = {path.stem: json.loads(path.read_text()) for path in curves.FOLDER.glob("*.json")}
    assert len(kept) > 5
    for env_id, curve in kept.items():
        assert curve["algorithm"] == returns[env_id]["algorithm"], env_id
        for band in (curve, curve.get("greedy", curve)):
            ends = zip(band["low"], band["mean"], band["high"], strict=True)
            assert all(low <= mean <= high for low, mean, high in ends)
            assert len(band["mean"]) == len(curve["steps"])
        page = " ".join(curves.section(env_id, "envcore train", returns[env_id]["return"], {}))
        assert f"greedy, after training: {returns[env_id]['return']}" in page
        assert ("greedy, while it learns" in page) == ("--evaluate" in page) == ("greedy" in curve)
    assert sum("greedy" in curve for curve in kept.values()) > 10
    assert "curve.png" in " ".join(curves.section("Walk-v0", "envcore train ppo Walk-v0", "1 ± 0", {}))


def test_environments_have_settings_of_the_algorithm_that_their_return_is_of() -> None:
    configs = TOOLS.parent / "plugins" / "baselines" / "src" / "envcore_baselines" / "configs"
    for env_id, row in json.loads((SITE / "data" / "returns.json").read_text()).items():
        assert row["algorithm"] in tomllib.loads((configs / f"{env_id}.toml").read_text()), env_id


def test_returns_are_those_of_the_baselines() -> None:
    readme = (TOOLS.parent / "plugins" / "baselines" / "README.md").read_text()
    for env_id, row in json.loads((SITE / "data" / "returns.json").read_text()).items():
        rows = [line for line in readme.splitlines() if line.startswith(f"| `{env_id}`")]
        assert any(f"| {row['return']} |" in line for line in rows), env_id


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of the tool that imports others of it."""
    monkeypatch.syspath_prepend(str(SITE))
    return importlib.import_module


@pytest.fixture
def curves(site: Any) -> Any:
    return site("curves")


def test_every_environment_was_checked_against_every_rule(site: Any) -> None:
    checks = json.loads((SITE / "data" / "checks.json").read_text())
    assert set(checks) == {each.spec.id for each in site("suites").our_environments()}
    assert {each["kept"] + len(each["skipped"]) for each in checks.values()} == {len(RULES)}
    assert site("checks").rewards("Catch-bsuite") == checks["Catch-bsuite"]["rewards"] == [-1, 1]


def test_environments_that_need_data_have_a_page_without_it(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    suites = site("suites")
    monkeypatch.setattr("socket.socket", None)
    for env_id in suites.NEEDS_DATA:
        with suites.without_downloads(env_id):
            env, params = envcore.make(env_id)
            assert params.images.shape == (60_000, *env.observation_space(params).shape)
        assert (SITE / "data" / "pictures" / f"{env_id}.webp").exists()


def test_every_environment_was_compared(site: Any) -> None:
    compared = json.loads((SITE / "data" / "comparisons.json").read_text())
    ids = {each.spec.id for each in site("suites").our_environments()}
    assert set(compared) == ids
    assert all(each["of_tolerance"] < 1 for each in compared.values())
