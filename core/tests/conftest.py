"""Fixtures: a site-packages folder with chosen plugins, and a registry that contains only these."""

from __future__ import annotations

from pathlib import Path

import pytest
from envcore.registration import Registry
from fake_site import FakeSite


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    return FakeSite(tmp_path, monkeypatch)


@pytest.fixture
def registry(site: FakeSite) -> Registry:
    return Registry()
