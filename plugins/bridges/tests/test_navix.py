from __future__ import annotations

import pickle
from typing import Any

import envcore
import jax
import numpy as np
import pytest
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError
from envcore_bridges.libraries import BY_FAMILY
from envcore_bridges.navix import FromNavix, from_navix
from envcore_testing import Case, check_env, check_lockstep, conformance_cases

ENVIRONMENTS = BY_FAMILY["navix"].environments()

CHEAP = "Navix-Empty-Random-5x5-v0"  # the test of the limit plays it beside the library
SLOW = ("Navix-DoorKey-Random-5x5-v0", "Navix-LavaGapS5-v0", "Navix-Dynamic-Obstacles-5x5-v0")


def navix() -> Any:
    """Navix, imported as the bridge imports it: late, and without the warnings of what it imports."""
    from_navix(CHEAP)
    import navix

    return navix


@pytest.mark.slow
def test_the_library_lists_what_is_announced() -> None:
    assert set(ENVIRONMENTS) == set(navix().registry())


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(FromNavix(CHEAP)), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # the library's own
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_conforms(name: str) -> None:
    check_env(from_navix(name), num_steps=48)


def play(name: str, **options: Any) -> dict[str, Any]:
    """Navix's own loop, without its auto-reset."""
    env = navix().make(name, **options)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        timestep = env.reset(key)
        return timestep, timestep.observation

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        timestep = env._step(state, action)
        return timestep, timestep.observation, timestep.reward, timestep.step_type == 2, timestep.t >= env.max_steps

    return {"reset": reset, "step": step}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else pytest.mark.exhaustive) for name in ENVIRONMENTS],
)
def test_it_plays_as_the_library_does(name: str) -> None:
    env, params = envcore.make(f"navix/{name}")
    limit = int(params.max_steps_in_episode)
    num_steps = min(max(600, 2 * limit + 20), 3000)
    assert check_lockstep(env, **play(name), num_steps=num_steps) >= num_steps // limit


@pytest.mark.slow
def test_the_limit_is_in_params_and_scales_the_penalty() -> None:
    env, params = envcore.make(f"navix/{CHEAP}", penality_coeff=0.5)
    assert params.max_steps_in_episode == 100
    shorter = params.replace(max_steps_in_episode=30)
    assert check_lockstep(env, **play(CHEAP, penality_coeff=0.5, max_steps=30), params=shorter) > 16
    same, params = envcore.make(f"navix/{CHEAP}", penality_coeff=0.5, max_steps=30)
    assert params.max_steps_in_episode == 30
    assert same.time_limit == 30  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.slow
def test_only_reaching_the_goal_terminates() -> None:
    """At the limit Navix says 1, truncation, and at the goal 2, also where that is at the limit."""
    env, params = envcore.make("navix/Navix-Empty-5x5-v0")
    key = jax.random.key(0)
    _, start = env.reset(key, params)
    to_goal = [2, 2, 1, 2, 2]  # forward, forward, turn right, forward, forward
    for limit, ends in ((5, (True, True)), (4, (False, True)), (NO_TIME_LIMIT, (True, False))):
        state, reward, info = start, None, {}
        limited = params.replace(max_steps_in_episode=limit)
        for action in to_goal[: min(limit, 5)]:
            _, state, reward, _, info = env.step(key, state, action, limited)
        assert (bool(info["terminated"]), bool(info["truncated"])) == ends
        assert reward == float(ends[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape", "dtype"),
    [
        ("none", (0,), "float32"),
        ("categorical", (5, 5), "int32"),
        ("symbolic", (5, 5, 3), "uint8"),
        ("rgb_first_person", (56, 56, 3), "uint8"),
    ],
)
def test_observations_are_in_their_space(name: str, shape: tuple[int, ...], dtype: str) -> None:
    env, params = envcore.make("navix/Navix-DoorKey-Random-5x5-v0", observation_fn=name)
    space = env.observation_space(params)
    assert isinstance(space, spaces.Box)
    assert (space.shape, space.dtype) == (shape, dtype)

    def advance(state: Any, key: jax.Array) -> Any:
        obs, state, *_ = env.step(key, state, env.action_space(params).sample(key), params)
        return state, space.contains(obs)

    key = jax.random.key(0)
    obs, state = env.reset(key, params)
    assert space.contains(obs)
    assert jax.jit(lambda state: jax.lax.scan(advance, state, jax.random.split(key, 100))[1].all())(state)


def where_am_i(state: Any) -> dict[str, jax.Array]:
    return {"position": state.get_player().position, "pocket": state.get_player().pocket}


def room(side: int) -> Any:
    """A function that makes an environment."""
    return navix().environments.Room.create(side, side, max_steps=7)


def test_functions_and_classes_of_the_user_s_make_environments() -> None:
    env = from_navix(room, side=6)
    assert env.default_params.max_steps_in_episode == 7
    assert env.observation_space(env.default_params) == spaces.Box(0, 255, (6, 6, 3), np.uint8)
    assert pickle.loads(pickle.dumps(env)) == env

    Room = navix().environments.Room

    class Corridor(Room):
        """A class of the user's, made by Navix's `create`, whose limit is 4 * height * width."""

    env = from_navix(Corridor, height=3, width=9, observation_fn=where_am_i)
    assert env.name == "Corridor"
    assert env.default_params.max_steps_in_episode == 4 * 3 * 9
    obs, state = env.reset(jax.random.key(0))
    assert state.inner.state.grid.shape == (3, 9)
    assert set(obs) == {"position", "pocket"}
    assert env.observation_space(env.default_params).contains(obs)


def test_other_actions_and_their_names() -> None:
    actions = navix().actions
    env = from_navix(CHEAP, action_set=(actions.forward, actions.rotate_cw))
    assert env.action_space(env.default_params) == spaces.Discrete(2)
    assert env.action_names == ("forward", "rotate_cw")
    assert from_navix(CHEAP).action_names[:3] == ("left", "right", "forward")


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(InvalidArgumentError, match=rf"^navix/{CHEAP} got invalid options: .*'wrong_option'$"):
        envcore.make(f"navix/{CHEAP}", wrong_option=1)
    with pytest.raises(InvalidArgumentError, match="Navix has no environment 'Navix-Nothing-v0'"):
        from_navix("Navix-Nothing-v0")
    with pytest.raises(InvalidArgumentError, match=r"observation_fn must be one of navix\.observations, got 'smell'"):
        envcore.make(f"navix/{CHEAP}", observation_fn="smell")


def test_pictures_are_the_library_s() -> None:
    env, params = envcore.make(f"navix/{CHEAP}")
    key = jax.random.key(0)
    _, state = env.reset(key, params)
    picture = env.render(state, params, height=80)
    theirs = navix().observations.rgb(state.inner.state)
    assert np.array_equal(np.asarray(picture)[::2, ::2], theirs)
    assert (np.asarray(picture) == np.array([255, 0, 0])).all(-1).any()  # the agent
