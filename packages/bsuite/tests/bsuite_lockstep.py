"""Our bsuite environments in lockstep with the original's: the same states, actions and draws, and the same results.

`check_recorded` repeats every recorded step with our rules, `check_resets` every recorded reset, and `check_game` plays
many episodes with our environment and with the package `bsuite`, which is forced to draw the same. Integers and flags
are compared exactly, other numbers up to float32 rounding.
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import bsuite
import envcore
import golden
import jax
import jax.numpy as jnp
import lockstep
import numpy as np
from envcore import trees
from envcore.engine import arguments
from envcore_testing.trees import as_numpy
from lockstep import ROUNDINGS, SPACING, Calls, Fields, ForcedDraws, check_agreement, our_steps

FIRST, LAST = 0, 2
KEY = jax.random.key(0)

_BASE_INFO = {"terminated", "truncated", "discount", "final_obs"}
# What only the original stores: we reset at once, the size is an option, and an episode of MemoryChain has one answer.
_NOT_OURS = {"reset_next_step", "size", "episode_mistakes"}


class Steps(NamedTuple):
    """N steps of the original.

    Attributes:
      before, after: its fields before and after each step, (N, ...) each.
      action: int (N,).
      draws: the draws of each step, as recorded or as our environment draws them.
    """

    before: Fields
    action: np.ndarray
    draws: Any
    after: Fields


@dataclasses.dataclass(frozen=True)
class Task(lockstep.Task):
    """How an environment of ours corresponds to the original's.

    Attributes:
      read: reads the fields of the running original.
      reset_calls: the draws of a reset of the original that leads to our state.
      step_calls: its draws in a step: (original, action, our draws) -> calls.
      draws: (env, the recorded draws of a step) -> ours, as `advance` takes them.
      start: the recorded draws of a reset -> ours, as `init_state` takes them.
      put: writes our state into the running original, if the two would drift apart by rounding.
      sizes: (steps, params) -> the sizes of results as `check_agreement` takes them, by the result's name ("obs",
        "reward", "info.raw_return", "x"); "undecided", bool (N,), are the steps that end within rounding of a
        threshold.
    """

    read: Callable[[Any], Mapping[str, Any]]
    reset_calls: Callable[[Any], Calls] = lambda state: []
    step_calls: Callable[[Any, int, Any], Calls] = lambda original, action, draws: []
    draws: Callable[[Any, Mapping[str, jax.Array]], Any] = lambda env, draws: None
    start: Callable[[Mapping[str, jax.Array]], Any] = lambda draws: None
    put: Callable[[Any, Any], None] = lambda original, state: None
    sizes: Callable[[Steps, Any], Mapping[str, np.ndarray]] = lambda steps, params: {}


class Made(NamedTuple):
    """An environment of ours with its params, and a function that makes the original."""

    env: Any
    params: Any
    original: Callable[[], Any]


def make(experiment: str, **settings: Any) -> Made:
    """The environment of an experiment, with the same settings as the original."""
    options = {name: value for name, value in settings.items() if name != "seed"}
    env, params = envcore.make(f"bsuite/{experiment}/0")
    numbers = {name: options.pop(name) for name in set(options) - set(_option_names(env)) if hasattr(params, name)}
    env, params = envcore.make(f"bsuite/{experiment}/0", **options)

    def original() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about DeepSea without a mapping, which is for debugging
            return bsuite.load(experiment, settings)

    return Made(env, env.default_params.replace(**numbers), original)


def seeded_tables() -> dict[str, np.ndarray]:
    """The arrays that bsuite makes from its mapping seeds, such as "deep_sea.mapping_seed42.size10"."""
    with np.load(golden.FOLDER / "bsuite.seeded_tables.npz") as file:
        return {name: file[name] for name in file.files}


def of_recording(name: str) -> tuple[golden.Recording, Made]:
    """The recording bsuite.`name`, and the environment that was recorded."""
    recording = golden.load(f"bsuite.{name}")
    return recording, make(recording.meta["experiment"], **recording.meta["kwargs"])


def check_recorded(name: str, task: Task) -> int:
    """Fails unless each recorded step leads from the same state to the same results.

    Returns:
      The number of steps that differ because the original is within rounding of a threshold.
    """
    recording, (env, params, _) = of_recording(name)
    recording = recording.rows(recording["step_type"] != FIRST)
    steps = Steps(recording.group("before"), recording["action"], recording.group("draw"), recording.group("after"))

    action, draws = jnp.asarray(steps.action, jnp.int32), _on_device(steps.draws)
    draws = jax.jit(jax.vmap(lambda _, draws: task.draws(env, draws)))(action, draws)  # which may have no arrays
    after, ours = our_steps(env, params, task.from_original(steps.before), action, draws)
    assert not ours.pop("truncated").any()
    checked = arguments.checked_params(env, params)
    inner = getattr(checked, "env_params", checked)  # those of a wrapper hold the environment's own
    info = jax.jit(jax.vmap(env.unwrapped.bsuite_info, (0, None)))(after, inner)
    logged = {f"info.{name}": value for name, value in info.items()}
    assert set(logged) == {name for name in ours if name.startswith("info.")}
    for name, value in logged.items():
        np.testing.assert_array_equal(ours[name], value)
    ours["discount"] = 1 - np.asarray(ours["terminated"], np.float32)
    terminal = recording["step_type"] == LAST
    theirs = _results(_obs(recording), recording["reward"], terminal, recording["discount"], recording.group("info"))
    return check_agreement(
        {**ours, **task.to_original(after)},
        {**theirs, **_ours_of(steps.after)},
        task.sizes(steps, params),
    )


def check_resets(name: str, task: Task) -> None:
    """Fails unless each recorded reset, with its draws, leads to the same state and observation."""
    recording, (env, params, _) = of_recording(name)
    recording = recording.rows(recording["step_type"] == FIRST)
    assert len(recording)
    env, params = env.unwrapped, getattr(params, "env_params", params)  # a wrapper changes nothing about a reset
    params = arguments.checked_params(env, params)

    @jax.jit
    @functools.partial(jax.vmap, in_axes=(0, 0, None))
    def ours(final: Any, draws: Mapping[str, jax.Array], params: Any) -> tuple[Any, Any]:
        state = trees.narrow(env.init_state(task.start(draws), params))
        state = state.replace(**{name: getattr(final, name) for name in env.lifetime})
        return state, env.observe(state, params)

    state, obs = ours(task.from_original(recording.group("before")), _on_device(recording.group("draw")), params)
    assert not state.time.any()
    check_agreement(
        {"obs": np.asarray(obs), **task.to_original(state)},
        {"obs": _obs(recording), **_ours_of(recording.group("after"))},
        {},
    )


class Game(NamedTuple):
    """N steps of our environment with auto-reset: the state before each step, and what it returned.

    Attributes:
      state, obs: before the step.
      draws: what `draw` gave.
      info: all entries.
    """

    state: Any
    obs: Any
    action: Any
    draws: Any
    reward: Any
    done: Any
    info: dict[str, Any]


Policy = Callable[[jax.Array, Any, Any], jax.Array]
"""(key, state, params) -> action."""


@functools.partial(jax.jit, static_argnums=(0, 2, 3, 4))
def play(env: Any, params: Any, task: Task, policy: Policy, num_steps: int, seed: int = 0) -> Game:
    """Plays our environment for `num_steps` steps, with auto-reset."""
    key_reset, key = jax.random.split(jax.random.key(seed))
    obs, state = env.reset(key_reset, params)
    checked = arguments.checked_params(env, params)

    def body(carry: tuple[Any, Any], key: jax.Array) -> tuple[Any, Game]:
        obs, state = carry
        key_act, key_step = jax.random.split(key)
        action = policy(key_act, state, params)
        next_obs, next_state, reward, done, info = env.step(key_step, state, action, params)
        return (next_obs, next_state), Game(state, obs, action, env.draw(key_step, checked), reward, done, info)

    return jax.lax.scan(body, (obs, state), jax.random.split(key, num_steps))[1]


def check_game(made: Made, task: Task, policy: Policy, num_steps: int, seed: int = 0) -> Game:
    """Plays both in lockstep, and fails unless states, results and counters agree in all steps.

    The original resets in a separate step, ours in the step before.
    """
    env, params = made.env, made.params
    game = jax.tree.map(as_numpy, play(env, params, task, policy, num_steps, seed))
    original = made.original()
    forced = ForcedDraws(slack=SPACING * np.pi)  # an offset from pi is read from a rounded sum
    raw = getattr(original, "raw_env", original)
    original._rng = raw._rng = forced
    rows: list[tuple[Any, ...]] = []
    starts: list[tuple[int, np.ndarray]] = []
    is_over = True
    for i, action in enumerate(game.action.tolist()):
        state, draws = jax.tree.map(lambda x, i=i: x[i], (game.state, game.draws))
        if is_over:
            with forced.giving(task.reset_calls(state)):
                timestep = original.step(0)
            assert timestep.first()
            starts.append((i, timestep.observation))
        task.put(raw, state)
        before = dict(task.read(raw))
        with forced.giving(task.step_calls(raw, action, draws)):
            timestep = original.step(action)
        is_over = timestep.last()
        results = _results(timestep.observation, timestep.reward, is_over, timestep.discount, original.bsuite_info())
        rows.append((before, dict(task.read(raw)), results))
    before, after, theirs = jax.tree.map(lambda *x: np.stack(x), *rows)
    begins = [i for i, _ in starts]
    np.testing.assert_array_equal(np.flatnonzero(np.append(True, game.done[:-1])), begins)
    first = np.stack([obs for _, obs in starts])
    np.testing.assert_allclose(game.obs[begins], first, rtol=ROUNDINGS * SPACING, atol=ROUNDINGS * SPACING)
    assert not game.info["truncated"].any()
    logged = {name: value for name, value in game.info.items() if name not in _BASE_INFO}
    ours = _results(game.info["final_obs"], game.reward, game.info["terminated"], game.info["discount"], logged)
    steps = Steps(before, game.action, game.draws, after)
    undecided = check_agreement(
        {**ours, **task.to_original(game.state)}, {**theirs, **_ours_of(before)}, task.sizes(steps, params)
    )
    assert not undecided, "if rounding decides in a game, it proves nothing about the counters: use another seed"
    return game


def _results(obs: Any, reward: Any, terminated: Any, discount: Any, logged: Mapping[str, Any]) -> dict[str, np.ndarray]:
    info = {f"info.{name}": value for name, value in logged.items()}
    results = {"obs": obs, "reward": reward, "terminated": terminated, "discount": discount, **info}
    return {name: np.asarray(value) for name, value in results.items()}


def _ours_of(fields: Fields) -> Fields:
    return {name: np.asarray(value) for name, value in fields.items() if name not in _NOT_OURS}


def _obs(recording: golden.Recording) -> np.ndarray:
    shape = tuple(recording.meta["obs_shape"])
    if not recording.meta["obs_packed"]:
        return recording["obs"]
    return np.unpackbits(recording["obs"], axis=1, count=np.prod(shape)).reshape(-1, *shape)


def _option_names(env: Any) -> list[str]:
    own = [field.name for field in dataclasses.fields(env)]
    return own + _option_names(env.env) if "env" in own else own


def _on_device(draws: Mapping[str, np.ndarray]) -> dict[str, jax.Array]:
    return {name: jnp.asarray(x, jnp.float32 if x.dtype.kind == "f" else jnp.int32) for name, x in draws.items()}
