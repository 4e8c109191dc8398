"""A bridge to a library that is written the way libraries are: weak types, implicit promotion, its own auto-reset."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.devices import IS_SUPPORTED
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError
from envcore.foreign import (
    ForeignEnvironment,
    ForeignParams,
    as_dicts,
    layers,
    paint_on_host,
    rebuilt,
    unknown_name,
)
from envcore.wrappers import Batched, LogWrapper, Sharded
from envcore_testing import Case, ConformanceError, check_lockstep, conformance_cases
from flax import struct

LOADED: list[str] = []


@struct.dataclass
class TheirState:
    place: Any
    fuel: Any
    key: Any
    label: str = struct.field(pytree_node=False, default="walk")

    replace: ClassVar[Any]  # flax adds it


@struct.dataclass
class TheirParams:
    gain: Any = 1.0


class TheirWalk:
    """Walks on a line of `length` places; a step to the right sometimes fails."""

    def __init__(self, length: int = 5):
        LOADED.append("walk")
        self.length, self.table = length, jnp.arange(length) * 2

    def reset(self, key: jax.Array) -> TheirState:
        key, _ = jax.random.split(key)  # a legacy key: theirs is the shape (2,)
        return TheirState(place=0, fuel=1, key=jnp.reshape(key, (2,)))

    def step(self, state: TheirState, action: jax.Array, params: TheirParams) -> tuple[TheirState, Any, Any]:
        key, key_slip = jax.random.split(state.key)
        slips = jax.random.uniform(key_slip) < 0.3
        place = jnp.clip(state.place + jnp.where(slips, 0, 2 * action - 1), 0, len(self.table) - 1)
        reward = params.gain * action + self.table[place]  # float times integer
        after = state.replace(place=place, fuel=state.fuel * 0.9, key=key)
        return after, reward, place == len(self.table) - 1

    def observe(self, state: TheirState) -> jax.Array:
        return jnp.stack([state.place / 4, state.fuel])


@dataclasses.dataclass(frozen=True)
class FromTheirs(ForeignEnvironment):
    """The walk."""

    def load(self) -> TheirWalk:
        assert not isinstance(self.source, str)
        return self.source(**dict(self.options))

    @property
    def time_limit(self) -> int:
        return 20

    @property
    def default_params(self) -> ForeignParams:
        return ForeignParams(env_params=TheirParams(), max_steps_in_episode=self.time_limit)

    def make_action_space(self, params: Any) -> spaces.Space:
        return spaces.Discrete(2)

    def make_observation_space(self, params: Any) -> spaces.Space:
        return spaces.Box(0.0, 1.0, (2,))

    def begin(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        state = self.library_env.reset(key)
        return state, self.library_env.observe(state)

    def proceed(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state, reward, done = self.library_env.step(state, action, params.env_params)
        return state, self.library_env.observe(state), reward, done, {"fuel": state.fuel}

    def mask(self, state: Any, obs: Any, params: Any) -> Any:
        return jnp.stack([state.place > 0, True])


@pytest.mark.parametrize("case", conformance_cases(FromTheirs.make(TheirWalk)), ids=str)
def test_conforms(case: Case) -> None:
    case()


def play(gain: float = 1.0, length: int = 5) -> dict[str, Any]:
    walk = TheirWalk(length)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = walk.reset(key)
        return state, walk.observe(state)

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        state, reward, done = walk.step(state, action, TheirParams(gain))
        return state, walk.observe(state), reward, done

    return {"reset": reset, "step": step}


def test_it_plays_as_the_library_does() -> None:
    assert check_lockstep(FromTheirs.make(TheirWalk), **play()) > 10


def test_another_game_is_told_apart() -> None:
    env = FromTheirs.make(TheirWalk)
    with pytest.raises(ConformanceError, match=r"at step 0, \['reward'\] is "):
        check_lockstep(env, **play(gain=2.0))
    with pytest.raises(ConformanceError, match="at step"):
        check_lockstep(env, **play(length=7))


def test_the_library_s_params_are_read_and_replaced_like_ours() -> None:
    env = FromTheirs.make(TheirWalk)
    params = env.default_params
    assert params.gain == 1.0
    assert params.replace(gain=2.0, max_steps_in_episode=3) == ForeignParams(
        env_params=TheirParams(2.0), max_steps_in_episode=3
    )
    with pytest.raises(AttributeError, match="loss"):
        _ = params.loss
    check_lockstep(env, **play(gain=2.0), params=params.replace(gain=2.0))


@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="XLA has the usual emitters alone")
def test_both_programs_round_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    # Pong of JAXtari differed in the last bit under the pytest plugin `unoptimized`: what is one product and sum in a
    # fusion of one program may be in two fusions of the other.
    chosen: list[Any] = []
    compiled = jax.jit

    def jit(fun: Any, **options: Any) -> Any:
        chosen.append(options.get("compiler_options"))
        return compiled(fun, **options)

    monkeypatch.setattr(jax, "jit", jit)
    check_lockstep(FromTheirs.make(TheirWalk), **play(), num_steps=20)
    assert chosen.count({"xla_cpu_use_fusion_emitters": True}) == 2


def test_the_time_limit_is_ours() -> None:
    env = FromTheirs.make(TheirWalk, length=50)
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    assert check_lockstep(env, **play(length=50), params=params, num_steps=100) == 0


@dataclasses.dataclass(frozen=True)
class OutOfFuel(FromTheirs):
    """The walk is truncated where the fuel is low."""

    def proceed(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state, obs, reward, done, info = super().proceed(state, action, key, params)
        return state, obs, reward, done, {**info, "truncated": jnp.where(state.fuel < 0.6, 1.0, 0.0)}


@pytest.mark.parametrize(
    "case", [case for case in conformance_cases(OutOfFuel.make(TheirWalk)) if "time_limit" in str(case)], ids=str
)
def test_truncations_of_the_library_s_own_conform(case: Case) -> None:
    case()


@pytest.mark.parametrize(("limit", "length"), [(NO_TIME_LIMIT, 5), (3, 3)])
def test_the_library_s_own_truncation_and_the_time_limit_both_truncate(limit: int, length: int) -> None:
    env = OutOfFuel.make(TheirWalk)  # 0.9 ** 5 is the first below 0.6
    params = env.default_params.replace(max_steps_in_episode=limit)
    keys = jax.random.split(jax.random.key(0), 12)
    _, state = env.reset(keys[0], params)

    def advance(state: Any, key: jax.Array) -> tuple[Any, Any]:
        _, state, *_, info = env.step(key, state, 0, params)
        return state, info

    _, infos = jax.lax.scan(advance, state, keys)
    assert jnp.flatnonzero(infos["truncated"]).tolist() == list(range(length - 1, 12, length))
    assert not infos["terminated"].any()
    assert infos["fuel"].shape == (12,)


def test_a_truncation_that_is_no_scalar_is_refused() -> None:
    class Vector(OutOfFuel):
        def proceed(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
            *step, info = super().proceed(state, action, key, params)
            return *step, {**info, "truncated": jnp.zeros(2)}

    env = Vector.make(TheirWalk)
    key = jax.random.key(0)
    with pytest.raises(EnvironmentDefinitionError, match=r"info\['truncated'\] must have shape \(\), got \(2,\)"):
        env.step(key, env.reset(key)[1], 0)


def test_equal_bridges_share_the_library_s_environment_which_is_made_on_demand() -> None:
    LOADED.clear()
    env = FromTheirs(TheirWalk, (("length", 6),))
    assert LOADED == []
    again = pickle.loads(pickle.dumps(env))
    assert again == env
    assert again.library_env is env.library_env
    assert LOADED == ["walk"]
    assert FromTheirs.make(TheirWalk, length=7) != env
    assert env.name == "TheirWalk"


def test_made_inside_jit_the_library_s_arrays_are_no_tracers() -> None:
    env = FromTheirs(TheirWalk, (("length", 9),))
    jax.jit(lambda key: env.reset(key)[0])(jax.random.key(0))
    assert np.asarray(env.library_env.table).shape == (9,)


def test_a_state_that_changes_its_shape_is_refused() -> None:
    class Growing(TheirWalk):
        def step(self, state: TheirState, action: jax.Array, params: TheirParams) -> tuple[TheirState, Any, Any]:
            after, reward, done = super().step(state, action, params)
            return after.replace(fuel=jnp.ones(2)), reward, done

        def observe(self, state: TheirState) -> jax.Array:
            return jnp.zeros(2)

    with pytest.raises(EnvironmentDefinitionError, match=r"same shapes, got \(\) and \(2,\)"):
        FromTheirs.make(Growing).reset(jax.random.key(0))


def test_names() -> None:
    assert FromTheirs.make(TheirWalk).name == "TheirWalk"
    assert FromTheirs.make(functools.partial(TheirWalk, 3)).name == "TheirWalk"


@dataclasses.dataclass
class Wrapped(TheirWalk):
    env: Any = None
    length: int = 5

    def __post_init__(self) -> None:
        super().__init__(self.length)


@dataclasses.dataclass(frozen=True)
class Picky(FromTheirs):
    refused_wrappers: ClassVar[tuple[str, ...]] = ("TheirWalk",)


def test_wrappers_that_do_what_is_done_here_are_refused() -> None:
    assert Picky.make(Wrapped).name == "Wrapped"
    for source in (TheirWalk, lambda: Wrapped(TheirWalk()), lambda: Wrapped(Wrapped(TheirWalk()))):
        with pytest.raises(InvalidArgumentError, match="is wrapped in TheirWalk, which does what envcore does itself"):
            Picky.make(source)


def test_masks_pass_through_wrappers() -> None:
    env = FromTheirs.make(TheirWalk)
    for batch in (LogWrapper(Batched(env, 4)), *([Sharded(env, 4)] if IS_SUPPORTED else [])):
        key = jax.random.key(0)
        _, state = batch.reset(key)
        assert batch.get_action_mask(state).tolist() == [[False, True]] * 4
        *_, info = jax.jit(batch.step)(key, state, jnp.ones(4, jnp.int32))
        assert info["action_mask"].shape == (4, 2)
        assert info["action_mask"].any()


def test_options_are_checked_when_it_is_made() -> None:
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'width'"):
        FromTheirs.make(TheirWalk, width=3)
    with pytest.raises(TypeError, match="missing 1 required"):
        FromTheirs.make(lambda length: TheirWalk(length))
    with pytest.raises(InvalidArgumentError, match=r"the option 'length' must be hashable, such as a tuple, got \[5\]"):
        FromTheirs.make(TheirWalk, length=[5])  # pyright: ignore[reportArgumentType]


def test_what_makes_no_environment_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got an instance of TheirWalk: .* pass `lambda: environment`"):
        FromTheirs.make(TheirWalk())  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        InvalidArgumentError, match=r"dict makes no environment of the library.s, but a dict, which has no reset"
    ):
        Needy.make(dict)
    assert Needy.make(TheirWalk).name == "TheirWalk"


@dataclasses.dataclass(frozen=True)
class Needy(FromTheirs):
    required: ClassVar[tuple[str, ...]] = ("reset", "observe")

    @property
    def time_limit(self) -> int:
        return self.library_env.length - 4


def test_a_time_limit_of_no_step_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="at least one step, got 0"):
        Needy.make(TheirWalk, length=4)


def test_equal_options_of_other_types_are_other_options() -> None:
    made = [FromTheirs.make(TheirWalk, length=length) for length in (5, 5.0, 5)]
    assert made[0] == made[2] != made[1]
    assert [type(env.library_env.length) for env in made] == [int, float, int]


def test_entries_of_info_with_our_names_are_left_out() -> None:
    class Named(FromTheirs):
        def proceed(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
            *step, info = super().proceed(state, action, key, params)
            return *step, {**info, "discount": 7.0, "terminated": 8.0, "final_obs": 9.0, "action_mask": 10.0}

    env = Named.make(TheirWalk)
    key = jax.random.key(0)
    *_, info = env.step(key, env.reset(key)[1], 0)
    assert (info["discount"], info["terminated"], info["action_mask"].shape) == (1.0, False, (2,))
    assert "fuel" in info


def test_what_is_rebuilt_leaves_the_user_s_environment_as_it_is() -> None:
    inner = TheirWalk()
    outer = Wrapped(Wrapped(inner))
    changed = rebuilt(outer, lambda env: setattr(env, "length", 9))
    assert [env.length for env in layers(changed)] == [5, 5, 9]
    assert (outer.env.env, inner.length) == (inner, 5)


def test_the_error_for_an_unknown_name() -> None:
    assert str(unknown_name("Walks", "lnog", ["long", "short"])) == (
        "Walks has no environment 'lnog'. Did you mean 'long'?"
    )
    assert str(unknown_name("Walks", "x", ["long", "short"])) == "Walks has no environment 'x'. It has long, short."
    assert str(unknown_name("Walks", "x", "gfedcba")).endswith("It has a, b, c, d, e and 2 more.")


class Place(NamedTuple):
    x: Any
    y: Any


@struct.dataclass
class Seen:
    places: Any
    label: str = struct.field(pytree_node=False, default="walk")


@functools.partial(jax.tree_util.register_dataclass, data_fields=["score"], meta_fields=["rules"])
@dataclasses.dataclass
class Score:
    score: Any
    rules: str = dataclasses.field(default="simple", metadata={"static": True})


@pytest.mark.parametrize(
    ("records", "dicts"),
    [
        (3, 3),
        (Place(1, None), {"x": 1, "y": None}),
        (Seen([Place(1, 2)]), {"places": ({"x": 1, "y": 2},)}),
        (Score(Seen(4)), {"score": {"places": 4}}),
        (MappingProxyType({"a": (Score(5), [6])}), {"a": ({"score": 5}, (6,))}),
    ],
)
def test_records_become_dicts(records: Any, dicts: Any) -> None:
    assert as_dicts(records) == dicts


def test_arrays_in_records_stay_as_they_are() -> None:
    array = jnp.arange(3)
    assert as_dicts(Seen(array))["places"] is array


def test_pictures_of_a_renderer_on_the_host() -> None:
    def draw(place: np.ndarray) -> np.ndarray:
        assert isinstance(place, np.ndarray) or np.ndim(place) == 0
        return np.full((4, 6, 3), place, np.uint8)

    places = jnp.arange(3)
    pictures = jax.jit(jax.vmap(lambda place: paint_on_host(draw, place, (4, 6))))(places)
    assert pictures.shape == (3, 4, 6, 3)
    assert pictures[:, 0, 0, 0].tolist() == [0, 1, 2]
