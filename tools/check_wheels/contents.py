"""Required and forbidden contents of wheels."""

from __future__ import annotations

import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath


def content_problems(wheel: Path, package: str, announces: bool) -> list[str]:
    """Returns the problems of a wheel's contents, without installing it."""
    with zipfile.ZipFile(wheel) as archive:
        names = [PurePosixPath(name) for name in archive.namelist()]
        texts = {name.name: archive.read(str(name)).decode() for name in names if name.match("*.dist-info/*")}
    problems: list[str] = []
    if PurePosixPath(package, "py.typed") not in names:
        problems.append(f"the wheel has no {package}/py.typed")
    if not any(name.name == "LICENSE" for name in names):
        problems.append("the wheel has no LICENSE")
    if announces and "[envcore.plugins]" not in texts.get("entry_points.txt", ""):
        problems.append("the wheel has no entry point in the group envcore.plugins")
    if not str(Parser().parsestr(texts["METADATA"]).get_payload()).strip():
        problems.append("the wheel has no README")
    strays = sorted({name.parts[0] for name in names} - {package})
    problems += [f"the wheel installs {stray}" for stray in strays if not stray.endswith(".dist-info")]
    problems += [f"the wheel contains {name}" for name in names if "tests" in name.parts or name.match("test_*.py")]
    return problems
