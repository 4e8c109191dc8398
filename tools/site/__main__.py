"""Builds the documentation: `uv run python tools/site`, then open build/site/html/index.html.

The pages in `tools/site/pages` are text. What the code knows is generated from it: a page an environment, the figures
of the performance page, the reference. Notebooks are executed, and an error in one of them, or any warning, fails the
build. Results of notebooks and pictures are kept in build/site for the next build.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import environments
import fidelity
import frames
import history
import performance
import pictures
import suites

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_EXAMPLES = "plugins/baselines/examples"
_NOTEBOOKS = ("getting_started", "mountain_car", "anakin", "evolution", "meta_rl", "planning", "gradient")
_PICTURE = "![24 environments, played by trained agents](environments.webp)"
_INCLUDE = re.compile("<!-- the rest of (\\S+) after (.*) -->")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=_ROOT / "build" / "site", help="folder for everything that is made")
    parser.add_argument("--quick", action="store_true", help="execute no notebook and make no picture")
    parser.add_argument("--links", action="store_true", help="also check the links to other sites")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    source = out / "source"
    write_sources(source, None if options.quick else out / "pictures")
    build("html", source, out, options.quick)
    if options.links:
        build("linkcheck", source, out, options.quick)
    print(out / "html" / "index.html")


def write_sources(source: Path, made_pictures: Path | None) -> None:
    """Writes the folder that Sphinx reads: the pages, and what is generated."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(_HERE / "pages", source)
    for page in source.rglob("*.md"):
        text = _INCLUDE.sub(lambda match: _rest_of(_ROOT / match[1], match[2]), page.read_text())
        # Links to the notebooks hold in the repository; here the notebooks are beside the page.
        text = text.replace("<!-- picture -->", _PICTURE).replace("<!-- number -->", performance.headline())
        page.write_text(text.replace(f"../../../../{_EXAMPLES}/", ""))
    shutil.copy(_ROOT / ".github" / "environments.webp", source)
    for name in _NOTEBOOKS:
        shutil.copy(_ROOT / _EXAMPLES / f"{name}.ipynb", source / "tutorials")
    if made_pictures is not None:
        pictures.make(made_pictures)
        frames.make(made_pictures)
        shutil.copytree(made_pictures, source / "pictures", dirs_exist_ok=True)
    environments.write_pages(source / "environments", made_pictures)
    about, texts = source / "about", _HERE / "pages" / "about"
    performance.write_page(about / "performance.md", texts / "performance.md")
    fidelity.write_page(about / "fidelity.md", texts / "fidelity.md", made_pictures)
    history.write_page(about / "versions.md", texts / "versions.md", suites.our_environments())


def _rest_of(path: Path, heading: str) -> str:
    """What follows a heading in a file of the repository."""
    return f"\n{path.read_text()}".partition(f"\n{heading}\n")[2] or sys.exit(f"error: {path} has no line {heading!r}")


def build(builder: str, source: Path, out: Path, is_quick: bool) -> None:
    """Runs Sphinx; exits if it fails or warns."""
    settings = {**os.environ, "ENVCORE_SITE_NOTEBOOKS": "off" if is_quick else "cache"}
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", builder]
    folders = ["-c", _HERE, "-d", out / "doctrees", source, out / builder]
    done = subprocess.run([*command, *folders], env=settings, check=False)
    if done.returncode:
        sys.exit(f"error: Sphinx's {builder} failed, see above")


if __name__ == "__main__":
    main()
