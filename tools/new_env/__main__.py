"""Start a new environment from the template plugins/example, with your names.

    uv run python tools/new_env packages/misc Corridor Corridor-misc      # a module and its test, in a suite
    uv run python tools/new_env ../envcore-corridor Corridor Corridor-v0  # your own suite, in a new folder

The copy works as it is. Replace its rules with yours.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

TEMPLATE = Path(__file__).parents[2] / "plugins" / "example"
_OF_THIS_REPOSITORY = """Now write the rules, and add the environment to:
  {plugin}: EnvSpec(id="{env_id}", entry_point="{package}.{module}:{name}", summary="...", source="...")
  README.md and CHANGELOG.md of the suite, and README.md of the repository
  tests/golden/streams.json: `uv run python tests/support/streams.py`
  tools/site/data/rewards.json: `uv run python tools/site/rewards.py {env_id}`"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=Path, help="folder of a suite, such as packages/misc, or a new folder")
    parser.add_argument("name", help="class name, such as FourRooms")
    parser.add_argument("env_id", help="environment id, such as FourRooms-misc")
    args = parser.parse_args()
    if not re.fullmatch("([A-Z][a-z0-9]+)+", args.name):
        parser.error(f"{args.name!r} is not a class name: write it like FourRooms")
    module = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", args.name).lower()
    if args.suite.exists():
        plugins = sorted(args.suite.glob("src/*/plugin.py"))
        if len(plugins) != 1:
            sys.exit(f"error: {args.suite} is not a suite: it needs one src/PACKAGE/plugin.py")
        package = plugins[0].parent.name
        paths = {
            TEMPLATE / "src/envcore_example/windy_gridworld.py": plugins[0].with_name(f"{module}.py"),
            TEMPLATE / "tests/test_windy_gridworld.py": args.suite / "tests" / f"test_{module}.py",
        }
        if there := [path for path in paths.values() if path.exists()]:
            sys.exit(f"error: {there[0]} exists already: choose another class name")
        for source, path in paths.items():  # leave out the picture, which needs new code
            text = re.split(r"\n+(?:    def render|def test_the_picture)", source.read_text())[0] + "\n"
            path.write_text(renamed(text, args.name, module, args.env_id, package, package.replace("_", "-")))
            print(path)
        names = {"plugin": plugins[0], "env_id": args.env_id, "package": package, "module": module, "name": args.name}
        print(_OF_THIS_REPOSITORY.format(**names))
        return
    distribution = args.suite.resolve().name
    package = distribution.replace("-", "_")
    shutil.copytree(TEMPLATE, args.suite, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache", "dist"))
    for path in [path for path in sorted(args.suite.rglob("*")) if path.is_file()]:
        path.write_text(renamed(path.read_text(), args.name, module, args.env_id, package, distribution))
        path.rename(path.with_name(path.name.replace("windy_gridworld", module)))
    (args.suite / "src" / "envcore_example").rename(args.suite / "src" / package)
    print(f"{args.suite}\nNow write the rules, and install it: pip install {args.suite}")


def renamed(text: str, name: str, module: str, env_id: str, package: str, distribution: str) -> str:
    """Replaces the template's names in a text."""
    for old, new in (
        ("WindyGridworld-v0", env_id),
        ("WindyGridworld", name),
        ("windy_gridworld", module),
        ("envcore_example", package),
        ("envcore-example", distribution),
    ):
        text = text.replace(old, new)
    return text


if __name__ == "__main__":
    main()
