"""Loads, plays and saves trained agents: the ones in this package, one file per environment, and those of runs."""

from __future__ import annotations

import dataclasses
import functools
import math
from pathlib import Path
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, suggestions, trees
from envcore.environment import Environment
from envcore.errors import FileError, InvalidArgumentError
from envcore.wrappers import ActionMaskObservation, Batched, RunningStatistics
from envcore_runs import checkpoint

from envcore_baselines.learner import Learner, as_observed, each_agent, with_masks
from envcore_baselines.run import Run, restored
from envcore_baselines.sweep import Swept

FOLDER = Path(__file__).parent / "agents"

MAX_STEPS = 100_000
"""Maximum number of steps in an episode of an evaluation, for environments without a time limit."""

_EVALUATION = 0x6576616C
"""Folded into keys, so evaluation never repeats training's randomness. Training splits keys into fewer than this."""


@dataclasses.dataclass(frozen=True)
class AboutAgent:
    """The metadata in an agent's file: its run, and the attributes of `TrainedAgent` about its returns."""

    run: Run
    returns: dict[str, Any]


@dataclasses.dataclass(frozen=True, eq=False)
class TrainedAgent:
    """An agent that plays and no longer learns.

    Attributes:
      run: the settings of its training, with this agent's seed.
      env: the environment that it plays, with action masks if the agent reads them.
      params: the environment's params.
      learner: the algorithm that trained it, for this environment.
      agent: the first argument of `learner.act`.
      name: the name in its run, such as "seed_0".
      mean_return: mean return of greedy episodes after training. NaN if it has not been measured.
      std_return: standard deviation of these returns.
      episodes: number of these episodes.
    """

    run: Run
    env: Environment
    params: Any
    learner: Learner = dataclasses.field(repr=False)
    agent: Any = dataclasses.field(repr=False)
    name: str = ""
    mean_return: float = math.nan
    std_return: float = math.nan
    episodes: int = 0

    @classmethod
    def of_run(
        cls, folder: str | Path, env: Environment | None = None, params: Any = None, *, best: bool = False
    ) -> list[Self]:
        """Loads the agents of a run from its last checkpoint, in the order of the run. They share one learner.

        Args:
          folder: folder of the run.
          env: the environment to play in. By default the one that they were trained in.
          params: params of the environment, if you pass one.
          best: whether to load each agent from the best point of its curve instead.

        Raises:
          FileError: the folder contains no training, its checkpoint is missing or damaged, or does not fit the
            environment.
        """
        run = Run.load(folder)
        made = run.make()
        learner = run.learner(*made)
        at_last, _ = restored(folder, run, learner)
        agents = at_last.best if best else at_last.state.agent
        if env is not None:
            made, learner = (env, params), run.learner(env, params)
            expected = jax.eval_shape(jax.vmap(learner.init), run.starts).agent
            if list(map(np.shape, jax.tree.leaves(agents))) != [x.shape for x in jax.tree.leaves(expected)]:
                raise FileError(f"{folder} does not fit {env.name}: it is for {run.env_id} with options {run.options}.")
        return cls.of_agents(run, *made, learner, agents)

    @classmethod
    def of_agents(cls, run: Run, env: Environment, params: Any, learner: Learner, agents: Any) -> list[Self]:
        """Makes the agents of a run, in its order. Every leaf of `agents` has a leading axis for them."""
        env = with_masks(env, params)
        # Index with NumPy, because JAX would compile a program for each shape.
        arrays = jax.tree.map(lambda x: x if trees.is_key(x) else np.asarray(x), agents)

        def of(number: int) -> Any:
            return jax.tree.map(lambda x: jnp.asarray(x[number]), arrays)

        runs = map(run.of_agent, range(len(run.agents)))
        return [
            cls(each, env, params, learner, of(number), name)
            for number, (each, name) in enumerate(zip(runs, run.names, strict=True))
        ]

    @classmethod
    def of_file(cls, path: str | Path, env: Environment | None = None, params: Any = None) -> Self:
        """Loads an agent that `save` wrote.

        Args:
          path: path of the file.
          env: the environment to play in. By default the one that the agent was trained in.
          params: params of the environment, if you pass one.

        Raises:
          FileError: there is no such file, it is damaged, or it does not fit the environment.
        """
        tensors, about = checkpoint.load(path, AboutAgent)
        run = about.run
        if env is None:
            env, params = run.make()
        learner, env = run.learner(env, params), with_masks(env, params)
        key = jax.random.key(0)
        wide = {name: x.astype(np.float32) if x.dtype == np.float16 else x for name, x in tensors.items()}
        agent = checkpoint.restore(path, wide, jax.eval_shape(learner.init, key).agent, key)
        return cls(run, env, params, learner, agent, run.names[0], **about.returns)

    def save(self, path: str | Path) -> None:
        """Saves the agent to a file that `of_file` loads.

        Matrices are stored in float16, except for statistics and matrices with values too large for float16.

        Raises:
          FileError: the file cannot be written. An existing file is not changed.
          InvalidArgumentError: the file could not be loaded, because the environment, the algorithm or the network is
            defined in a script or a function, or the environment has an option that JSON does not support.
        """
        for name in (self.run.algorithm, self.run.env_id, self.run.network):
            if name.startswith("__main__:") or "<locals>" in name:
                raise InvalidArgumentError(f"{name} cannot be loaded later: define it at the top level of a module.")
        self.run.make()  # raises for options that are not saved
        narrow = jax.tree.map(_narrowed, self.agent, is_leaf=lambda x: isinstance(x, RunningStatistics))
        returns = {name: getattr(self, name) for name in ("mean_return", "std_return", "episodes")}
        about = AboutAgent(self.run, returns)
        checkpoint.save(path, narrow, dataclasses.asdict(about))

    def play(self, num_episodes: int, key: jax.Array, *, greedy: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Plays episodes side by side. See `episode_returns`.

        Returns:
          The returns, float64 (num_episodes,), and whether each episode ended, bool (num_episodes,).

        Raises:
          InvalidArgumentError: `num_episodes` is not a positive integer.
        """
        checks.positive_integer("num_episodes", num_episodes, InvalidArgumentError)
        learner = self.learner
        if not greedy and isinstance(learner, Swept):  # swept settings may change how actions are sampled
            learner = self.run.learner(self.env, self.params)
        returns, ended = episode_returns(learner, self.params, self.agent, key, num_episodes, greedy)
        return np.asarray(returns, np.float64), np.asarray(ended)

    def start_memory(self) -> Any:
        """The agent's memory at the start of an episode, a pytree of arrays, or () if it has no memory."""
        return self.learner.start_memory()

    def act(self, memory: Any, obs: Any, key: jax.Array) -> tuple[Any, Any]:
        """Returns the most probable action for an observation of `env`, and the next memory. A pure function.

        Raises:
          InvalidArgumentError: the agent reads action masks, but `obs` has no action mask.
        """
        has_masks = isinstance(self.env, ActionMaskObservation)
        if has_masks and not (isinstance(obs, dict) and obs.keys() == {"observation", "action_mask"}):
            raise InvalidArgumentError(f"the agent for {self.run.env_id} needs action masks: observe with its `env`.")
        return self.learner.act(self.agent, memory, as_observed(self.learner.env, obs, self.params), key, greedy=True)

    def policy(self, policy_params: Any, obs: Any, key: jax.Array) -> Any:
        """Acts like `act`, as a policy for `envcore.rollout`. `policy_params` is not used.

        Raises:
          InvalidArgumentError: the agent has a memory, which a policy cannot carry from step to step.
        """
        memory = self.start_memory()
        if jax.tree.leaves(memory):
            raise InvalidArgumentError(
                f"the agent for {self.run.env_id} has a memory, which a policy cannot carry: call `act` for each step."
            )
        return self.act(memory, obs, key)[0]


def load(env_id: str) -> TrainedAgent:
    """Loads the best trained agent that this package has for an environment.

    Raises:
      FileError: this package has no agent for the environment.
      UnknownEnvironmentError: the suite of the environment is not installed.
    """
    return TrainedAgent.of_file(path_of(env_id))


def agents_of(name: str | Path, best: bool = False) -> list[TrainedAgent]:
    """Loads the agents of a run, in its order, or the agent for an environment that comes with this package.

    Args:
      name: folder of the run, or id of the environment.
      best: whether to load each agent from the best point of its curve, instead of the last one.

    Raises:
      FileError: there is no such folder or agent. The folder has no checkpoint, or it is damaged or does not fit the
        environment.
      InvalidArgumentError: you pass `best` for an agent that comes with this package, which has no curve.
    """
    if Path(name).is_dir():
        return TrainedAgent.of_run(name, best=best)
    if str(name) not in names():
        meant = suggestions.hint(str(name), names())
        raise FileError(f"{name} is neither the folder of a run nor an environment with a trained agent.{meant}")
    if best:
        raise InvalidArgumentError("best needs the folder of a run, because a shipped agent has no curve.")
    return [load(str(name))]


def player(env_id: str, env: Environment, params: Any, folder: str) -> TrainedAgent:
    """Loads the agent for `--policy trained`, or for `trained:DIR` the first agent of the run in that folder.

    Raises:
      FileError: there is no such agent, or it does not fit the environment.
    """
    if not folder:
        return TrainedAgent.of_file(path_of(env_id), env, params)
    return TrainedAgent.of_run(folder, env, params)[0]


def path_of(env_id: str) -> Path:
    """The path of the file with an environment's agent.

    Raises:
      FileError: this package has no agent for the environment.
    """
    if env_id not in names():
        meant = suggestions.hint(env_id, names()) or f" Trained agents: {', '.join(names())}."
        raise FileError(f"there is no trained agent for {env_id}.{meant}")
    return FOLDER / f"{env_id}.safetensors"


def names() -> list[str]:
    """The ids of the environments that this package has trained agents for."""
    return sorted(path.stem for path in FOLDER.glob("*.safetensors"))


@functools.partial(jax.jit, static_argnums=(0, 4, 5))
def episode_returns(
    learner: Learner, params: Any, agent: Any, key: jax.Array, num_episodes: int, greedy: bool
) -> tuple[jax.Array, jax.Array]:
    """Plays episodes with one agent, side by side.

    Args:
      learner: the agent's algorithm.
      params: params of the environment.
      agent: the first argument of `learner.act`.
      key: a random key. Training with the same key uses different random numbers.
      num_episodes: number of episodes.
      greedy: whether to take the most probable actions.

    Returns:
      The returns, float32 (num_episodes,), and whether each episode ended within `MAX_STEPS`, bool (num_episodes,).
    """
    agents, keys = jax.tree.map(lambda x: x[None], (agent, key))
    return jax.tree.map(lambda x: x[0], play(learner, params, agents, keys, num_episodes, greedy))


def play(
    learner: Learner, params: Any, agents: Any, keys: jax.Array, num_episodes: int, greedy: bool
) -> tuple[jax.Array, jax.Array]:
    """Like `episode_returns`, for several agents. `agents`, `keys` and the results have a leading axis for them."""
    batch = Batched(learner.env, num_episodes)
    act = jax.vmap(functools.partial(learner.act, greedy=greedy), (None, 0, 0, 0))

    def start(key: jax.Array) -> Any:
        key, key_reset = random.split(random.fold_in(key, _EVALUATION))
        obs, state = batch.reset(key_reset, params)
        memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_episodes, *jnp.shape(x))), learner.start_memory())
        return key, memory, obs, state, jnp.zeros(num_episodes, jnp.float32), jnp.zeros(num_episodes, jnp.bool_)

    def step(agent: Any, carry: Any) -> Any:
        key, memory, obs, state, returns, ended = carry
        key, key_act, key_step = random.split(key, 3)
        action, memory = act(agent, memory, obs, random.split(key_act, num_episodes))
        obs, state, reward, terminated, info = batch.step_env(key_step, state, action, params)
        returns = returns + jnp.where(ended, 0, reward)
        return key, memory, obs, state, returns, ended | terminated | info["truncated"]

    # One loop for all agents, because `vmap` of a loop selects between old and new values of its whole carry.
    def is_running(carry: Any) -> jax.Array:
        (*_, ended), steps = carry
        return ~ended.all() & (steps < MAX_STEPS)

    def body(carry: Any) -> Any:
        of_agents, steps = carry
        return each_agent(step)(agents, of_agents), steps + 1

    (*_, returns, ended), _ = jax.lax.while_loop(is_running, body, (each_agent(start)(keys), jnp.int32(0)))
    return returns, ended


def _narrowed(x: Any) -> Any:
    """Converts a matrix to float16 if its values fit. Keeps statistics, whose small variances would become zero."""
    if isinstance(x, RunningStatistics) or x.ndim < 2 or x.dtype != np.float32:
        return x
    return x.astype(np.float16) if jnp.all(jnp.abs(x) <= np.finfo(np.float16).max) else x
