from __future__ import annotations

import random
import string

import pytest
from envcore.spelling import hint, nearest, unknown_param

WORDS = ["Breakout-MinAtar", "SpaceInvaders-MinAtar", "CartPole-v1", "MountainCarContinuous-v0", "MNISTBandit-bsuite"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Brekout-MinAtar", 0),
        ("breakout-minatar", 0),
        ("Breakout-v5", 0),
        ("SpaceInvader-MinAtar", 1),
        ("Space-Invaders-MinAtar", 1),
        ("CratPole-v1", 2),
        ("CartPole", 2),
        ("MountainCarContinous-v0", 3),
        ("MnistBandit", 4),
    ],
)
@pytest.mark.parametrize("others", [0, 10_000])
def test_the_nearest_is_among_the_suggestions(typed: str, meant: int, others: int) -> None:
    letters = random.Random(0)
    noise = {"".join(letters.choices(string.ascii_letters, k=12)) + f"-v{n % 3}" for n in range(others)}
    assert nearest(typed, [*WORDS, *sorted(noise)])[0] == WORDS[meant]


@pytest.mark.parametrize("typed", ["", "a", "Nothing like it", "x" * 100_000, ":::", "\x00"])
def test_nothing_is_near(typed: str) -> None:
    assert nearest(typed, WORDS) == []
    assert nearest(typed, ()) == []


def test_what_is_compared_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def get_close_matches(word: str, possibilities: list[str], n: int, cutoff: float) -> list[str]:
        compared.append(len(possibilities))
        assert len(word) <= 100
        return possibilities[:n]

    monkeypatch.setattr("difflib.get_close_matches", get_close_matches)
    ids = [f"Zoo-Task{n}-v0" for n in range(5_000)]
    assert len(nearest("Zoo-Taks4999-v0", ids)) == 3
    assert nearest("Zoo-Taks4999-v0" * 100, ids) == []
    assert compared == [200, 0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lenght", "Pole has no param 'lenght'; its params: gravity, length. Did you mean 'length'?"),
        ("wind", "Pole has no param 'wind'; its params: gravity, length."),
        (1, "Pole has no param 1; its params: gravity, length."),
    ],
)
def test_an_unknown_param(name: object, expected: str) -> None:
    assert unknown_param("Pole", name, iter(["gravity", "length"])) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("lr", " Did you mean 'learning_rate'?"),
        ("ent_coef", " Did you mean 'entropy_coefficient'?"),
        ("LEARNING_RAT", " Did you mean 'learning_rate'?"),
        ("l", ""),
        ("gravity", ""),
    ],
)
def test_a_hint_knows_abbreviations(typed: str, expected: str) -> None:
    assert hint(typed, iter(["learning_rate", "entropy_coefficient", "num_envs"])) == expected
