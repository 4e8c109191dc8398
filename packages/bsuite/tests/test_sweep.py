"""The sweep equals the original's, as recorded and in the package itself."""

from __future__ import annotations

import json

from bsuite import sweep as original
from envcore_bsuite import sweep
from golden import FOLDER


def test_is_the_recorded_one() -> None:
    recorded = json.loads((FOLDER / "bsuite_sweep.json").read_text())
    ours = {
        bsuite_id: {
            "kwargs": dict(sweep.SETTINGS[bsuite_id]),
            "num_episodes": sweep.EPISODES[bsuite_id],
            "tags": sorted(tag for tag, ids in sweep.TAGS.items() if bsuite_id in ids),
        }
        for bsuite_id in sweep.SWEEP
    }
    assert ours == {bsuite_id: {**entry, "tags": sorted(entry["tags"])} for bsuite_id, entry in recorded.items()}


def test_is_the_packages_in_its_order() -> None:
    assert original.SWEEP == sweep.SWEEP
    assert len(sweep.SWEEP) == 468
    assert [(name, dict(setting)) for name, setting in original.SETTINGS.items()] == [
        (name, dict(setting)) for name, setting in sweep.SETTINGS.items()
    ]
    assert list(original.EPISODES.items()) == list(sweep.EPISODES.items())
    assert original.TESTING == sweep.TESTING
    assert {tag: tuple(ids) for tag, ids in original.TAGS.items()} == dict(sweep.TAGS)
