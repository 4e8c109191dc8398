"""What a rollout refuses, before anything is compiled and before a folder is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
import toy
from envcore.errors import EnvcoreError, InvalidArgumentError, InvalidParamsError, UnknownEnvironmentError
from envcore_runs import rollout, run
from envcore_runs.naming import as_options
from envcore_runs.plan import planned

pytestmark = pytest.mark.usefixtures("toys")

ENV = toy.Counter()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a positive integer, got 0"),
        ({"steps": 0}, "steps must be a positive integer, got 0"),
        ({"num_envs": 1.5}, "num_envs must be a positive integer, got 1.5"),
        ({"num_envs": None}, "num_envs must be a positive integer, got None"),
        ({"steps": True}, "steps must be a positive integer, got True"),
        (
            {"steps": 10**16},
            "num_envs 2,048 times steps 10,000,000,000,000,000 is more than 2**53 steps, which nobody can count.",
        ),
        ({"episodes": 0}, "episodes must be a positive integer, got 0"),
        ({"out": "run"}, "out needs steps or episodes: how long the rollout is."),
        ({"record": ["obs"]}, "record needs out, the folder for the trajectories, and steps, their length."),
        (
            {"steps": 3, "out": "run", "record": ("obs", "rewards")},
            (
                "record takes state, obs, action, reward, next_obs, done, discount, terminated, truncated, waited, "
                "separated by commas; got 'rewards'."
            ),
        ),
        ({"seed": -1}, "seed must be an integer from 0 to 2**63 - 1, got -1."),
        ({"devices": 9}, "devices 9, but JAX has 2 in this process."),
        (
            {"policy": "no_module:f"},
            "policy no_module:f cannot be imported: ModuleNotFoundError: No module named 'no_module'",
        ),
        ({"options": {"goals": 1}}, "Counter-v0 has no option 'goals'; its options: goal."),
    ],
)
def test_invalid_arguments(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "MeasuredRollout", None)  # no program of the rollout is made
    with pytest.raises(InvalidArgumentError) as caught:
        rollout("Counter-v0", **arguments)
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"bonuses": 1}, "^Counter-v0 has no param 'bonuses'; its params: "),
        ({"goal": 1}, r"'goal' is an option: options={'goal': \.\.\.}$"),
        ({"bonus": "much"}, "^Counter-v0's param 'bonus' must be a number, got 'much'.$"),
        ({"bonus": [1, 2]}, "params"),
        (jnp.zeros(3), "params"),
    ],
)
def test_invalid_params(params: Any, message: str) -> None:
    with pytest.raises(InvalidParamsError, match=message):
        planned("Counter-v0", params=params)


def test_an_unknown_id() -> None:
    with pytest.raises(UnknownEnvironmentError):
        planned("Counters-v0")


def test_an_environment_has_its_options_already() -> None:
    with pytest.raises(InvalidArgumentError, match="options are those of an id"):
        planned(ENV, options={"goal": 3})


def test_the_command_line_sees_its_own_names() -> None:
    with as_options(), pytest.raises(EnvcoreError, match=r"^--num-envs must be a positive integer, got 0$"):
        planned("Counter-v0", num_envs=0)


def test_what_decides_the_results(tmp_path: Path) -> None:
    plan = planned("Counter-v0", num_envs=6, steps=9, out=tmp_path, options={"goal": 4}, params={"bonus": 2})
    assert plan.about == {
        "env_id": "Counter-v0",
        "options": {"goal": 4},
        "params": {"bonus": 2},
        "policy": "random",
        "num_envs": 6,
        "steps": 9,
        "episodes": 1,
        "seed": 0,
    }
    assert planned("Counter-v0").about == {}
    about = planned(ENV, steps=9, out=tmp_path, policy=lambda params, obs, key: jnp.int32(0)).about
    assert (about["env_id"], about["options"], about["params"]) == ("toy:Counter", {"goal": 3}, {})
    assert about["policy"].endswith("test_what_decides_the_results.<locals>.<lambda>")
    about = planned(ENV, steps=9, out=tmp_path, params=ENV.default_params).about
    assert about["params"]["bonus"] == ENV.default_params.bonus
