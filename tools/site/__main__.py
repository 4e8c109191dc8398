"""Builds the documentation: `uv run python tools/site`, then open build/site/html/index.html.

The pages in `tools/site/pages` are text. What the code knows is generated from it: a page for each environment, the
figures of the performance page, the reference. Tests execute the tutorials. `--execute` does too, and shows what they
print. Notebooks of envcore-baselines have their outputs. An error in a tutorial, or any warning, fails the build.
Outputs and the WebAssembly of playable environments are kept in build/site for the next build.
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
import history
import performance
import playable

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_EXAMPLES = "plugins/baselines/examples"
_PART = re.compile("<!-- (.+) -->")
_PLAYER = re.compile("<!-- play (.+) -->")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=_ROOT / "build" / "site", help="folder for everything that is made")
    parser.add_argument("--execute", action="store_true", help="execute the tutorials that have changed")
    parser.add_argument("--quick", action="store_true", help="make no environment playable")
    parser.add_argument("--links", action="store_true", help="also check the links to other sites")
    options = parser.parse_args()
    out: Path = options.out.resolve()
    source = out / "source"
    modules = out / "play"
    if not options.quick:
        playable.make(modules)
    write_sources(source, modules)
    build("html", source, out, options.execute)
    if modules.exists():
        shutil.copytree(modules, out / "html" / "play", dirs_exist_ok=True)
    if options.links:
        build("linkcheck", source, out, options.execute)
    print(out / "html" / "index.html")


def write_sources(source: Path, modules: Path) -> None:
    """Writes the folder that Sphinx reads: the pages, with generated parts in the places of their comments."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(_HERE / "pages", source)
    shutil.copy(_ROOT / ".github" / "environments.webp", source)
    shutil.copy(_ROOT / "core" / "CHANGELOG.md", source / "about" / "core.txt")
    for notebook in (_ROOT / _EXAMPLES).glob("*.ipynb"):
        shutil.copy(notebook, source / "tutorials")
    shutil.copytree(_HERE / "data" / "pictures", source / "pictures")
    parts = performance.parts() | fidelity.parts() | {"histories": history.table()}
    parts["picture"] = ["![24 environments, played by trained agents](environments.webp)"]
    for page in source.rglob("*.md"):
        text = _PLAYER.sub(lambda match: "\n".join(playable.lines(match[1], ".", modules)), page.read_text())
        text = _PART.sub(lambda match: "\n".join(parts[match[1]]), text)
        # Links to the notebooks hold in the repository; here the notebooks are beside the page.
        page.write_text(text.replace(f"../../../../{_EXAMPLES}/", ""))
    environments.write_pages(source / "environments", modules)


def build(builder: str, source: Path, out: Path, executes: bool) -> None:
    """Runs Sphinx; exits if it fails or warns."""
    settings = {**os.environ, "ENVCORE_SITE_NOTEBOOKS": "cache" if executes else "off"}
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-b", builder]
    folders = ["-c", _HERE, "-d", out / "doctrees", source, out / builder]
    done = subprocess.run([*command, *folders], env=settings, check=False)
    if done.returncode:
        sys.exit(f"error: Sphinx's {builder} failed, see above")


if __name__ == "__main__":
    main()
