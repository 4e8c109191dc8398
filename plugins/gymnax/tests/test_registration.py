"""`make`, `register` and `registered_envs`."""

import envcore_gymnax as gymnax
import pytest
from envcore.errors import InvalidArgumentError, UnknownEnvironmentError
from envcore_gymnax import registration
from envcore_gymnax.environments.environment import Environment
from envcore_gymnax.settings import IDS

# pyright: reportPossiblyUnboundVariable=false


class Count(Environment):
    """A user's environment, which takes an option."""

    def __init__(self, goal: int = 3):
        self.goal = goal


def test_users_environments(monkeypatch):
    monkeypatch.setattr(registration, "_registry", {})
    monkeypatch.setattr(registration, "registered_envs", list(gymnax.registered_envs))
    assert gymnax.registered_envs == list(IDS)
    assert gymnax.registered_envs is registration.registered_envs
    for _ in range(2):  # the same once more is no error
        gymnax.register("Count-v0", Count)
    assert gymnax.registered_envs == [*IDS, "Count-v0"]
    env, params = gymnax.make("Count-v0", goal=5)
    assert (type(env), env.goal) == (Count, 5)
    assert params.max_steps_in_episode == 1
    with pytest.raises(InvalidArgumentError, match="'Count-v0' is already registered"):
        gymnax.register("Count-v0", Environment)


def test_a_factory_that_makes_something_else(monkeypatch):
    monkeypatch.setattr(registration, "_registry", {"Nothing-v0": object})
    with pytest.raises(
        InvalidArgumentError, match="factory of 'Nothing-v0' must return a Gymnax Environment, got <obj"
    ):
        gymnax.make("Nothing-v0")


def test_an_unknown_id():
    with pytest.raises(
        UnknownEnvironmentError, match=r"'CartPole-v7' is not in registered environments: .*CartPole-v1"
    ):
        gymnax.make("CartPole-v7")


def test_bad_arguments_are_reported():
    with pytest.raises(InvalidArgumentError, match="has no option 'sizes'"):
        gymnax.make("DeepSea-bsuite", sizes=3)
    with pytest.raises(InvalidArgumentError, match="'CartPole-v1' is already registered"):
        gymnax.register("CartPole-v1", Count)
    with pytest.raises(InvalidArgumentError, match="needs a callable"):
        gymnax.register("Count-v1", 3)  # pyright: ignore[reportArgumentType]
