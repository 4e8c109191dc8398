"""The documentation: its generators, its code, and a build without warnings."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any, get_type_hints
from xml.etree import ElementTree

import envcore
import numpy as np
import pytest
from docutils import core, nodes, utils
from envcore import spaces, typing
from envcore_baselines.curve import Curve
from envcore_testing.kit import RULES
from PIL import Image
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


def test_the_page_of_findings_has_every_library_and_what_its_lines_print(site: Any, tmp_path: Path) -> None:
    site("findings").write_page(tmp_path / "page.md", PAGES / "about" / "findings.md")
    text = (tmp_path / "page.md").read_text()
    found, checked = (json.loads((SITE / "data" / f"{name}.json").read_text()) for name in ("findings", "libraries"))
    for row in found.values():
        assert f"```py\n{row['code'].strip()}\n```\n\n```text\n{row['output'].strip()}\n```" in text
    for env_id, row in checked.items():
        (line,) = re.findall(rf"^\| `{re.escape(env_id)}`.*$", text, re.MULTILINE)
        assert "not checked" in line or f"| {row['kept']}, " in line
        assert all(f"- `{env_id}`, `{rule}`: " in text for rule in row.get("broken", {}))
    assert "<!--" not in text


def test_histories_are_of_environments_and_of_versions_in_their_change_logs(site: Any) -> None:
    found = {each.spec.id: each for each in site("suites").our_environments()}
    for env_id, history in json.loads((SITE / "data" / "history.json").read_text()).items():
        suite = found[env_id].distribution.removeprefix("envcore-")
        log = (TOOLS.parent / "packages" / suite / "CHANGELOG.md").read_text()
        assert all(f"## {version} (" in log for version in history.get("changes", {})), env_id
        assert site("history").section(found[env_id])


@pytest.mark.slow
def test_comparisons_are_those_of_the_tests(tmp_path: Path) -> None:
    """Two environments, in a process of its own because the tool replaces numpy's functions."""
    program = (
        "import json, sys, comparisons\n"
        "found = comparisons.compare(*sys.argv[2:])\n"
        "open(sys.argv[1], 'w').write(json.dumps(found))\n"
    )
    tests = [
        TOOLS.parent / "packages" / name for name in ("bsuite/tests/test_catch.py", "misc/tests/test_frozen_lake.py")
    ]
    settings = {**os.environ, "PYTHONPATH": str(SITE)}
    command = [sys.executable, "-c", program, tmp_path / "found.json", *tests]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    known = json.loads((SITE / "data" / "comparisons.json").read_text())
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == {"Catch-bsuite", "FrozenLake-misc"}
    for env_id, row in found.items():
        assert (row["transitions"], row["numbers"]) == (known[env_id]["transitions"], known[env_id]["numbers"])
        assert row["difference"] == pytest.approx(known[env_id]["difference"], abs=1e-7)


def test_every_recording_is_counted(site: Any, tmp_path: Path) -> None:
    site("fidelity").write_page(tmp_path / "page.md", PAGES / "about" / "fidelity.md", None)
    text = (tmp_path / "page.md").read_text()
    rows = re.findall(r"^\| (\w+): (\S+) \| (\S+) ([\d.]+) \| ([\d,]+) \|", text, re.MULTILINE)
    assert ("minatar", "asterix", "MinAtar", "1.0.15") in {row[:4] for row in rows}
    total = sum(int(row[4].replace(",", "")) for row in rows)
    assert f"Together {total:,} transitions." in text
    tables = text.partition("### Beside the originals' formulas")[0]
    by_environment = re.findall(r"^\| \[[^|]* \| ([\d,]+) \|", tables, re.MULTILINE)
    assert sum(int(number.replace(",", "")) for number in by_environment) == total
    assert not re.search(r"\| *\|", text), "an empty cell"


def test_the_mark_is_the_same_in_both_formats() -> None:
    mark = load_tool("site/mark.py")
    assert mark.SVG.read_text() == mark.svg()
    number = r"(-?[\d.]+)"
    (loop,) = re.findall(rf"M {number} {number} A {number} \S+ 0 1 0 {number} {number}", mark.svg())
    x0, y0, radius, x1, y1 = map(float, loop)
    painted = [shape for shape, _ in mark.layers()]
    on_loop = np.array([(x0, -y0), (x1, -y1), (-radius, 0), (0, -radius)], np.float32)
    distances = [float(painted[0](x, y)) for x, y in on_loop]
    (width,) = re.findall(r"stroke-width: ([\d.]+)", mark.svg())
    np.testing.assert_allclose(distances, -float(width) / 2, atol=1e-4)
    gap = painted[0](np.float32(radius / 2**0.5), np.float32(radius / 2**0.5))
    assert float(gap) > float(width) / 2, "the agent has room"


def test_the_preview_of_links_has_the_mark() -> None:
    mark = load_tool("site/mark.py")
    with Image.open(mark.PREVIEW) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    assert pixels.shape == (630, 1200, 3), "what Open Graph asks for"
    for _, color in mark.layers():
        assert (pixels[:300, :300] == np.array(color)).all(-1).sum() > 1000


def test_the_home_page_has_the_number_of_the_readme(site: Any) -> None:
    headline = site("performance").headline()
    median, low, high = re.findall(r"[\d.]+(?= times| to)|(?<=to )\d+", headline)
    readme = " ".join((TOOLS.parent / "README.md").read_text().split())
    assert re.search(f"{low} to {high} times( as fast as gymnax's)? \\(median {median}\\)", readme)


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    links = load_tool("site/links.py")
    (tmp_path / "a.html").write_text('<a id="top" href="b.html#there"></a><a href="https://example.org/x">')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="#gone"></a><img src="no.png"><a href="a.html#top">')
    assert list(links.broken(tmp_path)) == ["b.html: #gone", "b.html: no.png"]
    (tmp_path / "sub").mkdir()
    kept, gone = f"{links.SITE}b.html#there", f"{links.SITE}d.html"
    (tmp_path / "sub" / "c.html").write_text(f'<a href="{kept}"></a><a href="{gone}"></a>')
    assert [line for line in links.broken(tmp_path) if "c.html" in line] == [f"sub/c.html: {gone}"]


WIDE = """
======= =========== ===========
option  default     meaning
======= =========== ===========
``a``   ..          {meaning}
======= =========== ===========
"""


@pytest.mark.parametrize("meaning", ["short", "words that need a line of their own on a phone"])
def test_tables_of_text_are_cards_whose_cells_have_their_columns_titles(site: Any, meaning: str) -> None:
    del site  # its folder is on the path
    cards = load_tool("site/cards.py")
    document = core.publish_doctree(WIDE.format(meaning=meaning).replace(" ===========\n", f" {'=' * 60}\n"))
    cards.label(None, document, "page")
    (table,) = document.findall(nodes.table)
    is_card = meaning != "short"
    assert ("cards" in table["classes"]) == is_card
    labels = [cell.get("label") for cell in table.findall(nodes.entry)]
    assert labels == [None] * 3 + (["option", None, "meaning"] if is_card else [None] * 3)


def test_every_tutorial_was_timed() -> None:
    times = load_tool("site/times.py")
    taken = json.loads(times.DATA.read_text())
    assert {name: len(each) for name, each in taken.items()} == {
        name: len(cells) for name, cells in times.tutorials().items()
    }


def test_a_cell_that_takes_a_while_says_how_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    times = load_tool("site/times.py")
    monkeypatch.setattr(times, "DATA", tmp_path / "times.json")
    times.DATA.write_text(json.dumps({"walk": [0.2, 26.1]}))
    page = utils.new_document("page")
    page += [nodes.container(nb_element=kind) for kind in ("cell_code", "cell_markdown", "cell_code")]
    times.say(None, page, "tutorials/walk")
    times.say(None, page, "howto/run")
    assert [each.astext() for each in page.children] == ["", "", "About 25 seconds of one core."]


@pytest.mark.parametrize(("needed", "said"), [(3.6, "4 seconds"), (13, "15 seconds"), (100, "2 minutes")])
def test_times_are_rounded(needed: float, said: str) -> None:
    assert load_tool("site/times.py").rounded(needed) == said


def test_the_seconds_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # put back afterwards
    monkeypatch.setenv("MPLBACKEND", "Agg")
    slow = "import time\nbegan = time.process_time()\nwhile time.process_time() < began + 0.2: pass"
    first, second = load_tool("site/times.py").seconds([slow, "assert began > 0"])
    assert first >= 0.2 > second


def test_rows_of_the_benchmark_replace_older_ones(site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    performance = site("performance")
    row = {"id": "CartPole-v1", "num_envs": 2048, "variant": "gymnax", "reads": "float32", "jax": "0.10.2"}
    (tmp_path / "speed.json").write_text(json.dumps([{**row, "speed": 1.0, "date": "2026-01-01", "machine": "old"}]))
    (tmp_path / "results.json").write_text(json.dumps([{**row, "steps_per_second": 2_345_678, "seconds": [1]}]))
    monkeypatch.setattr(performance, "_DATA", tmp_path)
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "results.json"), "--date", "2026-02-02", "--machine", "new"])
    performance.main()
    (kept,) = json.loads((tmp_path / "speed.json").read_text())
    assert kept == {**row, "speed": 2.35, "date": "2026-02-02", "machine": "new"}


def test_ratios_of_several_cores_are_taken_from_the_benchmark(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    performance = site("performance")
    row = {"id": "Catch-bsuite", "num_envs": 16384, "variant": "envcore rollout", "reads": "float32"}
    for name in ("speed", "scaling", "gpu"):
        shutil.copy(SITE / "data" / f"{name}.json", tmp_path)
    results = tmp_path / "results.json"
    results.write_text(json.dumps([{**row, "steps_per_second": [10, 15, 18], "ratios": [1.804, 1.2], "seconds": []}]))
    monkeypatch.setattr(performance, "_DATA", tmp_path)
    for cores in ("2", "4"):
        monkeypatch.setattr(sys, "argv", ["", str(results), "--into", "devices", "--cores", cores, "--machine", "new"])
        performance.main()
    kept = json.loads((tmp_path / "devices.json").read_text())
    assert [(each["cores"], each["speedup"], each["machine"]) for each in kept] == [(2, 1.8, "new"), (4, 1.8, "new")]
    performance.write_page(tmp_path / "page.md", PAGES / "about" / "performance.md")
    page = (tmp_path / "page.md").read_text()
    assert "Catch-bsuite, 16,384" in page
    assert "4 cores, 1.80x" in page


def test_seconds_of_waiting_are_taken_from_the_benchmark(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    performance = site("performance")
    row = {"id": "Catch-bsuite", "num_envs": 64, "jax": "0.10.1", "rollout": [2.0, 1.0], "update": [None, None]}
    rows = [
        {**row, "variant": side, "step": [seconds, 0.5]} for side, seconds in (("gymnax", 3.126), ("envcore", 1.254))
    ]
    (tmp_path / "results.json").write_text(json.dumps(rows))
    monkeypatch.setattr(performance, "_DATA", tmp_path)
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "results.json"), "--into", "waiting", "--machine", "new"])
    performance.main()
    kept = json.loads((tmp_path / "waiting.json").read_text())
    assert [(each["variant"], each["step"], each["machine"]) for each in kept] == [
        ("envcore", [1.25, 0.5], "new"),
        ("gymnax", [3.13, 0.5], "new"),
    ]
    *_, line = site("first_results").table(kept)
    assert line == "| Catch-bsuite | 1.25 (0.50) | 3.13 (0.50) | 2.00 (1.00) | 2.00 (1.00) |  |  |"
    assert site("first_results").table([]) == []


def test_the_readme_has_the_ratios_of_the_figures(site: Any) -> None:
    speeds = [row for (_, reads), row in site("performance").speeds(2048).items() if reads == "float32"]
    readme = " ".join((TOOLS.parent / "README.md").read_text().split())
    for variant in ("envcore, same loop", "envcore rollout"):
        ratios = [row[variant] / row["gymnax"] for row in speeds]
        low, high, median = min(ratios), max(ratios), statistics.median(ratios)
        assert re.search(f"{low:.0f} to {high:.0f} times( as fast as gymnax's)? \\(median {median:.2g}\\)", readme), (
            variant
        )


def test_the_page_on_planning_has_the_figures_of_the_chart() -> None:
    rows = json.loads((SITE / "data" / "scaling.json").read_text())
    ids = list(dict.fromkeys(row["id"] for row in rows))
    text = (PAGES / "about" / "planning.md").read_text()
    assert f"| environments | {' | '.join(ids)} |" in text
    for number in {row["num_envs"] for row in rows}:
        (cells,) = re.findall(rf"^\| {number:,} \| (.*) \|$", text, re.MULTILINE)
        assert [float(cell) for cell in cells.split(" | ")] == [
            row["speed"] for row in rows if row["num_envs"] == number
        ]


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SITE, "--quick", "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "html" / "environments" / "Breakout-MinAtar.html").read_text()
    for part in (
        "break bricks",
        "<td><p>the paddle</p></td>",
        "sticky_action_prob",
        "MinAtar 1.0.15",
        "What agents earn",
    ):
        assert part.lower() in html.lower(), part
    for tag in ('name="description"', 'property="og:image"', "mark.svg"):
        assert tag in html, tag
    assert "times as fast as gymnax" in (tmp_path / "html" / "index.html").read_text()
    mnist = (tmp_path / "html" / "environments" / "MNISTBandit-bsuite.html").read_text()
    assert "uint8 (60000, 28, 28)" in mnist
    catch = (tmp_path / "html" / "environments" / "Catch-bsuite.html").read_text()
    assert 'class="band greedy"' in catch
    assert 'data-label="envcore"' in (tmp_path / "html" / "howto" / "migrate.html").read_text()
    assert "of one core." in (tmp_path / "html" / "tutorials" / "ppo.html").read_text()
    if BROWSER is None and "CI" not in os.environ:
        return
    assert BROWSER is not None, "CI needs Chromium: see .ci/run"
    assert "environments/Catch-bsuite.html" in _found(tmp_path / "html", "paddle"), "the search works without a server"
    assert _found(tmp_path / "html", "GPU")[0] == "howto/gpu.html"


def _found(site: Path, word: str) -> list[str]:
    """The pages that the search finds in a browser, the best first."""
    assert BROWSER is not None
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    command = [BROWSER, *options, f"{(site / 'search.html').as_uri()}?q={word}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    results = done.stdout.partition('class="search-summary"')[2].partition("</ul>")[0]
    return re.findall(r'href="([^"#?]+)', results)
