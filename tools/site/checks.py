"""What the conformance kit finds in every environment of our suites: `uv run python tools/site/checks.py [ID...]`.

It writes `data/checks.json`: by id, the number of rules that are kept, and why others do not apply. Without ids it
checks all, which takes minutes; MNISTBandit with random images. It fails at the first broken rule.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

import envcore
from envcore.testing import check_rules
from suites import NEEDS_DATA, our_environments, without_downloads

DATA = Path(__file__).with_name("data") / "checks.json"


def main() -> None:
    """Checks the environments, and adds what is found to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    ids = parser.parse_args().ids or [each.spec.id for each in our_environments()]
    found = json.loads(DATA.read_text()) if DATA.exists() else {}
    for env_id in ids:
        with without_downloads() if env_id in NEEDS_DATA else contextlib.nullcontext():
            found[env_id] = check(env_id)
        lines = [f" {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(found.items())]
        DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(env_id, found[env_id], flush=True)


def check(env_id: str) -> dict[str, Any]:
    """The number of "kept" rules, and the "skipped" ones with the reason; exits if one is broken."""
    results = list(check_rules(*envcore.make(env_id)))
    for each in results:
        if each.error is not None:
            sys.exit(f"error: {each.error}")
    skipped = {each.rule: each.skipped for each in results if each.skipped is not None}
    return {"kept": len(results) - len(skipped), "skipped": skipped}


def rows(env_id: str) -> dict[str, str]:
    """The row of an environment's table about the contract; none if it was not checked."""
    found = json.loads(DATA.read_text()).get(env_id)
    if found is None:
        return {}
    kept, skipped = found["kept"], found["skipped"]
    images = ", here with random images," if env_id in NEEDS_DATA else ""
    others = "; do not apply: " + ", ".join(f"{rule} ({why})" for rule, why in skipped.items()) if skipped else ""
    rules = f"{kept} [rules](../reference/testing.md) that apply{others}"
    return {"contract": f"`envcore check {env_id}`{images} keeps all {rules}"}


if __name__ == "__main__":
    main()
