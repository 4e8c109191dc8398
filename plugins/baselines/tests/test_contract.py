"""What a user's algorithm has to be, and what is said where it is not."""

from __future__ import annotations

import dataclasses
from typing import Any

import envcore_baselines
import jax.numpy as jnp
import pytest
from envcore_baselines import algorithms
from envcore_baselines.contract import check_class, check_learner, check_update
from envcore_baselines.errors import ConfigError
from guessing import Guess, GuessConfig
from toy import Counter

ENV, PARAMS = Counter(), Counter().default_params


def changed(**members: Any) -> Any:
    return type("Mine", (Guess,), members)


def test_an_algorithm_of_the_user() -> None:
    config = algorithms.config(Guess, "CartPole-v1", {"label": "a"})
    assert config == GuessConfig(label="a")
    made = algorithms.learner(Guess, ENV, PARAMS, config)
    assert type(made) is Guess
    check_learner(made)


@dataclasses.dataclass(frozen=True)
class NoDefault:
    total_steps: int


@dataclasses.dataclass(frozen=True)
class OddType:
    sizes: dict[str, int] = dataclasses.field(default_factory=dict[str, int])


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (Guess.init, "an algorithm must be a class, got <function"),
        (changed(Config=None), "the algorithm Mine has no Config, a dataclass of its settings"),
        (changed(Config=int), "the algorithm Mine has no Config, a dataclass of its settings"),
        (changed(Config=NoDefault), "the setting total_steps of NoDefault needs a default"),
        (changed(Config=OddType), "the setting sizes of OddType must be a bool, int, float, str, Literal or tuple"),
        (changed(update=None), "the algorithm Mine has no method update"),
        (changed(act=3), "the algorithm Mine has no method act"),
        (changed(__init__=lambda self, env: None), r"must take three arguments: \(env, params, config\)"),
    ],
)
def test_a_class_that_training_cannot_use(algorithm: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_class(algorithm)


def test_annotations_of_a_class_inside_a_function() -> None:
    class Inner: ...

    @dataclasses.dataclass(frozen=True)
    class Config:
        inner: Inner | None = None

    with pytest.raises(ConfigError, match="the annotations of Config cannot be read: name 'Inner' is not defined"):
        check_class(changed(Config=Config))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"num_updates": 0}, "must have a positive int as its num_updates, got 0"),
        ({"steps_per_update": 2.5}, "must have a positive int as its steps_per_update, got 2.5"),
        ({"env": Counter}, "must have an Environment as its env, got <class"),
        ({"__hash__": None}, "must be hashable"),
    ],
)
def test_a_learner_that_training_cannot_use(members: dict[str, Any], message: str) -> None:
    kind = changed(__init__=lambda self, env, params, config: None, env=ENV, num_updates=1)
    for name, value in members.items():
        setattr(kind, name, value)
    with pytest.raises(ConfigError, match=f"the algorithm Mine {message}"):
        algorithms.learner(kind, ENV, PARAMS, GuessConfig())


def test_a_learner_without_an_attribute() -> None:
    kind = changed(__init__=lambda self, env, params, config: None, env=ENV)
    with pytest.raises(ConfigError, match="the algorithm Mine has no num_updates"):
        algorithms.learner(kind, ENV, PARAMS, GuessConfig())


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"init": lambda self, key: jnp.int32(0)}, "the state of the algorithm Mine must have an attribute agent"),
        ({"init": lambda self, key: key.nothing}, "the algorithm Mine fails: AttributeError"),
        ({"update": lambda self, state: state}, "update of the algorithm Mine must return the next state and a dict"),
        (
            {"update": lambda self, state: (state._replace(agent=1.5), {})},
            r"update of the algorithm Mine must keep the types of its state: .agent was int32\[\] and is float32\[\]",
        ),
        (
            {"update": lambda self, state: (state._replace(agent=jnp.zeros(2, jnp.int32)), {})},
            r"must keep the types of its state: .agent was int32\[\] and is int32\[2\]",
        ),
        (
            {"update": lambda self, state: (state._replace(agent=()), {})},
            "must keep the types of its state: expected GuessState, got one without .agent",
        ),
        ({"update": lambda self, state: (state, {"returns": jnp.float32(0)})}, "Mine must have episodes, int32 .*None"),
        ({"update": lambda self, state: (state, {"returns": jnp.zeros(2)})}, r"Mine must have returns, float32 \(\)"),
    ],
)
def test_a_learner_whose_functions_training_cannot_use(members: dict[str, Any], message: str) -> None:
    learner = algorithms.learner(changed(**members), ENV, PARAMS, GuessConfig())
    with pytest.raises(ConfigError, match=message):
        check_update(learner)
    with pytest.raises(ConfigError, match=message):
        envcore_baselines.train(type(learner), ENV)
