from __future__ import annotations

import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_runs.pace import Notice, Pace, check_duration, duration


def chunks(
    per_call: float, per_step: float, number: int = 12, noise: float = 0, delays: dict[int, float] | None = None
) -> tuple[Pace, list[tuple[int, float]]]:
    """The steps and seconds of the chunks of a rollout that costs so much."""
    pace, found, random = Pace(), [], np.random.default_rng(0)
    for call in range(number):
        steps = pace.chunk()
        seconds = (per_call + per_step * steps) * (1 + noise * random.random()) + (delays or {}).get(call, 0)
        pace.add(steps, seconds)
        found.append((steps, seconds))
    return pace, found


def test_nothing_is_known_before_the_first_call() -> None:
    assert Pace().chunk() == 1


@pytest.mark.parametrize("per_step", [1e-6, 1e-4, 0.01])
def test_a_light_call_takes_a_tenth_of_a_second(per_step: float) -> None:
    _, found = chunks(0.0001, per_step)
    assert all(0.09 < seconds < 0.11 for _, seconds in found[3:])


def test_the_fixed_cost_of_a_million_environments_is_told_from_their_pace() -> None:
    pace, found = chunks(0.1, 0.015)
    assert pace.per_call == pytest.approx(0.1)
    assert pace.per_step == pytest.approx(0.015)
    assert [steps for steps, _ in found[:2]] == [1, 2]
    assert found[-1] == (66, pytest.approx(1.09))  # not (1, 0.115), which are 8.7 of 61 steps a second


def test_slow_steps_are_taken_one_by_one() -> None:
    for noise in (0.0, 0.1):
        _, found = chunks(0.0, 10.0, noise=noise)
        assert sum(steps == 1 for steps, _ in found) >= 6  # and now and then two, to see that two cost twice as much
        assert max(steps for steps, _ in found) <= 2


@pytest.mark.parametrize(
    ("per_call", "per_step", "noise"), [(0.05, 0.03, 0.5), (0.4, 0.1, 0.5), (1.6, 0.24, 0.02), (2e-4, 2e-5, 0.5)]
)
def test_no_chunk_is_long_and_none_is_mostly_fixed_cost(per_call: float, per_step: float, noise: float) -> None:
    _, found = chunks(per_call, per_step, noise=noise, number=30)
    assert all(seconds <= 1.5 * max(2.0, 2 * (per_call + per_step)) for _, seconds in found)
    assert all(per_step * steps > min(3 * per_call, 0.4) for steps, _ in found[6:])


@pytest.mark.parametrize("delays", [{0: 0.5}, {1: 2.0}, {3: 5.0}, {0: 0.5, 1: 0.5}])
def test_a_delay_is_forgotten(delays: dict[int, float]) -> None:
    _, found = chunks(0.0002, 2e-5, delays=delays)
    assert found[-1][1] == pytest.approx(0.1, rel=0.05)


def test_a_slower_machine_gets_shorter_chunks() -> None:
    pace, found = chunks(0.0002, 2e-5)
    pace.add(found[-1][0], 3 * found[-1][1])
    assert pace.chunk() == pytest.approx(found[-1][0] / 3, rel=0.02)


def test_the_time_of_a_rollout_counts_the_fixed_cost_of_each_chunk() -> None:
    pace, _ = chunks(0.1, 0.015)
    assert pace.seconds(6600) == pytest.approx(100 * 1.09)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 seconds"),
        (100, "100 seconds"),
        (1e3, "17 minutes"),
        (1e4, "3 hours"),
        (1e6, "12 days"),
        (1e11, "3,171 years"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_run_that_cannot_end_is_refused() -> None:
    assert check_duration("--steps", 5, 3599) == ""
    assert check_duration("--steps", 50_000, 86400 * 9) == "--steps 50,000 will take about 9 days."
    assert "9 years" in check_duration("--steps", 5, 9.4 * 365 * 86400)
    with pytest.raises(InvalidArgumentError, match=r"^--steps 1,000 would take about 11 years here: choose less\.$"):
        check_duration("--steps", 1000, 10.6 * 365 * 86400)


def test_the_notice_comes_again_once_a_second_has_been_measured() -> None:
    message, notice = "--steps 50,000 will take about 5 hours.", Notice("--steps", 50_000)
    estimates = [(0.0, 900.0), (0.4, 900.0), (0.9, 18_000.0), (1.1, 18_000.0), (1.2, 18_000.0), (5.0, 18_000.0)]
    assert [notice.text(*each) for each in estimates] == ["", "", "", message, "", ""]
    notice = Notice("--steps", 50_000)
    assert [notice.text(*each) for each in ((0.0, 18_000.0), (1.1, 18_000.0))] == [message, ""]
    notice = Notice("--steps", 50_000)
    assert [notice.text(*each) for each in ((0.0, 10.0), (1.1, 10.0), (1.2, 1e5))] == ["", "", ""]


def test_calls_that_were_too_fast_do_not_hide_a_long_run() -> None:
    notice, pace, measured, said = Notice("--steps", 2**31), Pace(), 0.0, list[str]()
    for call in range(30):
        steps = pace.chunk()
        pace.add(steps, seconds := steps * (1e-6 if call < 2 else 8.4e-6))  # the first two are warm-ups
        if call > 1:
            measured += seconds
        if call:
            said.append(notice.text(measured, pace.seconds(2**31)))
    assert said[0] == ""
    assert list(filter(None, said)) == ["--steps 2,147,483,648 will take about 5 hours."]
