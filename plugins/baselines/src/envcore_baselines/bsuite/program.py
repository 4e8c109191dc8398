"""One compiled program that plays several settings of bsuite at once, as lanes under `vmap`.

Lanes share the shapes of their environments and differ in params and keys. The results of a lane depend only on its
setting and the seed, not on the other lanes.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import envcore
import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.engine import arguments
from envcore.environment import Environment, next_time
from envcore.rollout import Transition
from envcore.typing import Bool, Float, Int, PyTree
from envcore.wrappers import Wrapper
from envcore_bsuite import sums
from envcore_bsuite.sweep import EPISODES, SWEEP
from jax import lax

from envcore_baselines.bsuite.agents import Agent, MakeAgent
from envcore_baselines.errors import ConfigError

COLUMNS = ("steps", "episode", "total_return", "episode_len", "episode_return")
"""The columns of every log. The keys of the environment's `bsuite_info` follow, sorted by name."""

Row = dict[str, Any]
"""A row of a log: numbers by column. On the device, arrays (lanes,), and `Sum` for returns."""

_CORE_INFO = ("terminated", "truncated", "discount", "final_obs")


class Lanes(NamedTuple):
    """The settings that one program plays.

    Attributes:
      env: the environment that they share.
      ids: the settings, such as "deep_sea/11".
      params: params of the lanes. Leaves that are equal for all lanes have no axis for them.
      axes: axes for `vmap`, 0 or None for each leaf of the params.
    """

    env: Environment
    ids: tuple[str, ...]
    params: PyTree
    axes: PyTree


class Sum(NamedTuple):
    """A compensated float32 sum, as in `envcore_bsuite.sums`."""

    total: Float
    excess: Float

    def plus(self, term: jax.Array) -> Sum:
        """Adds a term."""
        return Sum(*sums.add(*self, term))


class LaneState(NamedTuple):
    """The state between two steps. The lanes are the first axis of every leaf.

    Attributes:
      key: random key for the remaining steps.
      env_state, agent_state: states of environment and agent.
      steps, episode: steps taken and episodes ended so far, int32.
      gain, episode_gain: sum of rewards, in total and in the running episode.
    """

    key: jax.Array
    env_state: PyTree
    agent_state: PyTree
    steps: Int
    episode: Int
    gain: Sum
    episode_gain: Sum


def lanes_of(ids: Iterable[str], options: Mapping[str, Mapping[str, object]]) -> list[Lanes]:
    """Groups settings into as few programs as the shapes of their environments allow.

    Args:
      ids: the settings.
      options: additional constructor options of environments, by experiment.
    """
    found: dict[tuple[Environment, Hashable, int], list[tuple[str, PyTree]]] = collections.defaultdict(list)
    for bsuite_id in ids:
        made, _ = envcore.make(f"bsuite/{bsuite_id}", **options.get(bsuite_id.partition("/")[0], {}))
        params = arguments.default_params(made)
        shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(params))
        found[shared(made), shapes, EPISODES[bsuite_id]].append((bsuite_id, params))
    return [
        Lanes(env, tuple(each for each, _ in members), *_stack([params for _, params in members]))
        for (env, *_), members in found.items()
    ]


class Program:
    """The compiled program that runs an agent in some lanes.

    Raises:
      ConfigError: `make_agent` does not return an `Agent`, or (in `advance`) the types in the agent's state change.
    """

    def __init__(self, lanes: Lanes, make_agent: MakeAgent):
        self._lanes, self._agent = lanes, make_agent(lanes.env)
        if not isinstance(self._agent, Agent):
            raise ConfigError(f"make_agent(env) must return an envcore_baselines.bsuite.Agent, got {self._agent!r}.")
        self._start = jax.jit(jax.vmap(self._start_lane, (None, 0, lanes.axes)))
        self._advance = jax.jit(self._advance_lanes, donate_argnums=0)  # a replay buffer may be of gigabytes

    def start(self, key: jax.Array) -> LaneState:
        """The state of all lanes before their first step. `key` is the run's key."""
        numbers = np.array([SWEEP.index(each) for each in self._lanes.ids], np.int32)
        return self._start(key, numbers, self._lanes.params)

    def advance(self, state: LaneState, awaited: np.ndarray, max_steps: int) -> tuple[LaneState, Bool, Row]:
        """Steps all lanes until one of them ends its `awaited` episode, or for `max_steps` steps.

        Args:
          state: state of the lanes. It is donated, so do not use it again.
          awaited: number of an episode for each lane, int32 (lanes,), or 0 to wait for none.
          max_steps: maximum number of steps, at least 1.

        Returns:
          The next state, whether the last step ended an episode, bool (lanes,), and its row in the log.
        """
        return self._advance(state, self._lanes.params, np.asarray(awaited, np.int32), np.int32(max_steps))

    def _start_lane(self, key: jax.Array, number: jax.Array, params: PyTree) -> LaneState:
        key = random.fold_in(random.fold_in(key, number), np.int32(0))
        key, key_env, key_agent = random.split(key, 3)
        _, env_state = self._lanes.env.reset(key_env, params)
        agent_state = trees.narrow(self._agent.init(key_agent))
        zero, nothing = jnp.int32(0), Sum(jnp.float32(0), jnp.float32(0))
        return LaneState(key, env_state, agent_state, zero, zero, nothing, nothing)

    def _advance_lanes(
        self, state: LaneState, params: PyTree, awaited: jax.Array, max_steps: jax.Array
    ) -> tuple[LaneState, Bool, Row]:
        step = jax.vmap(self._step_lane, (0, self._lanes.axes, None))

        def is_going_on(carry: tuple[jax.Array, LaneState, Bool, Row]) -> jax.Array:
            count, state, done, _ = carry
            return (count < max_steps) & ~(done & (state.episode == awaited)).any()

        def body(carry: tuple[jax.Array, LaneState, Bool, Row]) -> tuple[jax.Array, LaneState, Bool, Row]:
            count, state, *_ = carry
            return count + jnp.int32(1), *step(state, params, state.steps[0])

        last = jax.eval_shape(step, state, params, max_steps)[1:]
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), last)
        return lax.while_loop(is_going_on, body, (jnp.int32(0), state, *nothing))[1:]

    def _step_lane(self, lane: LaneState, params: PyTree, number: jax.Array) -> tuple[LaneState, Bool, Row]:
        """Takes step `number` of a lane. All lanes have the same number, so `vmap` does not batch it."""
        env, state = self._lanes.env, lane.env_state
        key, key_act, key_step, key_update = random.split(lane.key, 4)
        obs = env.observe(state, params)
        action, agent_state = self._agent.act(lane.agent_state, obs, key_act)
        _, env_state, reward, done, info = env.step(key_step, state, action, params)
        bsuite_info = {name: info.pop(name) for name in list(info) if name not in _CORE_INFO}
        final_obs = info.pop("final_obs")
        transition = Transition(state, obs, action, reward, final_obs, done, {**info, "step": number})
        agent_state = trees.conform(
            self._agent.update(agent_state, transition, key_update),
            lane.agent_state,
            "the agent's state after act and update",
            ConfigError,
        )
        gain, episode_gain = lane.gain.plus(reward), lane.episode_gain.plus(reward)
        steps, episode = lane.steps + jnp.int32(1), lane.episode + done.astype(jnp.int32)
        row = dict(zip(COLUMNS, (steps, episode, gain, next_time(state.time), episode_gain), strict=True))
        running = jax.tree.map(lambda x: jnp.where(done, jnp.float32(0), x), episode_gain)
        return LaneState(key, env_state, agent_state, steps, episode, gain, running), done, row | bsuite_info


def shared(env: Environment) -> Environment:
    """Resets all options of an environment that only set `default_params`.

    Settings with equal results can be lanes of one program.
    """
    settings = getattr(env, "settings", ())
    same: dict[str, object] = {field.name: field.default for field in dataclasses.fields(env) if field.name in settings}
    if isinstance(env, Wrapper):
        same["env"] = shared(env.env)
    return dataclasses.replace(env, **same)


def _stack(params: Sequence[PyTree]) -> tuple[PyTree, PyTree]:
    """Stacks pytrees of arrays. Also returns the new axis of each leaf, None if its values are all equal."""
    structure = jax.tree.structure(params[0])
    stacked, axes = [], []
    for leaves in zip(*(jax.tree.leaves(each) for each in params), strict=True):
        is_same = all(leaf is leaves[0] or np.array_equal(leaf, leaves[0]) for leaf in leaves)
        stacked.append(leaves[0] if is_same else np.stack(leaves))
        axes.append(None if is_same else 0)
    return jax.tree.unflatten(structure, stacked), jax.tree.unflatten(structure, axes)


def row_of(row: Row, lane: int) -> Row:
    """Extracts the row of a lane from arrays on the host, with columns in order."""
    names = [*COLUMNS, *sorted(row.keys() - set(COLUMNS))]
    return {name: _number(jax.tree.map(lambda x: x[lane], row[name])) for name in names}


def _number(value: Any) -> int | float:
    """An int, or the float with the fewest digits that is equal in float32, such as 0.1 for 0.10000000149."""
    if isinstance(value, Sum):
        value = float(value.total) - float(value.excess)
    elif value.dtype.kind == "i":
        return int(value)
    return float(value) if float(value).is_integer() else float(str(np.float32(value)))
