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
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import envcore
import pytest
from envcore import typing
from envcore_testing.kit import RULES
from tool_modules import TOOLS, load_tool

SITE = TOOLS / "site"
PAGES = SITE / "pages"
_CODE = re.compile(r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WITH_CODE = sorted(page for page in PAGES.rglob("*.md") if _CODE.search(page.read_text()))


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
    ("lines", "expected"),
    [
        (["`a` and `b`s, 2 * 3"], [r"``a`` and ``b``\ s, 2 \* 3"]),
        (["`f(*args)`"], ["``f(*args)``"]),
        (["So:", "", "    make(`x`)"], ["So:", "", "::", "", "    make(`x`)"]),
        (
            ["Returns:", "  obs: the `x`,", "    again.", "  state: it."],
            ["", "**Returns**", "", "- **obs**: the ``x``,", "  again.", "- **state**: it."],
        ),
        (["Returns:", "  The state."], ["Returns:", "  The state."]),
    ],
)
def test_docstrings_become_restructured_text(docstrings: Any, lines: list[str], expected: list[str]) -> None:
    assert docstrings.restructured(lines) == expected


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


def test_bars_are_as_long_as_their_logarithms() -> None:
    charts = load_tool("site/charts.py")
    svg = charts.bars([("a", [(10.0, "10", "peer"), (100.0, "100", "ours")]), ("<b>", [(1.0, "", "ours")])], "speed")
    ten, hundred, one = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert hundred - ten == pytest.approx(ten - one, abs=0.1)
    assert one > 0
    assert "&lt;b&gt;" in svg


def test_linear_bars_are_as_long_as_their_numbers() -> None:
    svg = load_tool("site/charts.py").bars([("a", [(1.0, "", "peer"), (1.5, "", "ours")])], "", is_logarithmic=False)
    one, more = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert more == pytest.approx(1.5 * one, abs=0.1)


def test_a_curve_goes_from_its_first_to_its_last_point() -> None:
    charts = load_tool("site/charts.py")
    svg = charts.curve([0, 50, 100], [0, 5, 10], [-1, 4, 9], [1, 6, 11], "returns", level=10)
    (line,) = re.findall(r'<polyline [^>]*points="([^"]*)"', svg)
    points = [tuple(map(float, point.split(","))) for point in line.split()]
    (x0, y0), (x1, y1), (x2, y2) = points
    assert (x1, y1) == (pytest.approx((x0 + x2) / 2, abs=0.1), pytest.approx((y0 + y2) / 2, abs=0.1))
    assert y2 < y0
    (level,) = re.findall(r'class="level" [^>]*y1="([\d.]+)"', svg)
    assert float(level) == y2


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
    lines = [f"{step},{step},0,{step},{step + 2}" for step in range(1, 101)]
    found = curves.thinned("\n".join(["steps,mean,std,seed_0,seed_1", "0,,,,1", *lines]))
    assert found["steps"] == list(range(2, 101, 2))
    assert found["low"][0] == 1.5
    assert found["mean"][0] == 2.5
    assert found["high"][-1] == 101.5


def test_every_curve_is_that_of_the_best_return(curves: Any) -> None:
    returns = json.loads((SITE / "data" / "returns.json").read_text())
    kept = {path.stem: json.loads(path.read_text()) for path in curves.FOLDER.glob("*.json")}
    assert len(kept) > 5
    for env_id, curve in kept.items():
        assert curve["algorithm"] == returns[env_id]["algorithm"], env_id
        assert all(
            low <= mean <= high for low, mean, high in zip(curve["low"], curve["mean"], curve["high"], strict=True)
        )
    assert "curve.png" in " ".join(curves.section("Walk-v0", "envcore train ppo Walk-v0", None))


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


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    links = load_tool("site/links.py")
    (tmp_path / "a.html").write_text('<a id="top" href="b.html#there"></a><a href="https://example.org/x">')
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="#gone"></a><img src="no.png"><a href="a.html#top">')
    assert list(links.broken(tmp_path)) == ["b.html: #gone", "b.html: no.png"]


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
    assert "Catch-bsuite, 16,384 environments" in page
    assert "4 cores, 1.80x" in page


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
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    program = tmp_path / "page.py"
    program.write_text("\n".join(_CODE.findall(page.read_text())))
    settings = {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SITE, "--quick", "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "html" / "environments" / "Breakout-MinAtar.html").read_text()
    for part in ("break bricks", "brick", "sticky_action_prob", "MinAtar 1.0.15", "What agents earn"):
        assert part.lower() in html.lower(), part
    mnist = (tmp_path / "html" / "environments" / "MNISTBandit-bsuite.html").read_text()
    assert "uint8 (60000, 28, 28)" in mnist
    catch = (tmp_path / "html" / "environments" / "Catch-bsuite.html").read_text()
    assert 'class="band"' in catch
    if BROWSER is None and "CI" not in os.environ:
        return
    assert BROWSER is not None, "CI needs Chromium: see .ci/run"
    search = (tmp_path / "html" / "search.html").as_uri() + "?q=paddle"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    found = subprocess.run([BROWSER, *options, search], capture_output=True, text=True, check=True, timeout=120)
    assert 'href="environments/Catch-bsuite.html' in found.stdout, "the search works without a server"
