from __future__ import annotations

import pickle
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError
from envcore.wrappers import FlattenObservation
from envcore_bridges.libraries import BY_FAMILY
from envcore_bridges.xminigrid import from_xminigrid
from envcore_testing import Case, check_env, check_lockstep, conformance_cases
from jax import lax
from xminigrid.core.constants import Colors, Tiles
from xminigrid.core.goals import AgentHoldGoal
from xminigrid.core.rules import TileNearRule
from xminigrid.envs import EmptyRandom, XLandMiniGrid
from xminigrid.registration import make, registered_environments
from xminigrid.types import RuleSet
from xminigrid.wrappers import DirectionObservationWrapper, RulesAndGoalsObservationWrapper

ENVIRONMENTS = BY_FAMILY["xminigrid"].environments()

CHEAP = "MiniGrid-EmptyRandom-5x5"  # the test of the limit plays it beside the library
SLOW = ("MiniGrid-DoorKey-5x5", "MiniGrid-MemoryS8")
SQUARE, BALL, KEY = (Tiles.SQUARE, Colors.RED), (Tiles.BALL, Colors.GREEN), (Tiles.KEY, Colors.BLUE)


def hold(tile: tuple[int, int]) -> RuleSet:
    """A red square beside a green ball becomes a blue key; the goal is to hold `tile`."""
    ball, square, key = (np.array(tile, np.uint8) for tile in (BALL, SQUARE, KEY))
    return RuleSet(
        goal=AgentHoldGoal(tile=jnp.array(tile, jnp.uint8)).encode(),
        rules=jnp.stack([TileNearRule(tile_a=square, tile_b=ball, prod_tile=key).encode()]),  # pyright: ignore[reportArgumentType]
        init_tiles=jnp.array([BALL, SQUARE, BALL, SQUARE], jnp.uint8),
    )


def test_the_library_lists_what_is_announced() -> None:
    assert set(ENVIRONMENTS) == set(registered_environments())


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(from_xminigrid(CHEAP)), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.exhaustive
def test_xland_with_a_ruleset_conforms() -> None:
    wrappers = ("DirectionObservationWrapper", "RulesAndGoalsObservationWrapper")
    check_env(from_xminigrid("XLand-MiniGrid-R4-9x9", ruleset=hold(BALL), wrappers=wrappers), num_steps=300)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # the library's own
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_conforms(name: str) -> None:
    check_env(from_xminigrid(name), num_steps=48)


def play(name: str, **options: Any) -> dict[str, Any]:
    """The library's own loop, without its auto-reset."""
    env, params = make(name, **options)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        timestep = env.reset(params, key)
        return timestep, timestep.observation

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        # A number that XLA does not know, as ours is: by a constant it would multiply instead of divide.
        limit = lax.optimization_barrier(jnp.int32(params.max_steps or NO_TIME_LIMIT))
        after = env.step(params.replace(max_steps=limit), state, action)
        terminated = after.last() & (after.discount == 0)
        return after, after.observation, after.reward, terminated, after.state.step_num >= limit

    return {"reset": reset, "step": step}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else pytest.mark.exhaustive) for name in ENVIRONMENTS],
)
def test_it_plays_as_the_library_does(name: str) -> None:
    env, params = envcore.make(f"xminigrid/{name}")
    limit = int(params.max_steps_in_episode)
    num_steps = min(2 * limit + 20, 3000)
    assert check_lockstep(env, **play(name), num_steps=num_steps) >= num_steps // limit


@pytest.mark.slow
def test_xland_plays_as_the_library_does_with_the_ruleset_of_params() -> None:
    env, params = envcore.make("xminigrid/XLand-MiniGrid-R1-9x9", ruleset=hold(KEY))
    theirs = play("XLand-MiniGrid-R1-9x9", ruleset=hold(BALL))  # a ball lies there from the start
    assert check_lockstep(env, **theirs, params=params.replace(ruleset=hold(BALL)), num_steps=600) > 2


def test_rulesets_may_differ_in_a_batch() -> None:
    env, params = envcore.make("xminigrid/XLand-MiniGrid-R1-9x9", ruleset=hold(KEY))
    many = jax.tree.map(lambda *parts: jnp.stack(parts), *(params.replace(ruleset=hold(x)) for x in (KEY, BALL)))
    _, state = jax.vmap(env.reset, (None, 0))(jax.random.key(0), many)
    assert np.array_equal(state.inner.state.goal_encoding[:, 1:3], [KEY, BALL])


def test_a_ruleset_is_a_value() -> None:
    env = from_xminigrid("XLand-MiniGrid-R1-9x9", ruleset=hold(KEY))
    assert from_xminigrid("XLand-MiniGrid-R1-9x9", ruleset=dict(env.options)["ruleset"]) == env
    assert pickle.loads(pickle.dumps(env)) == env
    with pytest.raises(InvalidArgumentError, match="'ruleset' must be a RuleSet or its three parts, got 7"):
        from_xminigrid("XLand-MiniGrid-R1-9x9", ruleset=7)


@pytest.mark.slow
def test_the_limit_is_in_params_and_scales_the_reward() -> None:
    env, params = envcore.make(f"xminigrid/{CHEAP}")
    assert params.max_steps_in_episode == 100
    shorter = params.replace(max_steps_in_episode=30)
    assert check_lockstep(env, **play(CHEAP, max_steps=30), params=shorter) > 16
    _, params = envcore.make(f"xminigrid/{CHEAP}", max_steps=30)
    assert params.max_steps_in_episode == 30


def test_only_the_goal_terminates() -> None:
    env, params = envcore.make("xminigrid/MiniGrid-Empty-5x5")
    key = jax.random.key(0)
    _, start = env.reset(key, params)
    to_goal = [0, 0, 1, 0, 0]  # forward, forward, turn right, forward, forward
    for limit, ends, reward in ((5, (True, True), 0.1), (4, (False, True), 0.0), (NO_TIME_LIMIT, (True, False), 1.0)):
        state, info, got = start, {}, None
        limited = params.replace(max_steps_in_episode=limit)
        for action in to_goal[: min(limit, 5)]:
            _, state, got, _, info = env.step(key, state, action, limited)
        assert (bool(info["terminated"]), bool(info["truncated"])) == ends
        assert got == pytest.approx(reward, abs=1e-6)


@pytest.mark.parametrize("wrappers", [(DirectionObservationWrapper,), ("DirectionObservationWrapper",)])
def test_wrappers_of_observations(wrappers: tuple[Any, ...]) -> None:
    env, params = envcore.make(f"xminigrid/{CHEAP}", wrappers=wrappers, view_size=3)
    space = env.observation_space(params)
    assert isinstance(space, spaces.Dict)
    assert {name: part.shape for name, part in space.spaces.items()} == {"img": (3, 3, 2), "direction": (4,)}
    flat = FlattenObservation(env)
    obs, _ = flat.reset(jax.random.key(0), params)
    assert obs.shape == (22,)
    assert flat.observation_space(params).contains(obs)


def small_room() -> Any:
    return RulesAndGoalsObservationWrapper(XLandMiniGrid())


class Corridor(EmptyRandom):
    """A class of the user's."""


@pytest.mark.slow
def test_classes_and_functions_of_the_user_s_make_environments() -> None:
    env = from_xminigrid(Corridor, height=3, width=9)
    assert env.name == "Corridor"
    assert env.default_params.max_steps_in_episode == 4 * 3 * 9
    assert env.reset(jax.random.key(0))[1].inner.state.grid.shape == (3, 9, 2)
    env = from_xminigrid(small_room, ruleset=hold(KEY), grid_type="R1")
    obs, _ = env.reset(jax.random.key(0))
    assert obs["rule_encoding"].shape == (1, 7)
    assert env.observation_space(env.default_params).contains(obs)
    assert pickle.loads(pickle.dumps(env)) == env


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(InvalidArgumentError, match=rf"^xminigrid/{CHEAP} got invalid options: .*'wrong_option'$"):
        envcore.make(f"xminigrid/{CHEAP}", wrong_option=1)
    with pytest.raises(InvalidArgumentError, match="XLand-MiniGrid has no environment 'MiniGrid-Nothing'"):
        from_xminigrid("MiniGrid-Nothing")
    with pytest.raises(InvalidArgumentError, match=r"classes of xminigrid.wrappers, got 'Missing'"):
        from_xminigrid(CHEAP, wrappers=("Missing",))
    with pytest.raises(
        InvalidArgumentError, match="is wrapped in GymAutoResetWrapper, which does what envcore does itself"
    ):
        from_xminigrid(CHEAP, wrappers=("GymAutoResetWrapper",))


def test_pictures_are_the_library_s() -> None:
    env, params = envcore.make("xminigrid/MiniGrid-EmptyRandom-5x5")
    _, state = env.reset(jax.random.key(0))
    picture = jax.jit(lambda state: env.render(state, params, height=160))(state)
    theirs, theirs_params = env.unwrapped.library_env  # pyright: ignore[reportAttributeAccessIssue]
    timestep = jax.tree.map(np.asarray, state.inner)
    np.testing.assert_array_equal(picture, theirs.render(theirs_params.replace(render_mode="rgb_array"), timestep))
