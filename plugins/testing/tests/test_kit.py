from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
import toy
from broken import BROKEN
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT, Environment
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError
from envcore.wrappers import Batched, FrameStack, LogWrapper, StickyAction
from envcore_testing import RULES, Case, ConformanceError, check_env, check_rules, conformance_cases

NAMES = [rule.name for rule in RULES]
FEW = 50


def cases(env: Environment, *names: str) -> list[Case]:
    return [case for case in conformance_cases(env, num_steps=FEW) if not names or case.rule.name in names]


@pytest.mark.parametrize(
    "case",
    [
        *cases(toy.Counter()),
        *cases(toy.Spring()),
        *cases(toy.Deck()),
        *cases(toy.Fuse(), "time_limit", "discount"),
        *cases(toy.Tally(), "new_episode"),
    ],
    ids=str,
)
def test_the_toys_keep_every_rule(case: Case) -> None:
    case()


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_environment_is_told_the_method_the_leaf_and_the_fix(name: str) -> None:
    env, problems = BROKEN[name]
    (case,) = cases(env, name)
    with pytest.raises(ConformanceError) as caught:
        case()
    first, *lines, fix = str(caught.value).splitlines()
    assert first == f"{env.name} breaks the rule {name!r}: {case.rule.summary}"
    for problem in problems:
        assert problem in "\n".join(lines)
    assert fix == f"  Fix: {case.rule.fix}."


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_environment_breaks_its_rule_alone(name: str) -> None:
    assert [result.rule for result in check_rules(BROKEN[name][0], num_steps=FEW) if result.error] == [name]


def test_every_rule_has_a_broken_environment() -> None:
    assert list(BROKEN) == NAMES


@pytest.mark.parametrize(
    "env",
    [
        LogWrapper(Batched(toy.Counter(), 3)),
        FrameStack(StickyAction(toy.Counter()), 2),
    ],
    ids=["batched", "stacked"],
)
@pytest.mark.slow
def test_wrapped_environments_conform(env: Any) -> None:
    results = list(check_rules(env, num_steps=FEW))
    assert [result.error for result in results] == [None] * len(RULES)
    assert "new_episode" in {result.rule for result in results if result.skipped}


class Careless(toy.Counter):
    """Mixes dtypes in one line, and ranks in another."""

    def observe(self, state: Any, params: Any) -> Any:
        here = jnp.arange(self.goal + 1, dtype=jnp.int32) == state.count
        return (here * jnp.ones(self.goal + 1, jnp.float32) * jnp.ones((1, self.goal + 1), jnp.float32))[0]


def test_one_error_reports_every_broken_rule() -> None:
    first, second = "strict_dtype_promotion", "strict_rank_promotion"
    with pytest.raises(ConformanceError, match=r"^Careless breaks 2 rules\.") as caught:
        check_env(Careless(), num_steps=FEW)
    assert all(f"Careless breaks the rule {rule!r}: " in str(caught.value) for rule in (first, second))
    with pytest.raises(ConformanceError, match=f"^Careless breaks the rule {second!r}"):
        check_env(Careless(), num_steps=FEW, except_for=[first])
    check_env(Careless(), num_steps=FEW, except_for=[first, second])
    with pytest.raises(InvalidArgumentError, match="there is no rule 'new_epsode'"):
        check_env(Careless(), except_for=["new_epsode"])


class OutOfOrder(spaces.Box):
    def contains(self, value: Any) -> jax.Array:
        raise RuntimeError("out of order")


class WithoutContains(toy.Counter):
    def observation_space(self, params: Any) -> spaces.Box:
        return OutOfOrder(0.0, 1.0, (self.goal + 1,))


def test_an_error_that_rules_share_is_reported_once_with_its_place() -> None:
    found = {}
    for case in cases(WithoutContains(), "same_key_same_trace", "discount", "no_key_of_its_own"):
        try:
            case()
        except BaseException as error:
            found[case.rule.name] = str(error)
    assert "contains: RuntimeError: out of order\n    " in found["same_key_same_trace"]
    assert ': raise RuntimeError("out of order")\n' in found["same_key_same_trace"]
    assert found["discount"] == "stopped by the same error as same_key_same_trace"
    assert "no_key_of_its_own" not in found


def test_params_key_and_no_time_limit() -> None:
    params = toy.CounterParams(bonus=0.25, max_steps_in_episode=NO_TIME_LIMIT)
    check_env(toy.Counter(), params, key=jax.random.PRNGKey(5), num_steps=16)


def test_the_params_given_are_the_ones_that_are_checked() -> None:
    params = toy.CounterParams(bonus=jnp.float32(jnp.inf))
    with pytest.raises(ConformanceError, match="'finite_rewards'"):
        check_env(toy.Counter(), params, num_steps=16)


def test_rules_that_do_not_apply_say_why() -> None:
    results = {}
    for case in cases(toy.Deck(), "batched_params", "finite_gradients", "pictures"):
        with pytest.raises(BaseException) as caught:  # noqa: PT011
            case()
        results[str(case)] = (caught.typename, str(caught.value))
    assert results == {
        "Deck-batched_params": ("SkipTest", "the params have no floats"),
        "Deck-finite_gradients": ("SkipTest", "the environment is not declared differentiable"),
        "Deck-pictures": ("SkipTest", "the environment has no picture"),
    }


def test_the_check_ends_where_nothing_runs() -> None:
    *_, last = check_rules(BROKEN["reset_and_step_run"][0])
    assert last.rule == "reset_and_step_run"
    assert last.error is not None
    assert isinstance(last.error.__cause__, EnvironmentDefinitionError)


@pytest.mark.parametrize(
    ("env", "num_steps", "message"),
    [
        (toy.Counter, 16, r"expected an envcore\.Environment, got <class 'toy\.Counter'>"),
        (toy.Counter(), 3, "num_steps must be at least 16, got 3"),
    ],
)
def test_refusals(env: Any, num_steps: int, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        check_env(env, num_steps=num_steps)
