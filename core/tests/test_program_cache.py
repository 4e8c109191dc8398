"""Programs that are stored on disk, and loaded by the next process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jax
import pytest
from envcore import program_cache
from envcore.errors import InvalidArgumentError
from envcore.program_cache import SOUND_SINCE, fingerprint, keep_programs

PROGRAM = """
import sys
import jax
from envcore.program_cache import keep_programs
from envcore.rollout import random_policy, run_rollout, start_rollout
from toy import Spring

events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event.rpartition("/")[2]))
keep_programs(sys.argv[1])
env = Spring()
start = start_rollout(env, jax.random.key(0))
_, steps = jax.jit(lambda start: run_rollout(env, random_policy(env), start, 50))(start)
print(events.count("cache_misses"), events.count("cache_hits"), steps.reward.sum(), steps.obs.sum())
"""


@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    def run() -> tuple[int, int, str]:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / "new" / "programs")]
        where = Path(__file__).parent
        out = subprocess.run(command, cwd=where, capture_output=True, text=True, check=True).stdout
        misses, hits, result = out.split(" ", 2)
        return int(misses), int(hits), result

    first, second = run(), run()
    assert first[0] > 0
    assert second[0] == 0 < second[1]
    assert second[2] == first[2]
    (folder,) = (tmp_path / "new" / "programs").iterdir()
    assert folder.name == fingerprint()


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_cache, "SOUND_SINCE", (0, 0))
    (tmp_path / "file").touch()
    with pytest.raises(InvalidArgumentError, match=r"cannot make the folder .*file.*: Not a directory"):
        keep_programs(tmp_path / "file")
    monkeypatch.setattr(program_cache, "SOUND_SINCE", (99, 0))
    with pytest.raises(InvalidArgumentError, match=r"stored programs need JAX 0\.10 or newer, this is "):
        keep_programs(tmp_path)
    assert not (tmp_path / fingerprint()).exists()
