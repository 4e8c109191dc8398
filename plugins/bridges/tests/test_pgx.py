from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import pgx
import pytest
from envcore.errors import InvalidArgumentError, NoPictureError
from envcore_bridges.libraries import BY_FAMILY
from envcore_bridges.pgx import from_pgx
from envcore_testing import Case, check_env, check_lockstep, conformance_cases
from pgx.minatar.breakout import MinAtarBreakout
from pgx.minatar.freeway import MinAtarFreeway
from pgx.play2048 import Play2048

ENVIRONMENTS = BY_FAMILY["pgx"].environments()

_FAST = ("2048", "minatar-breakout")
_SLOW = ("minatar-asterix", "minatar-freeway")
_FOR_MORE_PLAYERS = {
    *("animal_shogi", "backgammon", "chess", "connect_four", "gardner_chess", "go_9x9", "go_19x19", "hex"),
    *("kuhn_poker", "leduc_holdem", "othello", "shogi", "sparrow_mahjong", "tic_tac_toe"),
}
_GAMES = [
    *_FAST,
    *(pytest.param(name, marks=pytest.mark.slow) for name in _SLOW),
    *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ENVIRONMENTS if name not in _FAST + _SLOW),
]
_CASES = [
    *conformance_cases(from_pgx("minatar-breakout")),
    # The only one with action masks.
    *(case for case in conformance_cases(from_pgx("2048")) if case.rule.name == "action_mask"),
]


def library_loop(game: Any) -> dict[str, Any]:
    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = game.init(key)
        return state, state.observation

    def step(state: Any, action: jax.Array, key: jax.Array) -> tuple[Any, ...]:
        state = game.step(state, action, key)
        return state, state.observation, state.rewards[0], state.terminated, state.truncated

    return {"reset": reset, "step": step}


def test_the_library_lists_what_is_announced() -> None:
    assert set(ENVIRONMENTS) == set(pgx.available_envs()) - _FOR_MORE_PLAYERS


@pytest.mark.slow
@pytest.mark.parametrize("case", _CASES, ids=str)
def test_conforms(case: Case) -> None:
    case()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore")  # the library's own
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_game_conforms(name: str) -> None:
    check_env(from_pgx(name), num_steps=48)


@pytest.mark.slow
@pytest.mark.parametrize("name", _GAMES)
def test_it_plays_as_the_library_does(name: str) -> None:
    env, _ = envcore.make(f"pgx/{name}")
    num_steps = 5200 if name == "minatar-freeway" else 1000
    assert check_lockstep(env, **library_loop(pgx.make(name)), num_steps=num_steps) >= 2  # pyright: ignore[reportArgumentType]


@pytest.mark.slow
def test_whole_games_of_2048() -> None:
    env = from_pgx("2048")

    def legal(key: jax.Array, state: Any, params: Any) -> jax.Array:
        return env.action_space(env.default_params).sample_legal(key, env.action_mask(state, env.default_params))

    assert check_lockstep(env, **library_loop(Play2048()), policy=legal, num_steps=1000) in range(3, 15)


def test_an_illegal_action_ends_the_episode_with_a_penalty() -> None:
    env, params = envcore.make("pgx/2048")
    _, state = env.reset(jax.random.key(0))
    right = jnp.zeros((4, 4), jnp.int32).at[0, 3].set(1).ravel()
    inner = state.inner.replace(_board=right, legal_action_mask=jnp.array([True, False, False, True]))
    *_, reward, done, info = env.step(jax.random.key(1), state.replace(inner=inner), 2, params)
    assert (reward, done, info["terminated"]) == (-1, True, True)


@pytest.mark.slow
def test_freeway_s_limit_is_a_param_that_terminates() -> None:
    env, params = envcore.make("pgx/minatar-freeway")
    assert params.max_steps_in_episode == 2501
    _, state = env.reset(jax.random.key(0))
    step = jax.jit(env.step)
    for limit, ends in ((3001, False), (2501, True)):
        now = state.replace(time=jnp.int32(2500), inner=state.inner.replace(_terminate_timer=jnp.int32(0)))
        *_, done, info = step(jax.random.key(1), now, 0, params.replace(max_steps_in_episode=limit))
        assert (bool(done), bool(info["terminated"]), bool(info["truncated"])) == (ends, ends, False)
    assert MinAtarFreeway().init(jax.random.PRNGKey(0))._terminate_timer == 2500  # pyright: ignore[reportAttributeAccessIssue]


def test_options_are_the_game_s() -> None:
    env, _ = envcore.make("pgx/minatar-breakout", use_minimal_action_set=False, sticky_action_prob=0.0)
    assert env.unwrapped.library_env.sticky_action_prob == 0.0  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.slow
def test_a_class_of_yours() -> None:
    env = from_pgx(MinAtarBreakout, sticky_action_prob=0.5)
    assert env.name == "MinAtarBreakout"
    game = MinAtarBreakout(sticky_action_prob=0.5)
    assert check_lockstep(env, **library_loop(game), num_steps=50) > 0


def test_a_truncation_of_a_class_of_yours() -> None:
    class Short(MinAtarBreakout):
        def step(self, state: Any, action: Any, key: Any = None) -> Any:
            after: Any = super().step(state, action, key)
            return after.replace(truncated=after._step_count == 3)

    env = from_pgx(Short)
    _, state = env.reset(jax.random.key(0))
    for number in range(1, 4):
        _, state, _, done, info = env.step(jax.random.key(number), state, 0)
        assert (bool(done), bool(info["truncated"]), float(info["discount"])) == (number == 3, number == 3, 1.0)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("2048", {"size": 5}, "got an unexpected keyword argument 'size'"),
        ("tetris", {}, "Pgx has no environment 'tetris'. It has 2048, minatar-asterix, .* and 1 more"),
        ("tic_tac_toe", {}, "tic_tac_toe is a game for 2 players, but envcore-bridges supports single-player games"),
    ],
)
def test_what_is_refused(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        from_pgx(source, **options)


def test_pgx_draws_svg_files_alone() -> None:
    env = from_pgx("2048")
    _, state = env.reset(jax.random.key(0))
    with pytest.raises(NoPictureError, match=r"2048 cannot be rendered: Pgx only draws SVG files\. .*save_svg"):
        env.render(state, env.default_params)
