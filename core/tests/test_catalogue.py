"""Finding registrations: by id and by family."""

from __future__ import annotations

import random
import time

import pytest
from envcore.catalogue import Catalogue, Registration
from envcore.specs import EnvSpec
from envcore.suggestions import nearest


def catalogue(*ids: str, family: str = "") -> Catalogue:
    return Catalogue(Registration("good-suite", EnvSpec(each, "toy:Counter", family=family)) for each in ids)


def in_order(*ids: str) -> list[str]:
    return [each.spec.id for each in catalogue(*ids).families[""]]


def test_ids_are_found_whoever_announces_them() -> None:
    rows = [Registration(name, EnvSpec(each, "toy:Counter")) for name, each in (("b", "X"), ("a", "X"), ("a", "Y"))]
    assert Catalogue(rows).named("X") == [rows[1], rows[0]]
    assert Catalogue(rows).named("x") == []


@pytest.mark.parametrize(
    "ids",
    [
        ["A-v0", "a-v1", "B-v0", "b-v0"],
        ["sea/0", "sea/1", "sea/2", "sea/9", "sea/10", "sea/11", "sea/20", "sea/100"],
        ["sea/2/10", "sea/10/2", "sea/10/10", "sea_10/1"],
        ["a", "a01", "a1", "a1b", "a2", "a010", "a10", "a11", "ab"],
        ["a0", "a00", "a000", "a1"],
        ["a7", "a" + 4_999 * "9", "a1" + 4_999 * "0", "a1" + 5_000 * "0"],  # longer than int() reads
    ],
)
def test_order_is_alphabetical_and_that_of_numbers(ids: list[str]) -> None:
    shuffled = random.Random(0).sample(ids, len(ids))
    assert in_order(*shuffled) == ids


def test_families_in_one_pass() -> None:
    rows = [EnvSpec(f"{name}/{n}", "toy:Counter", family=name) for n in (10, 9) for name in ("b", "a/b")]
    families = Catalogue(Registration("good-suite", spec) for spec in [*rows, EnvSpec("c", "toy:Counter")]).families
    assert list(families) == ["", "a/b", "b"]
    assert [each.spec.id for each in families["a/b"]] == ["a/b/9", "a/b/10"]
    assert [each.spec.id for each in families[""]] == ["c"]
    assert Catalogue(()).families == {"": ()}


def test_a_hundred_thousand_ids_are_searched_and_sorted_faster_than_they_are_announced() -> None:
    start = time.process_time()
    specs = [EnvSpec(f"Zoo{n % 977}-Task{n}-v{n % 5}", "toy:Counter", summary="A task.") for n in range(100_000)]
    rows = [Registration("good-suite", spec) for spec in specs]
    announced = time.process_time() - start

    start = time.process_time()
    found = Catalogue(rows)
    assert nearest("Zoo12-Taks12-v2", found.ids)[0] == "Zoo12-Task12-v2"
    searched = time.process_time() - start
    assert searched < announced  # it was six times that, and is a third

    start = time.process_time()
    assert len(found.families[""]) == 100_000
    ordered = time.process_time() - start
    assert ordered < announced

    start = time.process_time()
    for _ in range(100):
        assert len(found.families[""]) == len(found.named("Zoo12-Task12-v2")) * 100_000
    assert time.process_time() - start < announced / 100
