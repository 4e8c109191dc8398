"""The environment of a run; what the errors say of options and params is tested in `test_plan` too."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
import toy
from envcore.errors import InvalidArgumentError, InvalidParamsError, UnknownEnvironmentError
from envcore_runs.choice import choose, with_params
from envcore_runs.naming import as_options

pytestmark = pytest.mark.usefixtures("toys")


def test_options_and_params() -> None:
    env, params = choose("Counter-v0", {"goal": 4}, {"bonus": 2}).make()
    assert (env, float(params.bonus)) == (toy.Counter(goal=4), 2.0)
    assert choose("Counter-v0").make()[0] == toy.Counter()
    assert not choose("Counter-v0").is_changed
    with pytest.raises(UnknownEnvironmentError):
        choose("Counters-v0")


def test_an_option_with_which_the_environment_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy.Counter, "default_params", property(lambda self: [0] * int(self.goal)))
    choice = choose("Counter-v0", {"goal": float("inf")})
    with pytest.raises(InvalidArgumentError, match=r"^Counter-v0 does not work with options={'goal': inf}: "):
        choice.make()
    with as_options(), pytest.raises(InvalidArgumentError, match=r"^Counter-v0 does not work with --option goal=inf: "):
        choice.make()


def test_an_environment_beyond_memory_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    message = (
        r"^Counter-v0 with options=\{'goal': \d+\} would take about 40 TB of memory for each environment, but only "
        r"[\d.]+ \wB are free\.$"
    )
    with pytest.raises(InvalidArgumentError, match=message):
        choose("Counter-v0", {"goal": 10**13}).make()  # the observation
    monkeypatch.setattr(toy.Counter, "init_state", lambda *_: toy.CounterState(count=jnp.zeros(10**13, jnp.int32)))
    monkeypatch.setattr(toy.Counter, "observation_space", None)  # the state, before any space is built
    with pytest.raises(InvalidArgumentError, match=message):
        choose("Counter-v0", {"goal": 13}).make()


def test_params_of_an_environment_that_is_given() -> None:
    env = toy.Counter()
    params = env.default_params
    assert with_params("it", env, params, {}) is params
    assert float(with_params("it", env, params, {"bonus": 0.5}).bonus) == 0.5
    for value in (None, "x", [[1], [1, 2]], {}):
        with pytest.raises(InvalidParamsError, match=r"^it's param 'bonus' must be a number"):
            with_params("it", env, params, {"bonus": value})
