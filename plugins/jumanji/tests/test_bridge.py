from __future__ import annotations

from typing import Any

import envcore
import jax
import pytest
from envcore.testing import Case, check_lockstep, conformance_cases
from envcore_jumanji import from_jumanji
from envcore_jumanji.plugin import ENVIRONMENTS


def test_the_library_lists_what_is_announced() -> None:
    announced = {spec.spec.id for spec in envcore.registry.values() if spec.spec.family == "jumanji"}
    assert announced == {f"jumanji/{name}" for name in ENVIRONMENTS}
    # TODO: compare ENVIRONMENTS with the library's own list


@pytest.mark.parametrize("case", conformance_cases(from_jumanji("TODO")), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_it_plays_as_the_library_does(name: str) -> None:
    env, _ = envcore.make(f"jumanji/{name}")
    theirs: Any = env.unwrapped

    def reset(key: jax.Array) -> tuple[Any, Any]:
        raise NotImplementedError(theirs, "TODO: the library's own reset, as (state, obs)")

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        raise NotImplementedError("TODO: the library's own step, as (state, obs, reward, terminated)")

    assert check_lockstep(env, reset, step) > 0
