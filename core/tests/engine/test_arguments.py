from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.engine import arguments
from envcore.environment import EnvParams, EnvState
from envcore.errors import (
    EnvironmentDefinitionError,
    InvalidActionError,
    InvalidArgumentError,
    InvalidParamsError,
)
from toy import Counter, CounterParams, Deck, Spring, SpringParams

KEY = jax.random.key(0)
ENV = Counter()
LOOSE: Any = ENV
"""For arguments of types that a type checker refuses."""
_, STATE = ENV.reset(KEY)


class Pair(Counter):
    """A counter whose action is a dict of two entries."""

    def action_space(self, params: Any) -> Any:
        return spaces.Dict({"count": spaces.Discrete(2), "note": spaces.Box(-1.0, 1.0, (2,))})

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        assert (action["count"].dtype, action["note"].dtype) == (jnp.int32, jnp.float32)
        return super().transition(state, action["count"], draws, params)


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: LOOSE.reset(0), InvalidArgumentError, "expected a random key, got 0: make one with jax.random.key"),
    (
        lambda: LOOSE.reset(KEY, SpringParams()),
        InvalidParamsError,
        "Counter's params must be CounterParams, got Spring",
    ),
    (
        lambda: ENV.reset(KEY, CounterParams(bonus=np.zeros(2))),
        InvalidParamsError,
        r"Counter's params\.bonus must have shape \(\), got \(2,\)\. To map over a batch, use jax\.vmap",
    ),
    (
        lambda: ENV.reset(KEY, CounterParams(bonus=True)),
        InvalidParamsError,
        r"Counter's params\.bonus must be float32, got bool",
    ),
    (
        lambda: ENV.reset(KEY, CounterParams(max_steps_in_episode=3.0)),
        InvalidParamsError,
        r"Counter's params\.max_steps_in_episode must be int32, got float",
    ),
    (
        lambda: ENV.reset(KEY, CounterParams(max_steps_in_episode=np.array(0))),
        InvalidParamsError,
        r"Counter's params\.max_steps_in_episode must be at least 1, or .* got 0",
    ),
    (
        lambda: LOOSE.step(KEY, Deck().reset(KEY)[1], 1),
        InvalidArgumentError,
        "Counter's state must be CounterState, got DeckState",
    ),
    (
        lambda: ENV.step(KEY, jax.tree.map(lambda x: x[None], STATE), 1),
        InvalidArgumentError,
        r"Counter's state\.time must have shape \(\), got \(1,\)\. To map over a batch, use jax",
    ),
    (lambda: ENV.step(KEY, STATE, 0.5), InvalidActionError, ".*: expected an integer, got float64"),
    (lambda: ENV.step(KEY, STATE, 2), InvalidActionError, r"an action of Counter must be in Discrete\(2\): got 2"),
    (lambda: ENV.step(KEY, STATE, np.zeros(4, int)), InvalidActionError, r".*got \(4.*To step a batch of env"),
    (lambda: Pair().step(KEY, STATE, {"count": 1}), InvalidActionError, ".*: expected a dict of 'count', 'note'"),
    (
        lambda: Pair().step(KEY, STATE, {"count": 1, "note": np.array([0, np.nan])}),
        InvalidActionError,
        ".*got nan, which is not finite as float32",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_bad_arguments_are_refused(call: Any, error: type[Exception], message: str) -> None:
    for run in (lambda: call(), lambda: jax.eval_shape(call)):
        with pytest.raises(error, match=f"^{message}"):
            run()


def test_every_entry_checks_its_arguments() -> None:
    params: Any = SpringParams()
    for step in (LOOSE.step, LOOSE.step_env):
        for args, error in (
            ((0, STATE, 1), InvalidArgumentError),
            ((KEY, 3, 1), InvalidArgumentError),
            ((KEY, STATE, 2), InvalidActionError),
            ((KEY, STATE, 1, params), InvalidParamsError),
        ):
            with pytest.raises(error):
                step(*args)


@pytest.mark.parametrize("action", [np.array([3e38]), np.array([-1.5]), jnp.array([jnp.nan])], ids=repr)
def test_the_rules_decide_on_finite_values_outside_bounds_and_nobody_reads_a_jax_array(action: Any) -> None:
    env = Spring()
    _, state = env.reset(KEY)
    expected = jax.jit(env.step)(KEY, state, jnp.asarray(action, jnp.float32))
    chex.assert_trees_all_close(env.step(KEY, state, action), expected, rtol=1e-6)


def test_tracers_of_the_wrong_type_are_refused() -> None:
    with pytest.raises(InvalidActionError, match="expected an integer, got float32"):
        jax.jit(lambda action: ENV.step(KEY, STATE, action))(0.5)
    with pytest.raises(InvalidArgumentError, match="must be int32, got float32"):
        jax.jit(lambda count: ENV.step(KEY, STATE.replace(count=count), 1))(0.5)


@pytest.mark.parametrize("action", [1, np.uint8(1), np.array(1), jnp.int32(1)], ids=repr)
def test_integers_of_every_kind_are_actions(action: Any) -> None:
    assert int(ENV.step(KEY, STATE, action)[1].count) == 1


@pytest.mark.parametrize("action", [np.array([1.0]), np.array([1]), jnp.ones(1, jnp.float16)], ids=repr)
def test_numbers_of_every_kind_are_actions_of_a_float_box(action: Any) -> None:
    _, state = Spring().reset(KEY)
    expected = Spring().step(KEY, state, jnp.ones(1))
    chex.assert_trees_all_equal(Spring().step(KEY, state, action), expected, strict=True)


def test_every_part_of_an_action_is_cast() -> None:
    step = Pair().step(KEY, STATE, {"note": np.zeros(2), "count": np.int64(1)})
    assert int(step[1].count) == 1


def test_params_may_be_python_numpy_or_jax_numbers() -> None:
    for bonus in (2, 2.0, np.float64(2), np.int8(2), jnp.float32(2), jnp.int32(2)):
        params = CounterParams(bonus=bonus, max_steps_in_episode=np.int64(10))
        checked = arguments.checked_params(ENV, params)
        assert (checked.bonus.dtype, checked.max_steps_in_episode.dtype) == (np.float32, np.int32)
        assert float(ENV.step(KEY, STATE, 1, params)[2]) == 2


def test_a_space_made_of_jax_arrays_is_not_kept_as_tracers() -> None:
    class Traced(Counter):
        def action_space(self, params: Any) -> Any:
            return spaces.Box(jnp.zeros(1), jnp.ones(1))

        def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
            return super().transition(state, jnp.int32(1), draws, params)

    _, state = Traced().reset(KEY)
    with jax.checking_leaks():
        jax.jit(Traced().step)(KEY, state, jnp.zeros(1))


class TestDefinitions:
    """The errors name the decorator that an author forgot."""

    def test_params_and_states_without_their_decorators(self) -> None:
        class Params(EnvParams):
            pass

        class State(EnvState):
            count: Any = 0

        class WrongParams(Counter):
            @property
            def default_params(self) -> Any:
                return Params()

        class NoProperty(Counter):
            def default_params(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
                return CounterParams()

        class WrongState(Counter):
            def init_state(self, draws: Any, params: Any) -> Any:
                return State()

        class Attribute(Counter):
            def __init__(self, size: int = 3) -> None:
                super().__init__()
                self.size = size

        class StateOfDicts(Counter):
            def init_state(self, draws: Any, params: Any) -> Any:
                return {"count": jnp.int32(0)}

        for env, message in (
            (
                WrongParams(),
                "default_params returned a Params: derive its class from envcore.EnvParams and decorate",
            ),
            (WrongState(), "init_state returned a State: derive its class from envcore.EnvState and decorate it with"),
            (StateOfDicts(), "init_state returned a dict: derive its class from envcore.EnvState"),
            (NoProperty(), "and default_params with property"),
            (
                Attribute(),
                "Attribute.size is not a field, so equality ignores it: decorate the class with @dataclass",
            ),
        ):
            with pytest.raises(EnvironmentDefinitionError, match=message):
                env.reset(KEY)


class TestDeviceParams:
    """What `make` returns."""

    def test_equals_the_defaults_in_the_types_of_programs(self) -> None:
        params = arguments.device_params(Spring())
        expected = arguments.default_params(Spring())
        assert all(isinstance(leaf, jax.Array) and not leaf.weak_type for leaf in jax.tree.leaves(params))
        chex.assert_trees_all_equal(params, expected, strict=True)

    @pytest.mark.parametrize("call", [lambda *args: ENV.step(*args), jax.jit(ENV.step)], ids=["eager", "jit"])
    def test_no_call_transfers_them(self, call: Any) -> None:
        action, params = jnp.int32(1), arguments.device_params(ENV)
        call(KEY, STATE, action, params)
        call(KEY, STATE, action, ENV.default_params)
        with jax.transfer_guard_host_to_device("disallow"):
            call(KEY, STATE, action, params)
            with pytest.raises(Exception, match="Disallowed host-to-device transfer"):
                call(KEY, STATE, action, ENV.default_params)
