from __future__ import annotations

from typing import Any

import jax
import pytest
import toy
from broken import ALSO_BROKEN, BROKEN
from envcore.environment import NO_TIME_LIMIT, Environment
from envcore.errors import ConformanceError, EnvironmentDefinitionError
from envcore.testing import RULES, Case, check_env, check_rules, conformance_cases
from envcore.wrappers import Batched, FrameStack, LogWrapper, NoAutoReset, StickyAction

NAMES = [rule.name for rule in RULES]
FEW = 50


def cases(env: Environment[Any, Any], *names: str) -> list[Case]:
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


@pytest.mark.parametrize(("name", "env"), [*BROKEN.items(), *ALSO_BROKEN], ids=lambda each: getattr(each, "name", each))
def test_a_broken_environment_breaks_its_rule(name: str, env: Environment[Any, Any]) -> None:
    (case,) = cases(env, name)
    with pytest.raises(ConformanceError, match=f"^{env.name} breaks the rule '{name}'. .+"):
        case()


def test_there_is_a_broken_environment_for_every_rule() -> None:
    assert list(BROKEN) == NAMES
    assert len(set(NAMES)) == len(NAMES)


def test_every_rule_is_said_in_one_sentence() -> None:
    for rule in RULES:
        assert rule.summary.endswith(".")
        assert "\n\n" not in rule.summary


@pytest.mark.parametrize(
    "env",
    [LogWrapper(Batched(toy.Counter(), 3)), NoAutoReset(FrameStack(StickyAction(toy.Counter()), 2))],
    ids=["batched", "without-auto-reset"],
)
def test_wrapped_environments_conform(env: Any) -> None:
    results = list(check_rules(env, num_steps=FEW))
    assert [result.error for result in results] == [None] * len(RULES)
    assert "new_episode" in {result.rule for result in results if result.skipped}


def test_params_key_and_no_time_limit() -> None:
    params = toy.CounterParams(bonus=0.25, max_steps_in_episode=NO_TIME_LIMIT)
    check_env(toy.Counter(), params, key=jax.random.PRNGKey(5), num_steps=16)


def test_the_params_given_are_the_ones_that_are_checked() -> None:
    params = toy.CounterParams(bonus=float("inf"))
    with pytest.raises(ConformanceError, match="'finite_rewards'"):
        check_env(toy.Counter(), params, num_steps=16)


def test_the_numerics_of_the_process_do_not_matter() -> None:
    with jax.numpy_dtype_promotion("strict"):
        results = zip(range(NAMES.index("pytrees")), check_rules(BROKEN["strict_dtype_promotion"]), strict=False)
        assert [result.rule for _, result in results if result.error] == ["strict_dtype_promotion"]


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


def test_collecting_cases_runs_nothing() -> None:
    class Untouchable(toy.Counter):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    assert len(cases(Untouchable())) == len(RULES)


def test_the_state_of_the_first_offence_is_shown() -> None:
    (case,) = cases(BROKEN["states_in_space"], "states_in_space")
    with pytest.raises(ConformanceError, match=r"first at step \d+ of trace 0, in the state CounterState\(.*array\("):
        case()


def test_the_check_ends_where_nothing_runs() -> None:
    *_, last = check_rules(BROKEN["reset_and_step_run"])
    assert last.rule == "reset_and_step_run"
    assert isinstance(last.error, ConformanceError)
    assert "the reward must have shape ()" in str(last.error)
    assert isinstance(last.error.__cause__, EnvironmentDefinitionError)


def test_bad_arguments() -> None:
    with pytest.raises(ConformanceError, match=r"expected an envcore\.Environment, got <class 'toy\.Counter'>"):
        check_env(toy.Counter)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConformanceError, match="num_steps must be at least 16, got 3"):
        conformance_cases(toy.Counter(), num_steps=3)
