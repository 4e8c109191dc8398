"""Checks other libraries' environments, for the site's page of findings.

    uv run python tools/findings pgx/2048 navix/Navix-Empty-5x5-v0
    uv run python tools/findings --shown

The first one checks environments with the conformance kit, and plays each beside its library. The second one runs the
lines that show findings, of the libraries that are installed. Both add what they find, with the versions, to files in
`tools/site/data`: `libraries.json` and `findings.json`. `.ci/run` makes the Python environments of some libraries.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import envcore
import jax
from envcore_bridges.libraries import BY_FAMILY, is_installed
from envcore_testing import ConformanceError, check_lockstep, check_rules
from loops import LOOPS
from shown import FINDINGS

_DATA = Path(__file__).parents[1] / "site" / "data"
_STEPS_OF_THE_KIT = 48
_NOISE = re.compile("Warp |Module |Kernel cache|   ")  # of MuJoCo Warp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="the environments to check")
    parser.add_argument("--shown", action="store_true", help="run the lines that show findings")
    parser.add_argument("--steps", type=int, default=100, help="of the lockstep, two episodes or more (%(default)s)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=JSON", help="an option of make")
    parser.add_argument("--without-kit", action="store_true", help="only play beside the library")
    options = parser.parse_args()
    # Without it, XLA rounds some products and sums together, in two programs not always the same ones.
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_max_isa=AVX"
    chosen = {name: json.loads(value) for name, _, value in (each.partition("=") for each in options.option)}
    for env_id in options.ids:
        family = env_id.partition("/")[0]
        row: dict[str, Any] = {"versions": versions(family), "options": chosen}
        env, params = envcore.make(env_id, **chosen)
        row["lockstep"] = lockstep(family, env, params, options.steps)
        if not options.without_kit:
            row |= rules(env, params)
        add(_DATA / "libraries.json", {env_id: row})
        print(env_id, row, flush=True)
    for finding in FINDINGS if options.shown else ():
        if is_installed(finding.family):
            row = {**finding._asdict(), "versions": versions(finding.family), "output": output_of(finding.code)}
            add(_DATA / "findings.json", {", ".join(finding.ids): row})
            print(finding.ids, row["output"], flush=True)


def lockstep(family: str, env: Any, params: Any, num_steps: int) -> dict[str, Any]:
    """The number of steps, and of episodes that ended or the first difference; {} for a library without a loop here."""
    if family not in LOOPS:
        return {}
    loop = LOOPS[family](env.library_env)
    if not loop.own_limit:
        params = params.replace(max_steps_in_episode=min(num_steps * 2 // 5, int(params.max_steps_in_episode)))
    try:
        ended = check_lockstep(env, loop.reset, loop.step, params=params, num_steps=num_steps)
    except ConformanceError as error:
        return {"steps": num_steps, "difference": _line(error)}
    return {"steps": num_steps, "ended": ended}


def rules(env: Any, params: Any) -> dict[str, Any]:
    """The number of the kit's rules that are "kept", and by name the first problem of those that are "broken"."""
    results = list(check_rules(env, params, num_steps=_STEPS_OF_THE_KIT))
    broken = {each.rule: _line(each.breaches[0].problem) for each in results if each.error is not None}
    skipped = sum(each.skipped is not None for each in results)
    return {"kept": len(results) - skipped - len(broken), "broken": broken}


def output_of(code: str) -> str:
    """What these lines print; exits if they fail."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: these lines fail:\n{code}\n{done.stderr}")
    return "\n".join(line for line in done.stdout.splitlines() if not _NOISE.match(line))


def versions(family: str) -> dict[str, str]:
    """The versions of a library and of JAX."""
    distribution = importlib.metadata.packages_distributions()[BY_FAMILY[family].module][0]
    return {family: importlib.metadata.version(distribution), "jax": jax.__version__}


def add(path: Path, rows: Mapping[str, Any]) -> None:
    """Adds rows to a file of JSON, a line each, sorted."""
    found = {**(json.loads(path.read_text()) if path.exists() else {}), **rows}
    lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(found.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _line(problem: object) -> str:
    return " ".join(str(problem).split())[:300]


if __name__ == "__main__":
    main()
