"""Our MinAtar games beside the original's: the same states, actions and draws, what comes of them, exactly.

`recorded` reads steps of the original from tests/golden, `played` takes them from the package `minatar` with draws of
ours forced on it, and `check` compares them with what our rules make of the same states.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import golden
import jax
import jax.numpy as jnp
import numpy as np
from envcore.testing.compilation import quick_jit
from minatar import Environment
from scipy import stats

Fields = dict[str, np.ndarray]


class Steps(NamedTuple):
    """N steps of the original, with its fields as our `from_original` takes them.

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


class ForcedDraws:
    """Stands in for the original's RandomState, and gives out the values that a step is to draw."""

    def __init__(self) -> None:
        self.values: Iterator[Any] = iter(())

    def force(self, values: list[Any]) -> None:
        """Sets what the next calls return, in their order."""
        self.values = iter(values)

    def rand(self, *shape: int) -> Any:
        value = next(self.values)
        assert np.shape(value) == shape
        return value

    def randint(self, low: int, high: int | None = None, size: int | None = None) -> Any:
        low, high = (0, low) if high is None else (low, high)
        value = np.asarray(next(self.values))
        assert np.all((value >= low) & (value < high)), f"drew {value} from [{low}, {high})"
        return int(value) if size is None else value


def played(
    game: str,
    env: Any,
    fields: Callable[[Any], dict[str, Any]],
    script: Callable[[Any, Any], list[Any]],
    num_steps: int,
    seed: int = 0,
    policy: Callable[[Any, np.random.Generator], int] | None = None,
) -> Steps:
    """Plays the original with actions of `policy` (at random by default) and with our draws forced on it.

    Args:
      game: the original's name of the game.
      env: our game; its `draw` says what is random in a step, its `difficulty_ramping` is the original's.
      fields: the original's fields as arrays, from its `Env`.
      script: the values that the original is to draw, in its order, from its `Env` and the draws of one step.
      num_steps: how many steps; episodes follow each other.
      seed: of actions and draws.
      policy: the action for the original's `Env`.
    """
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**32, (num_steps, env.num_words), dtype=np.uint32)
    draws = jax.tree.map(np.asarray, quick_jit(jax.vmap(env.draw))(words))
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
        forced.force(script(original, now))
        reward, terminal = original.act(action)
        rows.append((before, last_action, action, fields(original), original.state(), reward, terminal))
        last_action = action
    before, last, action, after, obs, reward, terminal = jax.tree.map(lambda *x: np.stack(x), *rows)
    ramping = np.full(num_steps, env.difficulty_ramping)
    return Steps(before, last, action, draws, after, obs, reward, terminal, ramping)


def check(module: ModuleType, env: Any, steps: Steps) -> None:
    """Fails unless our rules lead from each step's state, action and draws to what the original made of them.

    Args:
      module: the game's module, with `from_original` and `to_original`.
      env: the game, ramping as the steps were played.
      steps: compared exactly, but for those that were played with another ramping.
    """
    mine = steps.ramping == env.difficulty_ramping
    steps = jax.tree.map(lambda x: x[mine], steps)
    assert len(steps.action)

    # One program: called one by one, each operation of these functions would be compiled by itself.
    @quick_jit
    @jax.vmap
    def ours(fields: Any, last_action: Any, action: Any, draws: Any) -> tuple[Any, ...]:
        before = module.from_original(fields, last_action)
        after, reward = env.execute(before, action, draws)
        obs = env.observe(after, env.default_params)
        flags = {"last_action": after.last_action, "terminal": after.terminal}
        return module.to_original(before), module.to_original(after), flags, reward, obs

    last_action, action = steps.last_action.astype(np.int32), steps.action.astype(np.int32)
    fields_before, fields_after, flags, reward, obs = ours(steps.before, last_action, action, steps.draws)
    _check_fields(fields_before, steps.before)
    _check_fields(fields_after, steps.after)
    np.testing.assert_array_equal(flags["last_action"], steps.action)
    np.testing.assert_array_equal(flags["terminal"], steps.terminal)
    np.testing.assert_array_equal(reward, steps.reward)
    np.testing.assert_array_equal(obs, steps.obs)


def check_games(module: ModuleType, env: Any, steps: Steps) -> None:
    """Fails unless our own states, carried on from the first of each game, show what the original's do.

    `check` starts each step from the original's fields, so it cannot see what our states keep of things that are gone.

    Args:
      module, env: as for `check`.
      steps: from `played`.
    """
    begins = np.concatenate([[True], steps.terminal[:-1]])

    def body(state: Any, step: Any) -> tuple[Any, Any]:
        begins, before, last_action, action, draws = step
        first = module.from_original(before, last_action)
        state = jax.tree.map(lambda x, y: jnp.where(begins, x, y), first, state)
        after, reward = env.execute(state, action, draws)
        after = after.replace(time=state.time + 1)
        return after, (module.to_original(after), env.observe(after, env.default_params), reward)

    @quick_jit
    def games(inputs: Any) -> Any:
        _, before, last_action, *_ = jax.tree.map(lambda x: x[0], inputs)
        start = jax.tree.map(jnp.asarray, module.from_original(before, last_action))
        return jax.lax.scan(body, start, inputs)[1]

    last_action, action = steps.last_action.astype(np.int32), steps.action.astype(np.int32)
    fields, obs, reward = games((begins, steps.before, last_action, action, steps.draws))
    _check_fields(fields, steps.after)
    np.testing.assert_array_equal(obs, steps.obs)
    np.testing.assert_array_equal(reward, steps.reward)


def check_resets(module: ModuleType, game: str, starts: Callable[[golden.Recording], Any]) -> None:
    """Fails unless our first states, made by `starts`, are the recorded ones."""
    recording = golden.load(f"minatar.{game}")
    fields = quick_jit(lambda: jax.vmap(module.to_original)(starts(recording)))()
    _check_fields(fields, recording.group("reset"))


def _check_fields(ours: Mapping[str, Any], expected: Mapping[str, np.ndarray]) -> None:
    assert set(ours) == set(expected)
    for name, value in ours.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


class Sample(NamedTuple):
    """Finished episodes: return and length of each."""

    returns: np.ndarray
    lengths: np.ndarray


@functools.cache
def originals_episodes(game: str, action_probs: tuple[float, ...], num_episodes: int, seed: int = 0) -> Sample:
    """Episodes of the original, sticky actions included, of the policy that draws the six actions at random."""
    rng = np.random.default_rng(seed)
    original = Environment(game)
    original.seed(seed)
    found: list[tuple[float, int]] = []
    while len(found) < num_episodes:
        original.reset()
        total, length, terminal = 0.0, 0, False
        while not terminal:
            actions = rng.choice(6, 256, p=action_probs)
            for action in actions:
                reward, terminal = original.act(int(action))
                total, length = total + reward, length + 1
                if terminal:
                    break
        found.append((total, length))
    returns, lengths = zip(*found, strict=True)
    return Sample(np.array(returns), np.array(lengths))


def our_episodes(env: Any, action_probs: tuple[float, ...], num_episodes: int, num_steps: int) -> Sample:
    """The first episode of each of `num_episodes` environments, all of them finished within `num_steps`."""
    logits = jnp.log(jnp.asarray(action_probs))

    def body(carry: Any, key: jax.Array) -> tuple[Any, None]:
        state, total, length, over = carry
        key_act, key_step = jax.random.split(key)
        action = jax.random.categorical(key_act, logits).astype(jnp.int32)
        _, state, reward, terminated, info = env.step_env(key_step, state, action)
        total, length = jnp.where(over, total, total + reward), jnp.where(over, length, length + 1)
        return (state, total, length, over | terminated | info["truncated"]), None

    @jax.jit
    @jax.vmap
    def episode(key: jax.Array) -> Any:
        key_reset, key = jax.random.split(key)
        _, state = env.reset(key_reset)
        start = (state, jnp.float32(0), jnp.int32(0), jnp.bool_(False))
        return jax.lax.scan(body, start, jax.random.split(key, num_steps))[0][1:]

    returns, lengths, over = map(np.asarray, episode(jax.random.split(jax.random.key(1), num_episodes)))
    assert over.all()
    return Sample(returns, lengths)


def check_same_distribution(ours: Sample, theirs: Sample) -> None:
    """Fails if returns or lengths of the two samples are unlikely to come from one distribution."""
    for mine, original in zip(ours, theirs, strict=True):
        test: Any = stats.ks_2samp(mine, original)
        assert test.pvalue > 1e-3
