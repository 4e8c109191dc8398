from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import toy
from broken import ALSO_BROKEN, BROKEN, Careless
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT, Environment
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError
from envcore.wrappers import Batched, FrameStack, LogWrapper, StickyAction
from envcore_testing import RULES, Case, ConformanceError, check_env, check_rules, conformance_cases
from jax.core import Tracer

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


@pytest.mark.parametrize(
    ("name", "env"),
    [*BROKEN.items(), *(pytest.param(*each, marks=pytest.mark.slow) for each in ALSO_BROKEN)],
    ids=lambda each: getattr(each, "name", each),
)
def test_a_broken_environment_breaks_its_rule(name: str, env: Environment) -> None:
    (case,) = cases(env, name)
    with pytest.raises(ConformanceError, match=f"^{env.name} breaks the rule '{name}'. .+"):
        case()


def test_there_is_a_broken_environment_for_every_rule() -> None:
    assert list(BROKEN) == NAMES
    assert len(set(NAMES)) == len(NAMES)


def test_every_rule_is_one_paragraph() -> None:
    for rule in RULES:
        assert rule.summary.endswith(".")
        assert "\n\n" not in rule.summary


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vmap_equals_loop", "batched_params"])
def test_vmap_over_params_and_vmap_of_the_rest_are_told_apart(name: str) -> None:
    others = [*BROKEN.items(), *ALSO_BROKEN]
    for env in (env for rule, env in others if {rule, name} == {"vmap_equals_loop", "batched_params"}):
        (case,) = cases(env, name)
        case()


SOURCES = {
    "strict_dtype_promotion": [
        "reward = reward + 0.5 * (action == 1)",
        'return state, reward - 0.25 * info["waited"], terminated, info',
        "here = jnp.arange(self.goal + 1) == state.count",
    ],
    "strict_rank_promotion": [
        "return (jnp.where(here, 1.0, 0.0) * jnp.ones((1, self.goal + 1), jnp.float32))[0]",
    ],
}


def test_every_breach_of_every_rule_is_reported_with_its_line() -> None:
    results = [result for result in check_rules(Careless(), num_steps=FEW) if result.error]
    found = {result.rule: [each.place.source for each in result.breaches if each.place] for result in results}
    assert found == SOURCES


def test_one_error_reports_every_broken_rule() -> None:
    with pytest.raises(ConformanceError, match=r"^Careless breaks 2 rules\.") as caught:
        check_env(Careless(), num_steps=FEW)
    text = str(caught.value)
    for rule, sources in SOURCES.items():
        assert f"Careless breaks the rule {rule!r}. " in text
        for source in sources:
            assert re.search(rf"broken\.py:\d+, in (transition|observe)\n +{re.escape(source)}\n?", text)


def test_rules_that_may_be_broken() -> None:
    first, second = SOURCES
    with pytest.raises(ConformanceError, match=f"^Careless breaks the rule {second!r}"):
        check_env(Careless(), num_steps=FEW, except_for=[first])
    check_env(Careless(), num_steps=FEW, except_for=[first, second])
    with pytest.raises(InvalidArgumentError, match="there is no rule 'new_epsode'"):
        check_env(Careless(), except_for=["new_epsode"])


def test_every_wrong_type_is_reported() -> None:
    class Wide(toy.Spring):
        def reset(self, key: Any, params: Any = None) -> Any:
            obs, state = super().reset(key, params)
            return obs, jax.tree.map(lambda x: x.astype(jnp.float16) if x.dtype == jnp.float32 else x, state)

    (case,) = cases(Wide(), "constant_types")
    with pytest.raises(ConformanceError, match=r"2 places:(.|\n)*position is float16(.|\n)*velocity is float16"):
        case()


class TellsMoreWithoutJit(toy.Counter):
    def transition(self, *args: Any, **kwargs: Any) -> Any:
        *values, info = super().transition(*args, **kwargs)
        return *values, info if isinstance(info["waited"], Tracer) else {**info, "more": info["waited"]}


def test_a_wrong_structure_is_reported() -> None:
    (case,) = cases(TellsMoreWithoutJit(), "jit_equals_eager")
    with pytest.raises(ConformanceError, match=r"must be tuple, got one with an extra \[4\]\['more'\]\."):
        case()


class OutOfOrder(spaces.Box):
    def contains(self, value: Any) -> jax.Array:
        raise RuntimeError("out of order")


class WithoutContains(toy.Counter):
    def observation_space(self, params: Any) -> spaces.Box:
        return OutOfOrder(0.0, 1.0, (self.goal + 1,))


def test_an_error_that_rules_share_is_reported_once() -> None:
    results = {result.rule: result for result in check_rules(WithoutContains(), num_steps=FEW)}
    assert [rule for rule, result in results.items() if result.error] == ["same_key_same_trace"]
    assert "RuntimeError: out of order" in str(results["same_key_same_trace"].error)
    (breach,) = results["same_key_same_trace"].breaches
    assert breach.place is not None
    assert breach.place.source == 'raise RuntimeError("out of order")'
    assert results["discount"].skipped == "stopped by the same error as same_key_same_trace"
    assert results["no_key_of_its_own"].skipped is None


def test_params_key_and_no_time_limit() -> None:
    params = toy.CounterParams(bonus=0.25, max_steps_in_episode=NO_TIME_LIMIT)
    check_env(toy.Counter(), params, key=jax.random.PRNGKey(5), num_steps=16)


def test_the_params_given_are_the_ones_that_are_checked() -> None:
    params = toy.CounterParams(bonus=jnp.float32(jnp.inf))
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
            if name == "__class__":  # which isinstance reads
                return Untouchable
            raise AssertionError(name)

    assert len(cases(object.__new__(Untouchable))) == len(RULES)


def test_the_state_of_the_first_breach_is_shown() -> None:
    (case,) = cases(BROKEN["states_in_space"], "states_in_space")
    with pytest.raises(ConformanceError, match=r"first at step \d+ of trace 0, in the state CounterState\(.*array\("):
        case()


def test_the_check_ends_where_nothing_runs() -> None:
    *_, last = check_rules(BROKEN["reset_and_step_run"])
    assert last.rule == "reset_and_step_run"
    assert isinstance(last.error, ConformanceError)
    assert "transition's reward must have shape ()" in str(last.error)
    assert isinstance(last.error.__cause__, EnvironmentDefinitionError)


def test_bad_arguments() -> None:
    with pytest.raises(ConformanceError, match=r"expected an envcore\.Environment, got <class 'toy\.Counter'>"):
        check_env(toy.Counter)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConformanceError, match="num_steps must be at least 16, got 3"):
        conformance_cases(toy.Counter(), num_steps=3)
