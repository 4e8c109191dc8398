"""A bridge to a library that is written the way libraries are: weak types, implicit promotion, its own auto-reset."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.engine.arguments import may_be_infinite
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError
from envcore_bridges.base import ForeignParams
from envcore_testing import Case, ConformanceError, check_lockstep, conformance_cases
from jax.tree_util import tree_leaves_with_path
from walk import FromTheirs, TheirParams, TheirState, TheirWalk, Wrapped, play


@pytest.mark.parametrize("case", conformance_cases(FromTheirs.make(TheirWalk)), ids=str)
def test_conforms(case: Case) -> None:
    case()


def test_it_plays_as_the_library_does() -> None:
    assert check_lockstep(FromTheirs.make(TheirWalk), **play()) > 10


def test_another_game_is_told_apart() -> None:
    env = FromTheirs.make(TheirWalk)
    with pytest.raises(ConformanceError, match="at step 0, reward is "):
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


def test_the_time_limit_is_ours() -> None:
    env = FromTheirs.make(TheirWalk, length=50)
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    assert check_lockstep(env, **play(length=50), params=params, num_steps=100) == 0


@dataclasses.dataclass(frozen=True)
class OutOfFuel(FromTheirs):
    """The walk is truncated where the fuel is low."""

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state, obs, reward, done, info = super().library_step(state, action, key, params)
        return state, obs, reward, done, {**info, "truncated": jnp.where(state.fuel < 0.6, 1.0, 0.0)}


@pytest.mark.parametrize(("limit", "length"), [(NO_TIME_LIMIT, 5), (3, 3)])
def test_the_library_s_own_truncation_and_the_time_limit_both_truncate(limit: int, length: int) -> None:
    env = OutOfFuel.make(TheirWalk)  # 0.9 ** 5 is the first below 0.6
    params = env.default_params.replace(max_steps_in_episode=limit)
    assert env.may_truncate(params)
    keys = jax.random.split(jax.random.key(0), 12)
    _, state = env.reset(keys[0], params)

    def advance(state: Any, key: jax.Array) -> tuple[Any, Any]:
        _, state, *_, info = env.step(key, state, 0, params)
        return state, info

    _, infos = jax.lax.scan(advance, state, keys)
    assert jnp.flatnonzero(infos["truncated"]).tolist() == list(range(length - 1, 12, length))
    assert not infos["terminated"].any()
    assert infos["fuel"].shape == (12,)


@dataclasses.dataclass(frozen=True)
class Picky(FromTheirs):
    refused_wrappers: ClassVar[tuple[str, ...]] = ("TheirWalk",)


def test_wrappers_that_do_what_is_done_here_are_refused() -> None:
    assert Picky.make(Wrapped).name == "Wrapped"
    for source in (TheirWalk, lambda: Wrapped(TheirWalk()), lambda: Wrapped(Wrapped(TheirWalk()))):
        with pytest.raises(InvalidArgumentError, match="is wrapped in TheirWalk, which does what envcore does itself"):
            Picky.make(source)


def test_what_makes_no_environment_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"that makes the environment, got <walk.TheirWalk"):
        FromTheirs.make(TheirWalk())  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match=r"dict does not make an environment .*: .* no attribute 'length'"):
        Needy.make(dict)
    assert Needy.make(TheirWalk).name == "TheirWalk"


@dataclasses.dataclass(frozen=True)
class Needy(FromTheirs):
    @property
    def time_limit(self) -> int:
        return self.library_env.length - 4


def test_entries_of_info_with_our_names_are_left_out() -> None:
    class Named(FromTheirs):
        def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
            *step, info = super().library_step(state, action, key, params)
            return *step, {**info, "discount": 7.0, "terminated": 8.0, "final_obs": 9.0, "action_mask": 10.0}

    env = Named.make(TheirWalk)
    key = jax.random.key(0)
    *_, info = env.step(key, env.reset(key)[1], 0)
    assert (info["discount"], info["terminated"], info["action_mask"].shape) == (1.0, False, (2,))
    assert "fuel" in info


def test_defaults_of_other_libraries_declare_their_infinity() -> None:
    params = ForeignParams({"bounds": np.array([1.0, np.inf]), "gravity": 9.8})
    leaves = [(path, np.asarray(leaf)) for path, leaf in tree_leaves_with_path(params)]
    found = {str(path[-1]): may_be_infinite(params, path, leaf) for path, leaf in leaves}
    assert found == {"['bounds']": True, "['gravity']": False, ".max_steps_in_episode": False}


def test_a_state_that_changes_its_shape_is_refused() -> None:
    class Growing(TheirWalk):
        def step(self, state: TheirState, action: jax.Array, params: TheirParams) -> tuple[TheirState, Any, Any]:
            after, reward, done = super().step(state, action, params)
            return after.replace(fuel=jnp.ones(2)), reward, done

        def observe(self, state: TheirState) -> jax.Array:
            return jnp.zeros(2)

    with pytest.raises(EnvironmentDefinitionError, match=r"same shapes, got \(\) and \(2,\)"):
        FromTheirs.make(Growing).reset(jax.random.key(0))
