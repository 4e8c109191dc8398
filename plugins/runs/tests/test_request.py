"""What several processes compare of what they were asked to do."""

from __future__ import annotations

import pytest
from envcore_runs import request

GIVEN = {"command": "walk", "env_id": "A", "--seed": "--seed 0"}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({**GIVEN, "env_id": "B"}, "B, and process 0 A"),
        ({**GIVEN, "--seed": "--seed 1"}, "--seed 1, and process 0 --seed 0"),
        ({**GIVEN, "--steps": "--steps 5"}, "--steps 5, and process 0 no --steps"),
        ({"command": "walk", "env_id": "A"}, "no --seed, and process 0 --seed 0"),
    ],
)
def test_a_difference_is_named(other: dict[str, str], message: str) -> None:
    found = [request.described(given) for given in (GIVEN, GIVEN, other)]
    assert request.difference(found[:2]) == ""
    assert request.difference(found) == f"process 2 was given {message}: give all processes the same command."


def test_versions_and_settings_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    here = request.described(GIVEN)
    assert {"envcore", "envcore-cli", "jax", "jaxlib"} <= here["versions"].keys() | {"envcore-cli"}
    other = {**here, "versions": {**here["versions"], "jax": "jax 0.1"}}
    message = f"process 1 has jax 0.1, and process 0 {here['versions']['jax']}: "
    assert request.difference([here, other]) == message + "install the same versions for all processes."
    other = {**here, "settings": {**here["settings"], "jax_enable_x64": "JAX_ENABLE_X64=True"}}
    assert request.difference([here, other]).startswith("process 1 has JAX_ENABLE_X64=True, and process 0 JAX_ENABLE")
