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
    monkeypatch.setattr(registration, "_registered", {})
    assert gymnax.registered_envs == list(IDS)
    for _ in range(2):  # the same once more is no error
        gymnax.register("Count-v0", Count)
    assert gymnax.registered_envs == [*IDS, "Count-v0"]
    env, params = gymnax.make("Count-v0", goal=5)
    assert (type(env), env.goal) == (Count, 5)
    assert params.max_steps_in_episode == 1
    with pytest.raises(InvalidArgumentError, match="'Count-v0' is taken"):
        gymnax.register("Count-v0", Environment)


def test_errors():
    with pytest.raises(UnknownEnvironmentError, match="CartPole-v1"):
        gymnax.make("CartPole-v7")
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'sizes'"):
        gymnax.make("DeepSea-bsuite", sizes=3)
    with pytest.raises(InvalidArgumentError, match="'CartPole-v1' is taken"):
        gymnax.register("CartPole-v1", Count)
    with pytest.raises(InvalidArgumentError, match="needs a class or function"):
        gymnax.register("Count-v1", 3)  # pyright: ignore[reportArgumentType]
