"""The documentation: its generators, its code, and a build without warnings."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import envcore
import pytest
from envcore import spaces, typing
from envcore_testing.kit import RULES
from tool_modules import TOOLS, load_tool

SITE = TOOLS / "site"
PAGES = SITE / "pages"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def docstrings() -> Any:
    return load_tool("site/docstrings.py")


class Goal:
    place: Annotated[typing.ArrayParam, "int32 (2,)"] | None


@pytest.fixture(scope="module")
def tables() -> Any:
    return load_tool("site/tables.py")


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


def test_the_chart_of_the_readme_is_that_of_the_figures(site: Any) -> None:
    chart = site("performance").readme_chart()
    assert (TOOLS.parent / ".github" / "speed.svg").read_text() == chart


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


def test_histories_are_of_environments_and_of_versions_in_their_change_logs(site: Any) -> None:
    found = {each.spec.id: each for each in site("suites").our_environments()}
    for env_id, history in json.loads((SITE / "data" / "history.json").read_text()).items():
        suite = found[env_id].distribution.removeprefix("envcore-")
        log = (TOOLS.parent / "packages" / suite / "CHANGELOG.md").read_text()
        assert all(f"## {version} (" in log for version in history.get("changes", {})), env_id
        assert site("history").section(found[env_id])


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


def test_the_home_page_has_the_number_of_the_readme(site: Any) -> None:
    headline = site("performance").headline()
    median, low, high = re.findall(r"[\d.]+(?= times| to)|(?<=to )\d+", headline)
    readme = " ".join((TOOLS.parent / "README.md").read_text().split())
    assert re.search(f"{low} to {high} times( as fast as gymnax's)? \\(median {median}\\)", readme)


def test_every_tutorial_was_timed() -> None:
    times = load_tool("site/times.py")
    taken = json.loads(times.DATA.read_text())
    assert {name: len(each) for name, each in taken.items()} == {
        name: len(cells) for name, cells in times.tutorials().items()
    }


def test_the_readme_has_the_ratios_of_the_figures(site: Any) -> None:
    speeds = site("performance")._beside_gymnax().values()
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
    assert "greedy, while it learns" in catch
    assert 'data-label="envcore"' in (tmp_path / "html" / "howto" / "migrate.html").read_text()
    assert "of one core." in (tmp_path / "html" / "tutorials" / "ppo.html").read_text()
    if BROWSER is None:
        return
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
