"""A site-packages folder that holds nothing but the plugins that a test writes into it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from textwrap import dedent

import pytest

SPEC_ROW = "EnvSpec(id={id!r}, entry_point='toy:Counter')"


class FakeSite:
    """Writes distributions (metadata and one module each) into a folder that is all of `sys.path`."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder = folder
        self._monkeypatch = monkeypatch
        monkeypatch.setattr(sys, "path", [str(folder)])
        for variable in ("ENVCORE_DISABLE_PLUGINS", "ENVCORE_PLUGIN_AUTOLOAD", "ENVCORE_STRICT_PLUGINS"):
            monkeypatch.delenv(variable, raising=False)

    def add(
        self,
        distribution: str,
        code: str = "",
        *,
        metadata: str | None = None,
        requires: str = "envcore",
        entry_points: str | None = None,
    ) -> str:
        """Adds a distribution whose plugin module holds `code`, and returns the module's name."""
        module = f"{distribution.replace('-', '_').lower()}_plugin"
        if metadata is None:
            metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\nRequires-Dist: {requires}\n"
        info = self.folder / f"{distribution.replace('-', '_')}-1.2.dist-info"
        info.mkdir()
        if metadata:
            (info / "METADATA").write_text(metadata)
        (info / "entry_points.txt").write_text(f"[envcore.plugins]\n{entry_points or f'main = {module}'}\n")
        (self.folder / f"{module}.py").write_text(dedent(code))
        self._monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()
        return module

    def add_suite(self, distribution: str, *ids: str, **kwargs: str) -> str:
        """Adds a distribution that announces `ids`, as a good plugin does."""
        return self.add(distribution, announcing(*ids), **kwargs)


def announcing(*ids: str) -> str:
    """The code of a plugin module that announces `ids`."""
    rows = ", ".join(SPEC_ROW.format(id=each) for each in ids)
    return hook(f"return [{rows}]")


def hook(body: str, signature: str = "envcore_env_specs()") -> str:
    """The code of a plugin module with one hook."""
    imports = "from envcore.plugins import hookimpl\nfrom envcore.specs import EnvSpec\n"
    return f"{imports}\n@hookimpl\ndef {signature}:\n    {body}\n"
