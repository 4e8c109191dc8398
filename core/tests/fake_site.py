"""A site-packages folder that contains only the plugins that a test writes into it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

SPEC_ROW = "EnvSpec(id={id!r}, entry_point='toy:Counter')"


class FakeSite:
    """Writes distributions (metadata and one module each) into a folder that is the only entry of `sys.path`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder = folder
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(sys, "path", [str(folder)])
        for name in ("DISABLE_PLUGINS", "STRICT_PLUGINS"):
            monkeypatch.delenv(f"ENVCORE_{name}", raising=False)

    def add(
        self,
        distribution: str,
        code: str = "",
        *,
        metadata: str | bytes | None = None,
        requires: str = "envcore",
        entry_points: str | None = None,
    ) -> str:
        """Adds a distribution whose plugin module holds `code`, and returns the module's name.

        `entry_points` are the lines of the group.
        """
        module = f"{distribution.replace('-', '_').lower()}_plugin"
        if metadata is None:
            metadata = f"{metadata_of(distribution)}Requires-Dist: {requires}\n"
        info = f"{distribution.replace('-', '_')}-1.2.dist-info"
        self.add_metadata(info, metadata, f"[envcore.plugins]\n{entry_points or f'main = {module}'}\n")
        (self.folder / f"{module}.py").write_text(dedent(code))
        self._monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()
        return module

    def add_metadata(self, info: str, metadata: str | bytes, entry_points: str | bytes = "") -> Path:
        """Adds a metadata folder without a module, writes the files that are not empty, and returns the folder."""
        folder = self.folder / info
        folder.mkdir(exist_ok=True)
        for name, content in (("METADATA", metadata), ("entry_points.txt", entry_points)):
            if content:
                (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    def add_suite(self, distribution: str, *ids: str, **kwargs: Any) -> str:
        """Adds a distribution with a good plugin that announces `ids`."""
        return self.add(distribution, announcing(*ids), **kwargs)


def metadata_of(distribution: str, version: str = "1.2") -> str:
    """The text of a METADATA file."""
    return f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"


def announcing(*ids: str) -> str:
    """The code of a plugin module that announces `ids`."""
    rows = ", ".join(SPEC_ROW.format(id=each) for each in ids)
    return hook(f"return [{rows}]")


def hook(body: str, signature: str = "envcore_env_specs()") -> str:
    """The code of a plugin module with one hook."""
    imports = "from envcore.plugins import hookimpl\nfrom envcore.specs import EnvSpec\n"
    return f"{imports}\n@hookimpl\ndef {signature}:\n    {body}\n"
