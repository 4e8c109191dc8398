"""`FromJaxtari` beside JAXtari itself."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import numpy as np
import pytest
from envcore.errors import DatasetError, InvalidArgumentError
from envcore_bridges.base import as_dicts, default_numerics
from envcore_bridges.jaxtari import FromJaxtari, from_jaxtari
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Case, check_env, check_lockstep, compilation, conformance_cases

ENVIRONMENTS = BY_FAMILY["jaxtari"].environments()

pytestmark = pytest.mark.usefixtures("sprites")

FAST = ("pong",)
SLOW = ("skiing", "surround")
"""Some of the games that cannot even be traced with sprites of other sizes."""

OWN_KEYS = (
    *("airraid", "donkeykong", "galaxian", "hauntedhouse", "journeyescape", "phoenix", "riverraid", "sirlancelot"),
    "tennis",
)
BREACHES = {
    **{name: {"no_key_of_its_own"} for name in OWN_KEYS},
    **{name: {"changing_pictures"} for name in ("bankheist", "gopher")},  # with rectangles in place of their sprites
    **{name: {"jit_equals_eager"} for name in ("breakout", "upndown", "videocube")},  # they fail without jit
}
"""Rules that a game breaks, whoever steps it."""

HEAVY = {"videochess": 16}
"""Steps to play of a game whose step takes a second in a batch, and many times as long without optimizations."""


def test_jaxtari_lists_what_is_announced() -> None:
    import jaxtari.core

    assert set(ENVIRONMENTS) == set(jaxtari.core.list_available_games())


@pytest.mark.slow
@pytest.mark.parametrize("case", conformance_cases(FromJaxtari("pong"), num_steps=100), ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # JAXtari's own
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_game_conforms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in HEAVY:
        monkeypatch.setattr(compilation, "_quick_options", lambda: {"xla_backend_optimization_level": 3})
    check_env(from_jaxtari(name), num_steps=HEAVY.get(name, 48), except_for=BREACHES.get(name, ()))


def jaxtaris(game: Any) -> dict[str, Any]:
    """JAXtari's own reset and step."""

    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = game.reset(key)
        return state, as_dicts(obs)

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        obs, state, reward, done, _ = game.step(state, action)
        return state, as_dicts(obs), reward, done

    return {"reset": reset, "step": step}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        *FAST,
        *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
        *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ENVIRONMENTS if name not in FAST + SLOW),
    ],
)
def test_it_plays_as_jaxtari_does(name: str) -> None:
    import jaxtari.core

    env, params = envcore.make(f"jaxtari/{name}")
    params = params.replace(max_steps_in_episode=600)
    with default_numerics():  # the tests' are strict
        game = jaxtari.core.make(name)
    assert check_lockstep(env, **jaxtaris(game), params=params, num_steps=1500) >= 2


def test_observations_are_dicts_of_what_they_were() -> None:
    env, _ = envcore.make("jaxtari/pong")
    obs, _ = env.reset(jax.random.key(0))
    assert sorted(obs) == ["ball", "enemy", "player", "score_enemy", "score_player"]
    assert (obs["ball"]["x"].dtype, obs["player"]["y"].dtype) == (np.int32, np.float32)
    assert env.action_names == ("noop", "fire", "right", "left", "rightfire", "leftfire")


def test_a_game_of_the_user_s_and_mods() -> None:
    from jaxtari.games.jax_pong import JaxPong, PongConstants

    def quick(speed: int) -> JaxPong:
        return JaxPong(PongConstants(BALL_START_X=speed))

    env = from_jaxtari(quick, speed=80)
    obs, _ = env.reset(jax.random.key(0))
    assert obs["ball"]["x"] == 80
    lazy, _ = envcore.make("jaxtari/pong", mods="lazy_enemy")
    assert lazy.unwrapped.library_env is not None  # pyright: ignore[reportAttributeAccessIssue]
    jax.eval_shape(lazy.reset, jax.random.key(0))


def test_pictures_are_the_screen() -> None:
    env, params = envcore.make("jaxtari/pong")
    _, state = env.reset(jax.random.key(0))
    picture = env.render(state, params, height=210)
    assert picture.shape == (210, 160, 3)
    screen = env.unwrapped.library_env.render(state.inner)  # pyright: ignore[reportAttributeAccessIssue]
    np.testing.assert_array_equal(picture, screen)
    assert env.render(state, params, height=105).shape == (105, 80, 3)


def test_errors(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"jaxtari/pong got invalid options: .*'wrong_option'"):
        envcore.make("jaxtari/pong", wrong_option=1)
    with pytest.raises(InvalidArgumentError, match="JAXtari has no environment 'pang'"):
        from_jaxtari("pang")
    monkeypatch.setattr("jaxtari.paths.user_data_dir", lambda name: str(tmp_path / name))
    with pytest.raises(DatasetError, match=r"none are installed. Install them with `python -m jaxtari"):
        envcore.make("jaxtari/pong", difficulty=1)
