"""What the command says of params and options of the catalogue that have no meaning, one line each."""

from __future__ import annotations

import sys

import pytest
from envcore_cli import main
from envcore_runs import interrupt
from envcore_runs.choice import choose


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("CartPole-v1 --set reset_high=-1", "CartPoleParams.reset_low must be at most reset_high, got -0.05 and -1"),
        ("MountainCar-v0 --set min_position=0.7", "min_position must be at most max_position, got 0.7 and 0.6"),
        ("MountainCarContinuous-v0 --set min_action=2", "min_action must be at most max_action, got 2 and 1.0"),
        ("Swimmer-misc --set goal_high=[-2,1]", "goal_low must be at most goal_high"),
    ],
)
def test_the_command_refuses_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    monkeypatch.setattr(interrupt, "install", lambda: None)  # Ctrl-C belongs to pytest
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", ["envcore", "rollout", *command.split()])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_params_that_are_valid_together_are_taken() -> None:
    params = choose("CartPole-v1", params={"reset_low": 0.1, "reset_high": 0.2}).make()[1]
    assert (float(params.reset_low), float(params.reset_high)) == pytest.approx((0.1, 0.2))
