from __future__ import annotations

import classic_lockstep as lockstep
import envcore
import gymnasium
import pytest
from envcore_classic_control.plugin import envcore_env_specs
from envcore_testing import check_env

IDS = [spec.id for spec in envcore_env_specs()]


def test_ids_are_gymnasiums() -> None:
    assert set(IDS) == {task.id for task in lockstep.TASKS}
    assert set(IDS) <= set(gymnasium.registry)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_environments_keep_the_contract(env_id: str) -> None:
    check_env(*envcore.make(env_id))
