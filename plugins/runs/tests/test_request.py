"""What several processes compare of what they were asked to do."""

from __future__ import annotations

import dataclasses

import hostile_files
import pytest
from envcore_runs import request
from envcore_runs.errors import ProcessError
from envcore_runs.request import Request

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
    assert {"envcore", "envcore-cli", "jax", "jaxlib", "numpy", "flax", "optax"} <= here.versions.keys() | {
        "envcore-cli"
    }
    for name in ("numpy", "flax", "optax"):
        other = dataclasses.replace(here, versions={**here.versions, name: f"{name} 0.1"})
        assert f"process 1 has {name} 0.1, and process 0 {name} " in request.difference([here, other])
    other = dataclasses.replace(here, versions={**here.versions, "jax": "jax 0.1"})
    message = f"process 1 has jax 0.1, and process 0 {here.versions['jax']}: "
    assert request.difference([here, other]) == message + "install the same versions for all processes."
    other = dataclasses.replace(here, settings={**here.settings, "jax_enable_x64": "JAX_ENABLE_X64=True"})
    assert request.difference([here, other]).startswith("process 1 has JAX_ENABLE_X64=True, and process 0 JAX_ENABLE")


def test_what_is_sent_is_read() -> None:
    here = request.described(GIVEN)
    assert Request.of_process(1, here.text()) == here


def test_a_library_that_is_not_installed_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "_LIBRARIES", ("jax", "never-installed"))
    assert "never-installed" not in request.described(GIVEN).versions


@pytest.mark.parametrize("text", ["", "5", '"junk"', "[1, 2]", "{}", "[" * 200_000, '{"given": {"a": 5}}', "9" * 5_000])
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises(ProcessError, match=r"^the request of process 2 cannot be read: ") as caught:
        Request.of_process(2, text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)
def test_any_request(mutations: int) -> None:
    here = request.described(GIVEN)

    def read(content: bytes) -> None:
        message = request.difference([here, Request.of_process(1, content.decode(errors="replace"))])
        assert message.splitlines() == [message] * bool(message)

    hostile_files.check(read, hostile_files.of_json(dataclasses.asdict(here)), mutations)
