"""What adapters make of their users' environment, params and options."""

import jax
import pytest
from envcore import registry
from envcore.choice import chosen, with_updates
from envcore.errors import InvalidArgumentError, InvalidParamsError, UnknownEnvironmentError
from envcore.registration import Registry
from toy import Counter


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))


def test_an_environment_with_its_default_params_on_the_device():
    env, params = chosen(Counter(), None, {})
    assert env == Counter()
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(params))


def test_an_id_with_options():
    registry.register("Counter-v9", Counter)
    assert chosen("Counter-v9", None, {"goal": 7})[0] == Counter(goal=7)


def test_params_and_updates():
    params = Counter().default_params.replace(max_steps_in_episode=3)
    for given in (params, {"max_steps_in_episode": 3}):
        assert chosen(Counter(), given, {})[1].max_steps_in_episode == 3
    assert with_updates(Counter(), params) is params


@pytest.mark.parametrize(
    ("env", "params", "options", "error", "message"),
    [
        ("Nothing-v0", None, {}, UnknownEnvironmentError, "Nothing-v0"),
        (3, None, {}, InvalidArgumentError, "must be an environment of envcore or its id, got 3"),
        (Counter(), None, {"goal": 3}, InvalidArgumentError, "'goal' is only for an environment's id"),
        (Counter(), {"speed": 3}, {}, InvalidParamsError, "has no param 'speed'; its params: "),
        (Counter(), {1: 2, "speed": 3}, {}, InvalidParamsError, "has no param 1"),
        (Counter(), {"max_steps_in_episode": 0}, {}, InvalidParamsError, "at least 1, got 0"),
    ],
)
def test_invalid_arguments(env, params, options, error, message):
    with pytest.raises(error, match=message):
        chosen(env, params, options)
