"""How things are split over devices."""

from __future__ import annotations

import jax
import pytest
from envcore.errors import EnvcoreError
from envcore_runs import placement


def test_things_are_split_over_as_many_devices_as_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [placement.sharding("--num-envs", count).mesh.size for count in (1, 2, 3, 4)] == [1, 2, 1, 2]
    assert placement.sharding("--num-envs", 4, devices=1).mesh.size == 1
    monkeypatch.setattr(jax, "process_count", lambda: 3)
    with pytest.raises(EnvcoreError, match="--num-envs must be a multiple of the number of processes, 3, got 4"):
        placement.sharding("--num-envs", 4)
