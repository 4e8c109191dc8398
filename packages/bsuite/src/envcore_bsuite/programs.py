"""Compiled programs that play many settings of bsuite's experiments at once, each to a given number of episodes.

Settings whose environments have the same shapes are the lanes of one program, under `vmap`; they differ in their params
and keys. A lane's results depend on its id and key, not on the other lanes.
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import envcore
import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, trees
from envcore.engine import arguments
from envcore.environment import Environment, Info, next_time
from envcore.rollout import Transition
from envcore.typing import Bool, Float, Int, PyTree
from envcore_runs.records import Natural
from flax import struct
from jax import lax

from envcore_bsuite import sums
from envcore_bsuite.agents import Agent, MakeAgent
from envcore_bsuite.csv_log import COLUMNS, Row
from envcore_bsuite.errors import RunError
from envcore_bsuite.experiments import shared_program
from envcore_bsuite.sweep import EPISODES, SWEEP

_CORE_INFO = ("terminated", "truncated", "discount", "final_obs")


class Lane(NamedTuple):
    """One run of one setting.

    Attributes:
      bsuite_id: for example "deep_sea/11".
      repeat: the number of this run of the setting, from 0.
    """

    bsuite_id: str
    repeat: Natural


class Group(NamedTuple):
    """Lanes that one program plays.

    Attributes:
      env: the environment that they share.
      lanes: the lanes.
      params: of each lane; leaves that are equal for all have no axis for the lanes.
      axes: for `vmap`: 0 or None for each leaf of the params.
      num_episodes: the number of episodes of each lane.
    """

    env: Environment
    lanes: tuple[Lane, ...]
    params: PyTree
    axes: PyTree
    num_episodes: int


@struct.dataclass
class Progress:
    """The progress of the lanes, which are the first axis of every leaf.

    Attributes:
      key: random key of the remaining steps.
      env_state, agent_state: of environment and agent.
      steps, episode: numbers of steps taken and episodes ended so far, int32.
      total_return, total_excess: compensated sum of all rewards, float32; see `sums.add`.
      episode_return, episode_excess: compensated return of the running episode, float32.
    """

    key: jax.Array
    env_state: PyTree
    agent_state: PyTree
    steps: Int
    episode: Int
    total_return: Float
    total_excess: Float
    episode_return: Float
    episode_excess: Float


@struct.dataclass
class Ended:
    """The episode that the last step of each lane ended, if any; meaningless where `done` is False.

    Attributes:
      done: bool, the step ended an episode.
      episode_len, episode_return, episode_excess: of that episode.
      info: the environment's `bsuite_info`.
    """

    done: Bool
    episode_len: Int
    episode_return: Float
    episode_excess: Float
    info: Info


def group(lanes: Iterable[Lane], options: Mapping[str, Mapping[str, object]]) -> list[Group]:
    """Sorts lanes into as few groups as their environments' shapes allow.

    Args:
      lanes: the lanes, in any order.
      options: more constructor options of environments, by experiment.
    """
    found: dict[tuple[Environment, Hashable, int], list[tuple[Lane, PyTree]]] = collections.defaultdict(list)
    for lane in lanes:
        made, _ = envcore.make(f"bsuite/{lane.bsuite_id}", **options.get(lane.bsuite_id.partition("/")[0], {}))
        params = arguments.default_params(made)
        shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(params))
        found[shared_program(made), shapes, EPISODES[lane.bsuite_id]].append((lane, params))
    groups: list[Group] = []
    for (env, _, num_episodes), members in found.items():
        params, axes = _stack([params for _, params in members])
        groups.append(Group(env, tuple(lane for lane, _ in members), params, axes, num_episodes))
    return groups


class Program:
    """A group's compiled program with an agent.

    Attributes:
      columns: the names in a `row`.

    Raises:
      RunError: `make_agent` does not return an `Agent`, or (in `advance`) the agent's state changes its types.
    """

    def __init__(self, members: Group, make_agent: MakeAgent):
        self.group = members
        self._agent = make_agent(members.env)
        if not isinstance(self._agent, Agent):
            raise RunError(f"make_agent(env) must return an envcore_bsuite.agents.Agent, got {self._agent!r}")
        self._info_names = _info_names(members.env)
        self.columns = (*COLUMNS, *self._info_names)
        self._start = jax.jit(jax.vmap(self._start_lane, (0, members.axes)))
        self._advance = jax.jit(self._advance_lanes, donate_argnums=0)

    def start(self, key: jax.Array) -> Progress:
        """All lanes before their first step; `key` is the run's."""
        numbers = np.array([SWEEP.index(lane.bsuite_id) for lane in self.group.lanes], np.int32)
        repeats = np.array([lane.repeat for lane in self.group.lanes], np.int32)
        return self._start(_lane_keys(key, numbers, repeats), self.group.params)

    def advance(self, progress: Progress, awaited: np.ndarray, max_steps: int) -> tuple[Progress, Ended]:
        """Takes steps in all lanes until one of them ends its `awaited` episode, at most `max_steps`.

        Args:
          progress: the progress of the lanes; donated, do not reuse.
          awaited: number of an episode for each lane, int32 (lanes,); 0 for none.
          max_steps: at least 1.
        """
        return self._advance(progress, self.group.params, np.asarray(awaited, np.int32), np.int32(max_steps))

    def row(self, progress: Progress, ended: Ended, lane: int) -> Row:
        """The row of the log for the episode that a lane has just ended, in Python numbers."""
        own = (
            progress.steps[lane],
            progress.episode[lane],
            float(progress.total_return[lane]) - float(progress.total_excess[lane]),
            ended.episode_len[lane],
            float(ended.episode_return[lane]) - float(ended.episode_excess[lane]),
        )
        info = {name: ended.info[name][lane] for name in self._info_names}
        return {name: _number(value) for name, value in {**dict(zip(COLUMNS, own, strict=True)), **info}.items()}

    def _start_lane(self, key: jax.Array, params: PyTree) -> Progress:
        key, key_env, key_agent = random.split(key, 3)
        _, env_state = self.group.env.reset(key_env, params)
        agent_state = trees.narrow(self._agent.init(key_agent))
        zero, none = jnp.int32(0), jnp.float32(0)
        return Progress(key, env_state, agent_state, zero, zero, none, none, none, none)

    def _advance_lanes(
        self, progress: Progress, params: PyTree, awaited: jax.Array, max_steps: jax.Array
    ) -> tuple[Progress, Ended]:
        step = jax.vmap(self._step_lane, (0, self.group.axes, None))

        def is_going_on(carry: tuple[jax.Array, Progress, Ended]) -> jax.Array:
            count, progress, ended = carry
            return (count < max_steps) & ~(ended.done & (progress.episode == awaited)).any()

        def body(carry: tuple[jax.Array, Progress, Ended]) -> tuple[jax.Array, Progress, Ended]:
            count, progress, _ = carry
            return count + jnp.int32(1), *step(progress, params, progress.steps[0])

        ended = jax.eval_shape(step, progress, params, max_steps)[1]
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), ended)
        return lax.while_loop(is_going_on, body, (jnp.int32(0), progress, nothing))[1:]

    def _step_lane(self, progress: Progress, params: PyTree, number: jax.Array) -> tuple[Progress, Ended]:
        """Takes step `number` of a lane, which is that of all lanes: `vmap` does not batch it."""
        env, agent = self.group.env, self._agent
        key, key_act, key_step, key_update = random.split(progress.key, 4)
        state = progress.env_state
        obs = env.observe(state, params)
        action, agent_state = agent.act(progress.agent_state, obs, key_act)
        _, env_state, reward, done, info = env.step(key_step, state, action, params)
        bsuite_info = {name: info.pop(name) for name in list(info) if name not in _CORE_INFO}
        final_obs = info.pop("final_obs")
        transition = Transition(state, obs, action, reward, final_obs, done, {**info, "step": number})
        agent_state = agent.update(agent_state, transition, key_update)
        agent_state = trees.conform(
            agent_state, progress.agent_state, "the agent's state after act and update", RunError
        )
        total_return, total_excess = sums.add(progress.total_return, progress.total_excess, reward)
        episode_return, episode_excess = sums.add(progress.episode_return, progress.episode_excess, reward)
        ended = Ended(done, next_time(state.time), episode_return, episode_excess, bsuite_info)
        return Progress(
            key=key,
            env_state=env_state,
            agent_state=agent_state,
            steps=progress.steps + jnp.int32(1),
            episode=progress.episode + done.astype(jnp.int32),
            total_return=total_return,
            total_excess=total_excess,
            episode_return=jnp.where(done, jnp.float32(0), episode_return),
            episode_excess=jnp.where(done, jnp.float32(0), episode_excess),
        ), ended


@jax.jit
@functools.partial(jax.vmap, in_axes=(None, 0, 0))
def _lane_keys(key: jax.Array, number: jax.Array, repeat: jax.Array) -> jax.Array:
    return jax.random.fold_in(jax.random.fold_in(key, number), repeat)


def _info_names(env: Environment) -> tuple[str, ...]:
    """The names of `bsuite_info` in its order, which `jit` does not keep."""
    inner: Any = env.unwrapped
    names: list[str] = []
    jax.eval_shape(lambda state: names.extend(inner.bsuite_info(state)), arguments.state_struct(inner))
    return tuple(names)


def _number(value: Any) -> int | float:
    """An int, or the float with the fewest digits that is the same in float32: 0.1, not 0.10000000149."""
    if not isinstance(value, float) and value.dtype.kind == "i":
        return int(value)
    return float(value) if float(value).is_integer() else float(str(np.float32(value)))


def _stack(params: Sequence[PyTree]) -> tuple[PyTree, PyTree]:
    """Stacks pytrees of arrays; also returns the new axis of each leaf, None for leaves that are all equal."""
    structure = jax.tree.structure(params[0])
    stacked, axes = [], []
    for leaves in zip(*(jax.tree.leaves(each) for each in params), strict=True):
        is_same = all(leaf is leaves[0] or np.array_equal(leaf, leaves[0]) for leaf in leaves)
        stacked.append(leaves[0] if is_same else np.stack(leaves))
        axes.append(None if is_same else 0)
    return jax.tree.unflatten(structure, stacked), jax.tree.unflatten(structure, axes)
