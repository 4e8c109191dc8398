"""Build all distributions into `dist`, and test each wheel in a separate virtual environment.

    uv run python tools/check_wheels [NAME...]

Each wheel is installed with our wheels that it depends on, and third-party versions from uv.lock. Then the package must
import, and its environments must start, except bridged ones, families of settings and those that download data. Prints
one line per distribution. The exit status is 1 if any of them fails.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
_EXTRAS = {"envcore-adapters": "[brax,dm-env,gymnasium]"}
_WITHOUT_LIBRARY = ("envcore-bridges",)
_NEEDS_DATA = ("MNISTBandit-bsuite",)
_SMOKE = f"""
import importlib, os, sys
os.environ["ENVCORE_STRICT_PLUGINS"] = "1"
name, package = sys.argv[1:]
importlib.import_module(package)
import envcore, jax
ids = {{each.spec.id for each in envcore.registry.values() if each.distribution == name and not each.spec.family}}
ids -= {{*{_NEEDS_DATA}}}
for env_id in ids:
    env, params = envcore.make(env_id)
    env.reset(jax.random.key(0), params)
print(f"imports {{package}}" + (f", starts {{len(ids)}} environments" if ids else ""))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="distributions (default: all)")
    names = parser.parse_args().names
    dist = ROOT / "dist"
    run("uv", "build", "--quiet", "--all-packages", "--clear", "--out-dir", dist)
    wheels = {path.name.partition("-")[0].replace("_", "-"): path for path in sorted(dist.glob("*.whl"))}
    if unknown := set(names) - set(wheels):
        parser.error(f"there is no distribution {min(unknown)}")
    failures = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:
        lock = Path(scratch) / "constraints.txt"
        run("uv", "export", "--frozen", "--no-dev", "--no-hashes", "--no-emit-workspace", "--quiet", "-o", lock)
        for name, (is_good, found) in zip(
            names or wheels, pool.map(lambda name: tried(name, wheels[name], lock), names or wheels), strict=True
        ):
            print(f"{'ok' if is_good else 'FAIL':<5} {name:<26} {found}", flush=True)
            failures += not is_good
    if failures:
        sys.exit(f"error: distributions that failed: {failures}")


def tried(name: str, wheel: Path, lock: Path) -> tuple[bool, str]:
    """Tests a wheel in a new virtual environment. Returns whether it works, and its output or error."""
    package, venv = name.replace("-", "_"), lock.with_name(name)
    missing = {f"{package}/py.typed"} - {*zipfile.ZipFile(wheel).namelist()}
    if missing:
        return False, f"the wheel has no {missing.pop()}"
    fresh = [f"--refresh-package={path.name.partition('-')[0]}" for path in wheel.parent.glob("*.whl")]
    options = ("--constraints", lock, "--find-links", wheel.parent, *fresh)
    try:
        run("uv", "venv", "--quiet", "--python", sys.executable, venv)
        python = venv / "bin" / "python"
        run("uv", "pip", "install", "--quiet", "--python", python, *options, f"{wheel}{_EXTRAS.get(name, '')}")
        if name in _WITHOUT_LIBRARY:
            return True, "installs"
        return True, run(python, "-I", "-c", _SMOKE, name, package)
    except subprocess.CalledProcessError as error:
        return False, (error.stderr.strip().splitlines() or ["it fails without a message"])[-1]


def run(*command: str | Path) -> str:
    """Runs a command and returns its output.

    Raises:
      subprocess.CalledProcessError: the command fails.
    """
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
