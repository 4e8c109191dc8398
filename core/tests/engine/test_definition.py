"""What an author is told about a method that is missing, a field, and Python's `if` on a traced value."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from envcore.environment import Environment, EnvParams
from envcore.errors import EnvironmentDefinitionError
from envcore.wrappers import Batched
from envcore_testing import check_env
from toy import Counter

KEY = jax.random.key(0)
REQUIRED = ("default_params", "init_state", "transition", "observe", "action_space", "observation_space")


def without(method: str, **others: Any) -> Environment:
    """A counter that lacks a method, and has others."""
    return type("Walk", (Counter,), {method: getattr(Environment, method), **others})()


def use(env: Environment) -> None:
    state = env.reset(KEY)[1]
    env.step(KEY, state, 1)
    env.observation_space(EnvParams())


@pytest.mark.parametrize("method", REQUIRED)
def test_a_missing_method_is_named_with_its_signature(method: str) -> None:
    with pytest.raises(EnvironmentDefinitionError, match=rf"Walk must implement .*{method}\(self") as caught:
        use(without(method))
    assert "Its" not in str(caught.value)


@pytest.mark.parametrize(
    ("method", "theirs"),
    [("init_state", "reset_env"), ("transition", "step_env"), ("observe", "get_obs"), ("init_state", "reset")],
)
def test_the_counterpart_in_gymnax_is_named(method: str, theirs: str) -> None:
    base = getattr(Counter, theirs, None)
    own = (lambda self, *args: base(self, *args)) if base else (lambda self, *args: None)
    with pytest.raises(EnvironmentDefinitionError, match=f"Its {theirs} is the counterpart in other libraries: "):
        use(without(method, **{theirs: own}))


def test_a_misspelled_method_is_named() -> None:
    env = without("transition", transitoin=Counter.transition)
    with pytest.raises(EnvironmentDefinitionError, match="Is its 'transitoin' misspelled"):
        use(env)
    with pytest.raises(AssertionError, match=r"breaks the rule 'reset_and_step_run'\. Walk must implement transition"):
        check_env(env, num_steps=16)


@dataclasses.dataclass(frozen=True)
class Sized(Counter):
    sizes: Any = dataclasses.field(default_factory=lambda: [1, 2])


@pytest.mark.parametrize("env", [Sized(), Batched(Sized(), 3)], ids=["alone", "wrapped"])
def test_a_field_that_cannot_be_hashed_is_named(env: Environment) -> None:
    message = r"^Sized\.sizes must be hashable, .*: use a tuple in place of a list, got \[1, 2\]\.$"
    with pytest.raises(EnvironmentDefinitionError, match=message):
        env.reset(KEY)


class If(Counter):
    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        if state.count > 3:
            return state, 0.0, True
        return state, 0.0, False


class IfObserved(Counter):
    def observe(self, state: Any, params: Any) -> Any:
        return jnp.zeros(4) if state.count > 3 else jnp.ones(4)


@pytest.mark.parametrize(("env", "method", "line"), [(If(), "transition", 1), (IfObserved(), "observe", 1)])
def test_python_s_if_on_a_traced_value_has_the_author_s_line(env: Any, method: str, line: int) -> None:
    line += getattr(type(env), method).__code__.co_firstlineno
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jax.jit(use, static_argnums=0)(env)
    (note,) = (each for each in caught.value.__notes__ if "Under jit" in each)
    assert f"test_definition.py:{line}, in {method}: " in note
    assert "jnp.where" in note
    if method == "transition":
        assert "tracing the function transition at" in str(caught.value)
