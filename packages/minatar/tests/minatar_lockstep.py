"""Compares our MinAtar games with the original's: the same states, actions and draws, and exactly the same results.

`recorded` reads steps of the original from tests/golden, `played` takes them from the package `minatar` with our
draws forced on it, and `check` takes them with our rules, from the same states, and compares the results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import golden
import jax
import jax.numpy as jnp
import numpy as np
from envcore_testing.compilation import quick_jit
from lockstep import Calls, ForcedDraws, Task, our_steps
from minatar import Environment
from minatar_rules import not_sticky
from minatar_states import replaced

Fields = dict[str, np.ndarray]


def by_name(start: Callable[[], Any], names: Sequence[str], computed: Sequence[str] = ()) -> Task:
    """The task of a game whose states have the original's fields under the same names.

    Args:
      start: makes any state.
      names: of the original's fields.
      computed: those that are computed from others, and cannot be replaced.
    """

    def from_original(fields: Mapping[str, Any], last_action: Any) -> Any:
        first = start()

        def typed(name: str) -> jax.Array:
            return jnp.asarray(fields[name]).astype(jnp.result_type(getattr(first, name)))

        given = {name: typed(name) for name in names if name not in computed}
        return replaced(first, {**given, "last_action": last_action})

    def to_original(state: Any) -> dict[str, Any]:
        return {name: getattr(state, name) for name in names}

    return Task(from_original, to_original)


class Steps(NamedTuple):
    """N steps of the original, with its fields as `Task.from_original` takes them.

    Attributes:
      before: the original's fields before each step, (N, ...) each.
      last_action: the action executed before, int (N,).
      action: the action executed, int (N,).
      draws: what is random in each step, as our rules take it, a pytree of (N, ...).
      after: the fields after the step.
      obs: bool (N, 10, 10, channels).
      reward: (N,).
      terminal: bool (N,).
      ramping: bool (N,).
    """

    before: Fields
    last_action: np.ndarray
    action: np.ndarray
    draws: Any
    after: Fields
    obs: np.ndarray
    reward: np.ndarray
    terminal: np.ndarray
    ramping: np.ndarray


def recorded(game: str, draws: Callable[[golden.Recording], Any]) -> Steps:
    """The recorded steps of a game; `draws` makes our draws from the recording."""
    recording = golden.load(f"minatar.{game}")
    shape = tuple(recording.meta["obs_shape"])
    obs = np.unpackbits(recording["obs"], axis=1, count=np.prod(shape)).reshape(-1, *shape).astype(bool)
    return Steps(
        before=recording.group("before"),
        last_action=recording["last_action"],
        action=recording["action"],
        draws=draws(recording),
        after=recording.group("after"),
        obs=obs,
        reward=recording["reward"],
        terminal=recording["terminal"].astype(bool),
        ramping=recording["ramping"].astype(bool),
    )


def no_calls(original: Any, action: int, draws: Any) -> Calls:
    """For games that draw nothing in a step."""
    return []


def played(
    game: str,
    env: Any,
    fields: Callable[[Any], dict[str, Any]],
    calls: Callable[[Any, int, Any], Calls],
    num_steps: int,
    seed: int = 0,
    policy: Callable[[Any, np.random.Generator], int] | None = None,
    draw: Callable[[jax.Array], Any] | None = None,
) -> Steps:
    """Plays the original with actions of `policy` (at random by default) and with our draws forced on it.

    Args:
      game: the original's name for the game.
      env: our game; its `difficulty_ramping` is the original's.
      fields: the original's fields as arrays, from its `Env`.
      calls: what the original draws in a step: (its `Env`, action, our draws) -> calls.
      num_steps: how many steps, over as many episodes as they take.
      seed: of actions and draws.
      policy: (the original's `Env`, generator) -> action.
      draw: what is random in a step, from its words; `env.draw_game` by default.
    """
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**32, (num_steps, env.num_words), dtype=np.uint32)
    draws = jax.tree.map(np.asarray, quick_jit(jax.vmap(draw or env.draw_game))(words))
    original = Environment(game, sticky_action_prob=0.0, difficulty_ramping=env.difficulty_ramping).env
    forced = ForcedDraws()
    rows: list[tuple[Any, ...]] = []
    last_action = 0
    original.terminal = True
    for i in range(num_steps):
        if original.terminal:
            original.random = np.random.RandomState(int(rng.integers(2**31)))
            original.reset()
        original.random = forced
        now = jax.tree.map(lambda x, i=i: x[i], draws)
        action = policy(original, rng) if policy else int(rng.integers(6))
        before = fields(original)
        with forced.giving(calls(original, action, now)):
            reward, terminal = original.act(action)
        rows.append((before, last_action, action, fields(original), original.state(), reward, terminal))
        last_action = action
    before, last, action, after, obs, reward, terminal = jax.tree.map(lambda *x: np.stack(x), *rows)
    ramping = np.full(num_steps, env.difficulty_ramping)
    return Steps(before, last, action, draws, after, obs, reward, terminal, ramping)


def check(task: Task, env: Any, steps: Steps) -> None:
    """Fails unless our rules lead from each step's state, action and draws to the original's results.

    Args:
      task: how states hold the original's fields.
      env: the game, ramping as the steps were played.
      steps: compared exactly, except those that were played with the other ramping, which are left out.
    """
    mine = steps.ramping == env.difficulty_ramping
    steps = jax.tree.map(lambda x: x[mine], steps)
    assert len(steps.action)

    last_action, action = steps.last_action.astype(np.int32), jnp.asarray(steps.action, jnp.int32)
    before = quick_jit(jax.vmap(task.from_original))(steps.before, last_action)
    after, ours = our_steps(env, env.default_params, before, action, not_sticky(steps.draws, len(action)))
    to_original = quick_jit(jax.vmap(task.to_original))
    fields_before, fields_after = to_original(before), to_original(after)
    _check_fields(fields_before, steps.before)
    _check_fields(fields_after, steps.after)
    np.testing.assert_array_equal(after.last_action, steps.action)
    for terminal in (after.terminal, ours["terminated"]):
        np.testing.assert_array_equal(terminal, steps.terminal)
    np.testing.assert_array_equal(ours["reward"], steps.reward)
    np.testing.assert_array_equal(ours["obs"], steps.obs)
    assert not ours["truncated"].any()


def check_games(task: Task, env: Any, steps: Steps) -> None:
    """Fails unless our own states, continued from the first of each game, look like the original's.

    `check` starts each step from the original's fields, so it cannot see data of removed objects in our states.

    Args:
      task, env: as for `check`.
      steps: from `played`.
    """
    begins = np.concatenate([[True], steps.terminal[:-1]])

    def body(state: Any, step: Any) -> tuple[Any, Any]:
        begins, before, last_action, action, draws = step
        first = task.from_original(before, last_action)
        state = jax.tree.map(lambda x, y: jnp.where(begins, x, y), first, state)
        outcome = env.advance(state, action, not_sticky(draws), env.default_params)
        after = outcome.state
        return after, (task.to_original(after), env.observe(after, env.default_params), outcome.reward)

    @quick_jit
    def games(inputs: Any) -> Any:
        _, before, last_action, *_ = jax.tree.map(lambda x: x[0], inputs)
        start = jax.tree.map(jnp.asarray, task.from_original(before, last_action))
        return jax.lax.scan(body, start, inputs)[1]

    last_action, action = steps.last_action.astype(np.int32), steps.action.astype(np.int32)
    fields, obs, reward = games((begins, steps.before, last_action, action, steps.draws))
    _check_fields(fields, steps.after)
    np.testing.assert_array_equal(obs, steps.obs)
    np.testing.assert_array_equal(reward, steps.reward)


def check_resets(task: Task, game: str, starts: Callable[[golden.Recording], Any]) -> None:
    """Fails unless our first states, made by `starts`, are the recorded ones."""
    recording = golden.load(f"minatar.{game}")
    fields = quick_jit(lambda: jax.vmap(task.to_original)(starts(recording)))()
    _check_fields(fields, recording.group("reset"))


def _check_fields(ours: Mapping[str, Any], expected: Mapping[str, np.ndarray]) -> None:
    assert set(ours) == set(expected)
    for name, value in ours.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
