"""The suite's announcements, and that each environment keeps envcore's contract."""

from __future__ import annotations

import envcore
import pytest
from envcore_example.plugin import envcore_env_specs
from envcore_testing import check_env

IDS = [spec.id for spec in envcore_env_specs()]


def test_the_installed_suite_is_announced() -> None:
    announced = {each.spec.id for each in envcore.registry.values() if each.distribution == "envcore-example"}
    assert announced == set(IDS)


@pytest.mark.parametrize("env_id", IDS)
def test_conforms(env_id: str) -> None:
    env, params = envcore.make(f"envcore-example:{env_id}")
    check_env(env, params)
