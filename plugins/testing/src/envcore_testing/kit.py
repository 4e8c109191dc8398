"""The contract as a table of rules, and the functions that check an environment against it."""

from __future__ import annotations

import dataclasses
import inspect
import unittest
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, NamedTuple

import jax
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.suggestions import hint

from envcore_testing import (
    rules_definition,
    rules_episodes,
    rules_pictures,
    rules_states,
    rules_transforms,
    rules_types,
)
from envcore_testing.breaches import Breach, ConformanceError, breach_of_error, describe
from envcore_testing.numerics import numerics
from envcore_testing.subject import MIN_STEPS, Subject


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule of the contract.

    Attributes:
      check: finds everything that breaks the rule, or raises. Its name is the rule's name, its docstring the rule.
      unless: says why the rule does not apply to an environment; None where it does.
      is_basic: an environment that breaks it is not checked against the rules after it.
    """

    check: Callable[[Subject], Iterable[Breach]]
    unless: Callable[[Subject], str | None] = lambda _: None
    is_basic: bool = False

    @property
    def name(self) -> str:
        """The rule's name, such as "time_limit"."""
        return self.check.__name__

    @property
    def summary(self) -> str:
        """The rule in one sentence."""
        return inspect.getdoc(self.check) or ""

    def __str__(self) -> str:
        return self.name


def _wrapped(subject: Subject) -> str | None:
    return "a wrapper decides what survives a reset" if subject.is_wrapped else None


RULES: tuple[Rule, ...] = (
    # The environment as a value.
    Rule(rules_definition.equality_and_hash, is_basic=True),
    Rule(rules_definition.readable_repr),
    Rule(rules_definition.copy_and_pickle),
    Rule(rules_definition.plain_default_params),
    Rule(rules_definition.check_of_params),
    Rule(rules_definition.display_metadata),
    # Types.
    Rule(rules_types.reset_and_step_run, is_basic=True),
    Rule(rules_types.constant_types),
    Rule(rules_types.reward_and_flag_types),
    Rule(rules_types.info_entries),
    Rule(rules_types.draws_are_arrays),
    Rule(rules_types.x64),
    Rule(rules_types.strict_dtype_promotion),
    Rule(rules_types.strict_rank_promotion),
    Rule(rules_definition.pytrees),
    Rule(rules_definition.spaces_of_params),
    Rule(rules_definition.types_of_the_spaces),
    Rule(rules_states.authors_methods),
    Rule(rules_states.bounded_states, unless=rules_states.is_wrapped),
    Rule(rules_definition.finite_params, unless=rules_transforms.no_float_params),
    # Episodes.
    Rule(rules_episodes.same_key_same_trace),
    Rule(rules_episodes.no_key_of_its_own),
    Rule(rules_episodes.actions_in_space),
    Rule(rules_episodes.observations_in_space),
    Rule(rules_episodes.states_in_space),
    Rule(rules_episodes.finite_rewards),
    Rule(rules_definition.infinite_limits, unless=rules_definition.no_limits),
    Rule(rules_episodes.done_flag),
    Rule(rules_episodes.discount),
    Rule(rules_episodes.observation_of_the_state),
    Rule(rules_episodes.final_observation),
    Rule(rules_episodes.action_mask, unless=rules_episodes.has_no_mask),
    Rule(rules_episodes.new_episode, unless=_wrapped),
    Rule(rules_episodes.time_limit),
    Rule(rules_episodes.step_env_without_reset),
    # Transformations.
    Rule(rules_transforms.compiles_once),
    Rule(rules_transforms.vmap_equals_loop),
    Rule(rules_transforms.jit_equals_eager),
    Rule(rules_transforms.legacy_keys),
    Rule(rules_transforms.batched_params, unless=rules_transforms.no_float_params),
    Rule(rules_transforms.finite_gradients, unless=rules_transforms.not_differentiable),
    # Pictures.
    Rule(rules_pictures.pictures, unless=rules_pictures.has_no_picture),
    Rule(rules_pictures.height_of_a_picture, unless=rules_pictures.has_no_picture),
    Rule(rules_pictures.changing_pictures, unless=rules_pictures.has_no_picture),
    Rule(rules_pictures.pictures_under_vmap, unless=rules_pictures.has_no_picture),
)
"""Every rule, in the order of checking: a rule comes after those that it depends on."""


class Result(NamedTuple):
    """The result of checking one rule.

    Attributes:
      rule: its name.
      summary: the rule in one sentence.
      error: everything that is wrong, in one message; None if nothing is.
      skipped: why the rule was not checked; None if it was.
      breaches: what is wrong, one by one, each with the line of the author's code to look at.
    """

    rule: str
    summary: str
    error: ConformanceError | None
    skipped: str | None
    breaches: tuple[Breach, ...] = ()


def check_env(
    env: Environment,
    params: Any = None,
    *,
    key: jax.Array | None = None,
    num_steps: int = 500,
    except_for: Collection[str] = (),
) -> None:
    """Checks an environment, wrapped or not, against every rule of the contract.

    Args:
      env: the environment.
      params: its params; `env.default_params` by default.
      key: typed or legacy; `jax.random.key(0)` by default.
      num_steps: the number of steps of random play to record, at least 16. The ends of longer episodes are not seen,
        except for the time limit, which is also checked with small limits.
      except_for: names of rules that the environment may break, such as those that a bridged library breaks.

    Raises:
      ConformanceError: the environment breaks a rule; the message names every broken one, says where and what to do.
      InvalidArgumentError: `except_for` names something that is no rule.
    """
    results = check_rules(env, params, key=key, num_steps=num_steps, except_for=except_for)
    errors = [each.error for each in results if each.error is not None and each.rule not in except_for]
    if len(errors) == 1:
        raise errors[0]
    if errors:
        rules = "\n\n".join(map(str, errors))
        raise ConformanceError(f"{env.name} breaks {len(errors)} rules.\n\n{rules}") from errors[0]


def check_rules(
    env: Environment,
    params: Any = None,
    *,
    key: jax.Array | None = None,
    num_steps: int = 500,
    except_for: Collection[str] = (),
) -> Iterator[Result]:
    """Checks an environment rule by rule; arguments as for `check_env`.

    Rules that `except_for` names are checked as well: their results are yours to judge.

    Yields:
      the result of every rule in the order of `RULES`, each as soon as it is known. It ends early if the environment
      breaks a rule that those after it depend on.
    """
    known = [rule.name for rule in RULES]
    for name in sorted(set(except_for) - set(known)):
        raise InvalidArgumentError(f"there is no rule {name!r}.{hint(name, known)} The rules are {', '.join(known)}.")
    subject = _subject(env, params, key, num_steps)
    for rule in RULES:
        result = _result(rule, subject)
        yield result
        if result.error is not None and rule.is_basic:
            return


@dataclasses.dataclass(frozen=True)
class Case:
    """A test: one rule for one environment. Call it; `str` of it is the test's id."""

    rule: Rule
    subject: Subject

    def __call__(self) -> None:
        """Raises `ConformanceError` if the environment breaks the rule, and skips the test if it does not apply."""
        result = _result(self.rule, self.subject)
        if result.error is not None:
            raise result.error
        if result.skipped is not None:
            raise unittest.SkipTest(result.skipped)

    def __str__(self) -> str:
        return f"{self.subject.env.name}-{self.rule}"


def conformance_cases(
    env: Environment, params: Any = None, *, key: jax.Array | None = None, num_steps: int = 500
) -> list[Case]:
    """One test a rule, for pytest; arguments as for `check_env`.

        @pytest.mark.parametrize("case", envcore_testing.conformance_cases(MyEnvironment()), ids=str)
        def test_conforms(case):
            case()

    The cases share what they compile and record. Collecting them runs nothing.
    """
    subject = _subject(env, params, key, num_steps)
    return [Case(rule, subject) for rule in RULES]


def _subject(env: Any, params: Any, key: jax.Array | None, num_steps: int) -> Subject:
    if not isinstance(env, Environment):
        raise ConformanceError(f"expected an envcore.Environment, got {env!r}: make one, or call its class.")
    if num_steps < MIN_STEPS:
        raise ConformanceError(f"num_steps must be at least {MIN_STEPS}, got {num_steps}.")
    return Subject(env, params, key, num_steps)


def _result(rule: Rule, subject: Subject) -> Result:
    breaches: list[Breach] = []
    skipped, cause = None, None
    try:
        with numerics():
            skipped = rule.unless(subject)
            if skipped is None:
                breaches.extend(rule.check(subject))
    except Exception as error:
        # Rules share what they record and compile, and would all report the same error.
        text = f"{type(error).__name__}: {error}"
        first = subject.errors.setdefault(text, rule.name)
        if first == rule.name:
            cause = error
            breaches.append(breach_of_error(error))
        elif not breaches:
            skipped = f"stopped by the same error as {first}"
    if not breaches:
        return Result(rule.name, rule.summary, None, skipped)
    conformance = ConformanceError(f"{subject.env.name} breaks the rule {rule.name!r}. {describe(breaches)}")
    conformance.__cause__ = cause
    return Result(rule.name, rule.summary, conformance, None, tuple(breaches))
