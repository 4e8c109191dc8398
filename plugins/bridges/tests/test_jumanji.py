from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import jumanji
import jumanji.types
import jumanji.wrappers
import numpy as np
import pytest
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import DatasetError, InvalidArgumentError
from envcore.wrappers import FlattenObservation
from envcore_bridges.base import as_dicts, default_numerics
from envcore_bridges.jumanji import from_jumanji
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Case, check_env, check_lockstep, conformance_cases
from jumanji.environments.packing.knapsack.env import Knapsack
from jumanji.environments.packing.knapsack.generator import RandomGenerator as KnapsackGenerator
from jumanji.environments.routing.connector.env import Connector
from jumanji.environments.routing.maze.env import Maze
from jumanji.environments.routing.maze.generator import RandomGenerator
from jumanji.environments.routing.sokoban.env import Sokoban
from jumanji.environments.routing.sokoban.generator import ToyGenerator
from jumanji.registration import make, registered_environments
from jumanji.wrappers import MultiToSingleWrapper

ENVIRONMENTS = BY_FAMILY["jumanji"].environments()

_REWARD_FOR_EACH_AGENT = {"Connector-v3", "LevelBasedForaging-v0", "SearchAndRescue-v0"}
_SLOW = ("Maze-v0", "Snake-v1", "JobShop-v0")
# Jumanji's own code promotes dtypes in a way that JAX warns of.
pytestmark = pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types:FutureWarning")


def library_loop(game: Any) -> dict[str, Any]:
    """`reset` and `step` of a game of Jumanji whose own time limit is not reached."""

    def reset(key: jax.Array) -> tuple[Any, Any]:
        state, timestep = game.reset(key)
        return state, as_dicts(timestep.observation)

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        state, timestep = game.step(state, action)
        return state, as_dicts(timestep.observation), timestep.reward, timestep.last()

    return {"reset": reset, "step": step}


def test_the_library_lists_what_is_announced() -> None:
    assert set(ENVIRONMENTS) == registered_environments() - _REWARD_FOR_EACH_AGENT


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(from_jumanji("Maze-v0")), ids=str)
def test_conforms(case: Case) -> None:
    case()


def options_of(name: str) -> dict[str, Any]:
    """Sokoban's levels would be downloaded."""
    return {"generator": ToyGenerator()} if name == "Sokoban-v0" else {}


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # the library's own
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_conforms(name: str) -> None:
    check_env(from_jumanji(name, **options_of(name)), num_steps=48)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in _SLOW else pytest.mark.exhaustive) for name in ENVIRONMENTS],
)
def test_it_plays_as_the_library_does(name: str) -> None:
    options = options_of(name)
    env = from_jumanji(name, **options)
    limit = getattr(env.library_env, "time_limit", None)
    later = {} if limit is None else {"time_limit": limit + 1}
    num_steps = 200 if limit is None else min(limit, 600) + 60
    with default_numerics():  # the tests' are strict
        game = make(name, **options, **later)
    check_lockstep(env, **library_loop(game), num_steps=num_steps)


@pytest.mark.slow
def test_a_time_limit_truncates_where_the_library_calls_it_a_termination() -> None:
    env, params = envcore.make("jumanji/Maze-v0")
    assert params.max_steps_in_episode == 100
    game = Maze()
    their_state, _ = game.reset(jax.random.PRNGKey(0))
    _, state = env.reset(jax.random.key(0))
    at = jnp.int32(99)
    _, timestep = game.step(their_state.replace(step_count=at), jnp.int32(0))  # pyright: ignore[reportAttributeAccessIssue]
    assert (bool(timestep.last()), float(timestep.discount)) == (True, 0.0)
    for limit, ends in ((100, True), (150, False)):
        inner = state.inner.replace(step_count=at)
        *_, info = env.step(
            jax.random.key(1), state.replace(time=at, inner=inner), 0, params.replace(max_steps_in_episode=limit)
        )
        assert (bool(info["terminated"]), bool(info["truncated"]), float(info["discount"])) == (False, ends, 1.0)


def test_observations_are_dicts_with_the_library_s_dtypes() -> None:
    env = from_jumanji("Maze-v0")
    obs, _ = env.reset(jax.random.key(0))
    assert set(obs) == {"agent_position", "target_position", "walls", "step_count", "action_mask"}
    assert set(obs["agent_position"]) == {"row", "col"}
    assert (obs["walls"].dtype, obs["step_count"].dtype) == (jnp.bool_, jnp.int32)
    space = env.observation_space(env.default_params)
    assert isinstance(space, spaces.Dict)
    assert space.spaces["step_count"] == spaces.NATURAL_NUMBERS
    flat, _ = FlattenObservation(env).reset(jax.random.key(0))
    assert flat.shape == (2 + 2 + 100 + 1 + 4,)


def test_options_are_the_library_s() -> None:
    generator = RandomGenerator(num_rows=5, num_cols=6)
    env, params = envcore.make("jumanji/Maze-v0", generator=generator, time_limit=7)
    assert params.max_steps_in_episode == 7
    assert env.reset(jax.random.key(0))[0]["walls"].shape == (5, 6)


@pytest.mark.slow
def test_a_class_of_yours() -> None:
    generator = KnapsackGenerator(num_items=10, total_budget=3.0)
    env = from_jumanji(Knapsack, generator=generator)
    assert (env.name, env.default_params.max_steps_in_episode) == ("Knapsack", NO_TIME_LIMIT)
    assert env.action_space(env.default_params) == spaces.Discrete(10)
    assert check_lockstep(env, **library_loop(Knapsack(generator=generator)), num_steps=60) >= 2


def test_a_truncation_of_a_class_of_yours() -> None:
    class Short(Maze):
        def step(self, state: Any, action: Any) -> Any:
            state, timestep = super().step(state, action)
            return state, jumanji.types.truncation(timestep.reward, timestep.observation)

    env = from_jumanji(Short)
    _, state = env.reset(jax.random.key(0))
    *_, done, info = env.step(jax.random.key(1), state, 0)
    assert done
    assert (bool(info["terminated"]), bool(info["truncated"]), float(info["discount"])) == (False, True, 1.0)


def test_the_masks_of_vehicles_fit_the_action_space() -> None:
    env, params = envcore.make("jumanji/MultiCVRP-v0")
    _, state = env.reset(jax.random.key(0))
    mask = env.action_mask(state, env.default_params)
    action = env.action_space(params).sample_legal(jax.random.key(1), mask)
    assert mask[jnp.arange(len(action)), action].all()


def team() -> Any:
    return MultiToSingleWrapper(Connector(time_limit=6))


def test_agents_with_a_reward_each_can_be_made_one() -> None:
    env = from_jumanji(team)
    assert env.action_space(env.default_params) == spaces.MultiDiscrete([5] * 10)
    assert env.default_params.max_steps_in_episode == 6
    assert env.library_env.time_limit == 6  # the library's own environment stays as it is


@pytest.mark.slow
def test_agents_made_one_play_as_in_the_library() -> None:
    loop = library_loop(MultiToSingleWrapper(Connector(time_limit=7)))
    check_lockstep(from_jumanji(team), **loop, num_steps=30)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("Maze-v0", {"size": 5}, "got an unexpected keyword argument 'size'"),
        ("Labyrinth-v0", {}, "Jumanji has no environment 'Labyrinth-v0'. It has BinPack-v2, .* more"),
        (lambda: jumanji.wrappers.AutoResetWrapper(Maze()), {}, "is wrapped in AutoResetWrapper, which does what"),
        ("Connector-v3", {}, "Connector-v3 has 10 agents with a reward each, .*MultiToSingle"),
    ],
)
def test_what_is_refused(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        from_jumanji(source, **options)


def test_levels_that_cannot_be_downloaded_are_a_clear_error() -> None:
    def offline() -> Sokoban:
        raise FileNotFoundError("levels.npy: no connection\nand more")

    with pytest.raises(DatasetError, match=r"another `generator` may need none: levels.npy: no connection$"):
        from_jumanji(offline)


@pytest.mark.parametrize("name", ["Maze-v0", "RubiksCube-v0", "BinPack-v2"])
def test_pictures(name: str) -> None:
    env = from_jumanji(name)
    _, state = env.reset(jax.random.key(0))
    picture = np.asarray(jax.jit(lambda state: env.render(state, env.default_params, height=60))(state))
    assert (picture.dtype, picture.shape) == (np.uint8, (60, 60, 3))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 3
