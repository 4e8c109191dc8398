"""The contract as a table of rules, and the functions that check an environment against it."""

from __future__ import annotations

import dataclasses
import traceback
import unittest
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
from envcore.environment import Environment
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.suggestions import hint

from envcore_testing import rules_definition as definition
from envcore_testing import rules_episodes as episodes
from envcore_testing import rules_pictures as rendering
from envcore_testing import rules_transforms as transforms
from envcore_testing import rules_types as types
from envcore_testing.errors import ConformanceError
from envcore_testing.numerics import numerics
from envcore_testing.subject import MIN_STEPS, Subject


@dataclasses.dataclass(frozen=True, repr=False)
class Rule:
    """One rule of the contract.

    Attributes:
      check: yields problems as "method: leaf and problem", or raises. Its name is the name of the rule, and its
        docstring states the rule.
      fix: how to fix a problem.
      unless: returns why the rule does not apply to an environment, or None if it applies.
      is_basic: if an environment breaks this rule, the rules after it are not checked.
    """

    check: Callable[[Subject], Iterable[str]]
    fix: str
    unless: Callable[[Subject], str | None] = lambda _: None
    is_basic: bool = False

    @property
    def name(self) -> str:
        """Name of the rule, such as "time_limit"."""
        return self.check.__name__

    @property
    def summary(self) -> str:
        """The rule in one sentence."""
        return " ".join((self.check.__doc__ or "").split())

    def __repr__(self) -> str:
        return self.name


_LEAVE_IT = "leave it to the base class"
_PURE = "make it depend only on its arguments"
_AGREE = "return values with the shapes and dtypes of the space, or change the space"

RULES: tuple[Rule, ...] = (
    # Definition of the environment.
    Rule(definition.decorated_class, "decorate the class with @dataclasses.dataclass(frozen=True)", is_basic=True),
    Rule(
        definition.equality_and_hash,
        "make the class a @dataclasses.dataclass(frozen=True) whose fields are hashable",
        is_basic=True,
    ),
    Rule(definition.readable_repr, "use the dataclass's repr, and fields with a readable repr"),
    Rule(definition.copy_and_pickle, "keep everything in the dataclass's fields"),
    Rule(definition.plain_default_params, "use Python numbers or numpy arrays, and cache a dataset's device array"),
    Rule(definition.check_of_params, "use the functions of envcore.require, which ignore JAX arrays"),
    Rule(definition.display_metadata, "name every action or none, and set render_fps to a positive number"),
    # Types and spaces.
    Rule(types.reset_and_step_run, "see the error", is_basic=True),
    Rule(types.pytrees, "use flax.struct.dataclass", is_basic=True),
    Rule(types.constant_types, "return the same dtypes from both, because every change of type compiles again"),
    Rule(types.reward_and_flag_types, _LEAVE_IT),
    Rule(types.info_entries, _LEAVE_IT),
    Rule(types.draws_are_arrays, "return a typing.NamedTuple of arrays, or None if nothing is drawn"),
    Rule(
        types.strict_dtype_promotion,
        "cast one of them, as in x.astype(jnp.float32) or jnp.where(flag, 1.0, 0.0), and pass a dtype when you make an "
        "array, as in jnp.zeros(n, jnp.float32)",
    ),
    Rule(types.strict_rank_promotion, "add the missing axes, as in x[None, :] or x[:, None]"),
    Rule(types.x64, "pass a dtype when you make an array, and cast with astype(jnp.float32), not astype(float)"),
    Rule(types.spaces_of_params, "use numpy for constants, and cast if dtypes are mixed"),
    Rule(types.types_of_the_spaces, _AGREE),
    Rule(types.authors_methods, "return that type"),
    Rule(types.action_mask_type, "return a bool for each action, True if it is legal", types.has_no_mask),
    Rule(
        types.bounded_states,
        "declare bounds that the rules cannot exceed, use spaces.NATURAL_NUMBERS for the time, and a spaces.Tree for "
        "unbounded numbers",
        types.is_wrapped,
    ),
    Rule(
        definition.finite_params,
        "pass the params to super() unchanged, because values in JAX arrays are not checked",
        definition.no_float_params,
    ),
    # Episodes.
    Rule(episodes.same_key_same_trace, "use no randomness except the key", is_basic=True),
    Rule(episodes.no_key_of_its_own, "use the key that is passed in"),
    Rule(episodes.observations_in_space, "fix observe, or widen the observation space"),
    Rule(episodes.states_in_space, "fix the rules, or widen the state space"),
    Rule(episodes.finite_rewards, "return finite rewards"),
    Rule(definition.infinite_limits, "let infinity mean that there is no limit", definition.no_limits),
    Rule(episodes.done_flag, _LEAVE_IT),
    Rule(episodes.told_truncation, "override may_truncate too"),
    Rule(episodes.discount, _LEAVE_IT),
    Rule(episodes.observation_of_the_state, _LEAVE_IT),
    Rule(episodes.final_observation, _LEAVE_IT),
    Rule(episodes.action_mask, _LEAVE_IT, types.has_no_mask),
    Rule(
        episodes.new_episode,
        "override restart, which gets the key envcore.random.reset_key(key), and restore what survives after super()",
        types.is_wrapped,
    ),
    Rule(episodes.time_limit, "leave state.time and the time limit to the base class"),
    Rule(episodes.step_env_without_reset, _LEAVE_IT),
    # Transformations.
    Rule(
        transforms.compiles_once,
        "keep the types of the state, make copies equal with the same hash, and do not call jax.jit inside step",
    ),
    Rule(transforms.vmap_equals_loop, _PURE),
    Rule(transforms.jit_equals_eager, _PURE),
    Rule(transforms.legacy_keys, "use jax.random or envcore.random, which accept both kinds of keys"),
    Rule(transforms.batched_params, "use jax.numpy for values that depend on params", definition.no_float_params),
    Rule(transforms.finite_gradients, "fix it, or do not set differentiable = True", transforms.not_differentiable),
    Rule(transforms.nonzero_gradients, "do not set differentiable = True", transforms.not_differentiable),
    # Pictures.
    Rule(rendering.pictures, "use envcore.painting.paint", rendering.has_no_picture),
    Rule(
        rendering.height_of_a_picture,
        "use envcore.painting.paint, or check the height with envcore.painting.checked_height",
        rendering.has_no_picture,
    ),
    Rule(rendering.changing_pictures, "paint the state that is passed in", rendering.has_no_picture),
    Rule(rendering.pictures_under_vmap, "make a picture depend only on its state", rendering.has_no_picture),
)
"""All rules in the order in which they are checked. A rule comes after the rules that it depends on."""


class Result(NamedTuple):
    """The result of checking one rule.

    Attributes:
      rule: name of the rule.
      summary: the rule in one sentence.
      error: all problems and how to fix them, in one message. None if the environment keeps the rule.
      skipped: why the rule was not checked. None if it was checked.
    """

    rule: str
    summary: str
    error: ConformanceError | None
    skipped: str | None


def check_env(
    env: Environment,
    params: Any = None,
    *,
    key: jax.Array | None = None,
    num_steps: int = 500,
    except_for: Collection[str] = (),
) -> None:
    """Checks that an environment, with or without wrappers, keeps every rule of the contract.

    Args:
      env: the environment.
      params: the environment's params. The default is `env.default_params`.
      key: a typed or legacy key. The default is `jax.random.key(0)`.
      num_steps: number of random steps to record, at least 16. Choose it so that episodes end within these steps,
        because later ends are not checked. The time limit is also checked with small limits.
      except_for: names of rules that the environment may break, for example because a bridged library does.

    Raises:
      ConformanceError: the environment breaks a rule. The message lists every broken rule with method, array and fix.
      InvalidArgumentError: `env` is not an environment, `num_steps` is too small, or `except_for` contains an unknown
        rule.
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
    """Checks an environment rule by rule, and yields the results. Arguments as for `check_env`.

    Rules in `except_for` are checked too. You decide what to do with their results.

    Yields:
      the result of each rule in the order of `RULES`, as soon as it is known. Stops early if the environment breaks a
      rule that later rules depend on.
    """
    known = [rule.name for rule in RULES]
    except_for = {except_for} if isinstance(except_for, str) else set(except_for)
    for name in sorted(except_for - set(known)):
        raise InvalidArgumentError(f"there is no rule {name!r}.{hint(name, known)} The rules are {', '.join(known)}.")
    subject = _subject(env, params, key, num_steps)
    for rule in RULES:
        result = _result(rule, subject)
        yield result
        if result.error is not None and rule.is_basic and rule.name not in except_for:
            return


@dataclasses.dataclass(frozen=True)
class Case:
    """A test of one rule for one environment. Call it to run the test. `str(case)` is the test's id."""

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
    """Returns one test per rule, for pytest. Arguments as for `check_env`.

        @pytest.mark.parametrize("case", envcore_testing.conformance_cases(MyEnvironment()), ids=str)
        def test_conforms(case):
            case()

    The cases share compiled programs and recordings. Nothing runs while pytest collects them.
    """
    subject = _subject(env, params, key, num_steps)
    return [Case(rule, subject) for rule in RULES]


def _subject(env: Any, params: Any, key: jax.Array | None, num_steps: int) -> Subject:
    if not isinstance(env, Environment):
        raise InvalidArgumentError(f"expected an envcore.Environment, got {env!r}: make one, or call its class.")
    if num_steps < MIN_STEPS:
        raise InvalidArgumentError(f"num_steps must be at least {MIN_STEPS}, got {num_steps}.")
    return Subject(env, params, key, num_steps)


def _result(rule: Rule, subject: Subject) -> Result:
    problems: list[str] = []
    skipped, cause = None, None
    try:
        with numerics():
            skipped = rule.unless(subject)
            if skipped is None:
                problems.extend(rule.check(subject))
    except Exception as error:
        # Rules share recordings, so they would all report the same error.
        text = f"{type(error).__name__}: {error}"
        first = subject.errors.setdefault(text, rule.name)
        if first == rule.name:
            cause = error
            problems.append(_raised(error))
        elif not problems:
            skipped = f"stopped by the same error as {first}"
    if not problems:
        return Result(rule.name, rule.summary, None, skipped)
    lines = [f"{subject.env.name} breaks the rule {rule.name!r}: {rule.summary}", *problems, f"Fix: {rule.fix}."]
    error = ConformanceError("\n  ".join(lines))
    error.__cause__ = cause
    return Result(rule.name, rule.summary, error, None)


def _raised(error: Exception) -> str:
    """Describes an error as a problem. envcore's errors name the method, so only other errors get a location."""
    if isinstance(error, EnvcoreError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    last = [frame for frame in frames if Path(jax.__file__).parent not in Path(frame.filename).parents][-1]
    return f"{last.name}: {type(error).__name__}: {error}\n    {last.filename}:{last.lineno}: {last.line}"
