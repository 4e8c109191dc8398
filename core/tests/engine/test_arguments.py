from __future__ import annotations

import dataclasses
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
from envcore.wrappers import Batched
from flax import struct
from jax.core import Tracer
from toy import Counter, CounterParams, Deck, Spring, SpringParams

KEY = jax.random.key(0)
ENV = Counter()
_, STATE = ENV.reset(KEY)


class Pair(Counter):
    """A counter whose action is a dict of two entries."""

    def action_space(self, params: Any) -> Any:
        return spaces.Dict({"count": spaces.Discrete(2), "note": spaces.Box(-1.0, 1.0, (2,))})

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        assert (action["count"].dtype, action["note"].dtype) == (jnp.int32, jnp.float32)
        return super().transition(state, action["count"], draws, params)


class Bytes(Counter):
    """A counter whose action is a number of one byte."""

    def action_space(self, params: Any) -> Any:
        return spaces.Box(0, 1, (), np.uint8)


def eagerly(function: Any) -> None:
    function()


def while_tracing(function: Any) -> None:
    jax.eval_shape(function)


EVERYWHERE = pytest.mark.parametrize("run", [eagerly, while_tracing])


@EVERYWHERE
class TestRefused:
    @pytest.mark.parametrize("key", [0, 1.5, None, np.zeros(2), jnp.zeros(3, jnp.uint32), "key", STATE])
    def test_what_is_not_a_key(self, run: Any, key: Any) -> None:
        for call in (ENV.reset, lambda key: ENV.step(key, STATE, 1), lambda key: ENV.step_env(key, STATE, 1)):
            with pytest.raises(
                InvalidArgumentError, match=r"^expected a random key, got .* make one with jax\.random\.key"
            ):
                run(lambda call=call: call(key))

    @pytest.mark.parametrize("make", [jax.random.key, jax.random.PRNGKey])
    def test_a_batch_of_keys(self, run: Any, make: Any) -> None:
        keys = jax.random.split(make(0), 3)
        with pytest.raises(InvalidArgumentError, match=r"got a batch of \(3,\): use jax\.vmap"):
            run(lambda: ENV.reset(keys))

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            (SpringParams(), "must be CounterParams, got SpringParams"),
            ({"bonus": 1.0}, "must be CounterParams, got dict"),
            (3, "must be CounterParams, got int"),
            (
                CounterParams(bonus=np.zeros(2)),
                r"\.bonus must have shape \(\), got \(2,\)\. To map over a batch, use jax\.vmap",
            ),
            (CounterParams(bonus=True), r"\.bonus must be float32, got bool"),
            (CounterParams(bonus="much"), r"\.bonus must be float32, got <U4"),
            (CounterParams(max_steps_in_episode=2.5), r"\.max_steps_in_episode must be int32, got float64"),
            (CounterParams(max_steps_in_episode=2**31), r"\.max_steps_in_episode must fit into int32, got 2147483648"),
            (
                CounterParams(max_steps_in_episode=0),
                r"\.max_steps_in_episode must be at least 1, or .* got 0",
            ),
            (
                CounterParams(max_steps_in_episode=np.int64(-3)),
                r"\.max_steps_in_episode must be at least 1, or .* got -3",
            ),
            (
                CounterParams(max_steps_in_episode=np.array(0)),
                r"\.max_steps_in_episode must be at least 1, or .* got 0",
            ),
            (
                CounterParams(max_steps_in_episode=np.array(-5)),
                r"\.max_steps_in_episode must be at least 1, or .* got -5",
            ),
        ],
        ids=str,
    )
    def test_params(self, run: Any, params: Any, message: str) -> None:
        for call in (
            lambda: ENV.reset(KEY, params),
            lambda: ENV.step(KEY, STATE, 1, params),
            lambda: ENV.step_env(KEY, STATE, 1, params),
        ):
            with pytest.raises(InvalidParamsError, match=f"^Counter's params {message}|^Counter's params{message}"):
                run(call)

    @pytest.mark.parametrize(
        ("state", "message"),
        [
            (Deck().reset(KEY)[1], " must be CounterState, got DeckState"),
            (ENV.reset(KEY)[0], " must be CounterState, got one array"),
            (STATE.replace(count=jnp.float32(0)), r"\.count must be int32, got float32"),
            (
                jax.tree.map(lambda x: x[None], STATE),
                r"\.time must have shape \(\), got \(1,\)\. To map over a batch, use jax",
            ),
        ],
        ids=["another-environment's", "an-observation", "float", "batch"],
    )
    def test_states(self, run: Any, state: Any, message: str) -> None:
        for call in (
            lambda: ENV.step(KEY, state, 1),
            lambda: ENV.step_env(KEY, state, 1),
        ):
            with pytest.raises(InvalidArgumentError, match=f"^Counter's state{message}"):
                run(call)

    @pytest.mark.parametrize(
        ("env", "action", "message"),
        [
            (ENV, 0.5, "expected an integer, got float64"),
            (ENV, True, "expected an integer, got bool"),
            (ENV, None, "expected an array, got NoneType"),
            (ENV, 2, "got 2"),
            (ENV, -1, "got -1"),
            (ENV, np.int64(7), "got 7"),
            (ENV, {"count": 1}, "expected an array, got dict"),
            (Spring(), [0.5], "expected an array, got list"),
            (Pair(), {"count": 2, "note": np.zeros(2)}, "got 2"),
            (Spring(), 0.5, r"expected shape \(1,\), got \(\)"),
            (Spring(), np.array([True]), "expected a real number, got bool"),
            *((Spring(), np.array([value]), f"got {value}") for value in (np.nan, np.inf, -np.inf, np.float32(np.nan))),
            (Spring(), np.array([1e300]), r"got 1e\+300"),  # infinite as float32
            (Batched(Spring(), 30), np.full((30, 1), np.nan), "got nan"),  # of many, the first
            (Bytes(), np.int64(300), "got 300"),  # the dtype would wrap it around
            (Bytes(), -1, "got -1"),
            (Pair(), {"count": 1, "note": np.array([0, np.nan])}, "got nan"),
            (Pair(), 1, "expected a dict of 'count', 'note', got 1"),
            (Pair(), {"count": 1}, "expected a dict of 'count', 'note', got dict"),
            (Pair(), {"count": 1, "note": np.zeros(3)}, r"in part 'note': expected shape \(2,\), got \(3,\)"),
        ],
        ids=str,
    )
    def test_actions(self, run: Any, env: Any, action: Any, message: str) -> None:
        _, state = env.reset(KEY)
        for step in (env.step, env.step_env):
            with pytest.raises(
                InvalidActionError,
                match=rf"^an action of {env.name} must be in .*: {message}(, which is not finite as float32)?\.",
            ):
                run(lambda step=step: step(KEY, state, action))

    @pytest.mark.parametrize(("env", "action"), [(ENV, np.zeros(4, int)), (Spring(), np.zeros((4, 1)))])
    def test_a_batch_of_actions(self, run: Any, env: Any, action: Any) -> None:
        _, state = env.reset(KEY)
        with pytest.raises(InvalidActionError, match=r"got \(4.*To step a batch of environments, use jax\.vmap or"):
            run(lambda: env.step(KEY, state, action))


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
    with pytest.raises(InvalidParamsError, match=r"must have shape \(\), got \(2,\)"):
        jax.jit(lambda bonus: ENV.reset(KEY, CounterParams(bonus=bonus)))(np.zeros(2, np.float32))
    with pytest.raises(InvalidArgumentError, match="expected a random key"):
        jax.jit(ENV.reset)(np.zeros(2, np.float32))


@pytest.mark.parametrize("action", [1, np.int64(1), np.uint8(1), np.array(1), jnp.int32(1), jnp.uint8(1)], ids=repr)
def test_integers_of_every_kind_are_actions(action: Any) -> None:
    assert int(ENV.step(KEY, STATE, action)[1].count) == 1


@pytest.mark.parametrize("action", [np.array([1.0]), np.array([1]), jnp.ones(1), jnp.ones(1, jnp.float16)], ids=repr)
def test_numbers_of_every_kind_are_actions_of_a_float_box(action: Any) -> None:
    _, state = Spring().reset(KEY)
    expected = Spring().step(KEY, state, jnp.ones(1))
    chex.assert_trees_all_equal(Spring().step(KEY, state, action), expected, strict=True)


def test_every_part_of_an_action_is_cast() -> None:
    step = Pair().step(KEY, STATE, {"note": np.zeros(2), "count": np.int64(1)})
    assert int(step[1].count) == 1


def test_what_a_jax_array_holds_is_not_looked_at() -> None:
    assert int(ENV.step_env(KEY, STATE, jnp.int32(7))[1].count) == 3


def test_params_may_be_python_numpy_or_jax_numbers() -> None:
    for bonus in (2, 2.0, np.float64(2), np.int8(2), jnp.float32(2), jnp.int32(2)):
        params = CounterParams(bonus=bonus, max_steps_in_episode=np.int64(10))
        checked = arguments.checked_params(ENV, params)
        assert (checked.bonus.dtype, checked.max_steps_in_episode.dtype) == (np.float32, np.int32)
        assert float(ENV.step(KEY, STATE, 1, params)[2]) == 2


def test_params_none_are_the_defaults() -> None:
    assert arguments.checked_params(ENV, None) == CounterParams(bonus=0.5, max_steps_in_episode=10)


def test_a_stored_state_may_be_numpy_arrays() -> None:
    stored = jax.tree.map(np.asarray, STATE)
    chex.assert_trees_all_equal(ENV.step(KEY, stored, 1), ENV.step(KEY, STATE, 1), strict=True)


def test_defaults_and_types_are_found_once_for_equal_environments() -> None:
    assert arguments.default_params(Counter(3)) is arguments.default_params(Counter(3))
    assert arguments.state_struct(Counter(3)) is arguments.state_struct(Counter(3))


def test_defaults_keep_small_dtypes_and_device_arrays() -> None:
    on_device = jnp.arange(3, dtype=jnp.uint8)

    @struct.dataclass
    class Params(EnvParams):
        device: Any
        small: Any
        wide: Any
        number: Any

    @dataclasses.dataclass(frozen=True)
    class WithParams(Counter):
        @property
        def default_params(self) -> Any:
            return Params(device=on_device, small=np.zeros(2, np.int8), wide=np.zeros(2), number=3)

    params = arguments.default_params(WithParams())
    assert params.device is on_device
    assert (params.small.dtype, params.wide.dtype, params.number.dtype) == (np.int8, np.float32, np.int32)


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

        for env, message in (
            (WrongParams(), "default_params returned a Params, which is not a pytree: decorate the class with flax"),
            (WrongState(), "init_state returned a State, which is not a pytree: decorate the class with flax"),
            (NoProperty(), "and default_params with property"),
        ):
            with pytest.raises(EnvironmentDefinitionError, match=message):
                env.reset(KEY)

    def test_a_param_that_is_missing_is_named(self) -> None:
        with pytest.raises(InvalidParamsError, match=r"must be CounterParams, got one without \.bonus"):
            ENV.reset(KEY, CounterParams(bonus=None))


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

    def test_donated_params_are_made_again(self) -> None:
        donated = arguments.device_params(ENV)
        jax.jit(lambda params: jax.tree.map(lambda x: x + x.dtype.type(1), params), donate_argnums=0)(donated)
        assert any(leaf.is_deleted() for leaf in jax.tree.leaves(donated))
        _, _, reward, *_ = ENV.step(KEY, STATE, 1, arguments.device_params(ENV))
        assert np.isfinite(reward)
        ENV.step(KEY, STATE, 1)

    def test_while_tracing(self) -> None:
        found = []

        @jax.jit
        def program() -> jax.Array:
            found.append(arguments.device_params(ENV))
            return ENV.reset(KEY, found[0])[0]

        program()
        assert not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(found))


@pytest.mark.parametrize("leave", ["python", "numpy", "jax"])
def test_exact_values_pass_as_they_are(leave: str) -> None:
    params = arguments.device_params(ENV)
    if leave != "jax":
        params = params.replace(bonus=2.5 if leave == "python" else np.float64(2.5))
    checked = arguments.checked_params(ENV, params)
    assert (checked is params) == (leave == "jax")
    for leaf, given in zip(jax.tree.leaves(checked), jax.tree.leaves(params), strict=True):
        assert leaf is given or (leaf.dtype, float(leaf)) == (jnp.float32, 2.5)
    assert arguments.checked_state(ENV, STATE) is STATE
