"""What the command says of params and options of the catalogue that have no meaning, one line each."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import jax
import numpy as np
import pytest
from envcore import make, registry
from envcore_cli import main
from envcore_runs.choice import choose
from extremes import extremes, scalars, stays_finite
from wheels import SUITES


def environments() -> dict[str, Any]:
    """Our environments by id, the first setting of each of bsuite's experiments; not those that need a dataset."""
    ours = [each.spec.id for each in registry.values() if each.distribution in SUITES]
    return {
        each: make(each)[0] for each in ours if "mnist" not in each.lower() and ("/" not in each or each[-2:] == "/0")
    }


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("CartPole-v1 --set reset_high=-1", "CartPoleParams.reset_low must be at most reset_high, got -0.05 and -1"),
        ("FrozenLake-misc --option reward_schedule=(1e300,0,0)", "reward_schedule must be three finite numbers"),
        ("bsuite/catch/0 --option rows=2147483648", "rows * columns must be at most 16,777,216, got 10737418240"),
        ("bsuite/umbrella_distract/0 --option n_distractor=1000000000", "n_distractor must be at most 16,777,216, got"),
        ("bsuite/bandit/0 --option num_actions=1000000000", "num_actions must be at most 16,777,216, got 1000000000"),
        ("bsuite/deep_sea/0 --option size=100000", "size must be at most 4,096, got 100000"),
        (
            "BernoulliBandit-misc --option arms=given --option num_arms=1000000000",
            "num_arms must be at most 16,777,216",
        ),
        ("Pong-misc --option width=1000000000", "width * height must be at most 16,777,216, got 30000000000"),
    ],
)
def test_the_command_refuses_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
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


def test_every_option_that_holds_floats_refuses_what_is_not_finite() -> None:
    checked = set[str]()
    for env in environments().values():
        for field in dataclasses.fields(env):
            default = getattr(env, field.name)
            size = len(default) if isinstance(default, tuple) else 0
            if not field.init or not any(isinstance(x, float) for x in (default if size else (default,))):
                continue
            checked.add(field.name)
            for value in (np.nan, -np.inf):
                given = (*default[:-1], value) if size else value
                with pytest.raises(ValueError, match=f"{field.name} must"):
                    dataclasses.replace(env, **{field.name: given}).reset(jax.random.key(0))
    assert {"reward_schedule", "success_rate", "noise_scale", "reward_scale", "height_threshold"} <= checked


@pytest.mark.slow
def test_observations_stay_finite_at_the_extremes_of_every_param() -> None:
    wrong = list[str]()
    for env in {(type(env), type(env.unwrapped)): env for env in environments().values()}.values():
        for name in scalars(env):
            for value in extremes(env, name):
                if not stays_finite(env, env.default_params.replace(**{name: value})):
                    wrong.append(f"{env!r}: {name}={value}")
    assert not wrong
