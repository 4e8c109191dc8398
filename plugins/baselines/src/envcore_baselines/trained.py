"""Trained agents: those that this package brings, a file for each environment, and those of runs."""

from __future__ import annotations

import dataclasses
import functools
import math
from pathlib import Path
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, suggestions, trees
from envcore.environment import Environment
from envcore.errors import FileError, InvalidArgumentError
from envcore.wrappers import ActionMaskObservation, Batched, RunningStatistics
from envcore_runs import checkpoint

from envcore_baselines.learner import Learner, as_observed, each_agent, with_masks
from envcore_baselines.run import Run, restored
from envcore_baselines.sweep import Swept

FOLDER = Path(__file__).parent / "agents"

MAX_STEPS = 100_000
"""Steps after which an episode counts as it stands, in environments without a time limit."""

_EVALUATION = 0x6576616C
"""Folded into keys: training splits those of its seeds, into few enough keys that this is none of their numbers."""


@dataclasses.dataclass(frozen=True)
class AboutAgent:
    """What an agent's file says beside its arrays: its run, and attributes of `TrainedAgent` on its returns."""

    run: Run
    returns: dict[str, Any]


@dataclasses.dataclass(frozen=True, eq=False)
class TrainedAgent:
    """An agent that plays and no longer learns.

    Attributes:
      run: what it was trained by; its seed is that of this agent.
      env: the environment that it plays, with its action masks if it reads them.
      params: the environment's params.
      learner: the algorithm that it was trained by, for this environment.
      agent: what `learner.act` takes.
      name: as in its run, such as "seed_0".
      mean_return: of its greedy episodes after the training; NaN if they have not been measured.
      std_return: their standard deviation.
      episodes: their number.
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
    def of_run(cls, run: Run, env: Environment, params: Any, folder: str | Path, best: bool = False) -> list[Self]:
        """The agents of a run at its last checkpoint, in the order of the run; they share one learner.

        Args:
          run: the run.
          env, params: its environment.
          folder: of the run.
          best: whether each is the agent of the best point of its curve.

        Raises:
          FileError: there is no checkpoint, it is damaged, or it does not fit the environment.
        """
        learner = run.learner(env, params)
        # The checkpoint holds the params of its episodes, where they are drawn.
        trained = run.learner(*run.make()) if run.randomize else learner
        at_last, _ = restored(folder, run, trained)
        agents = at_last.best if best else at_last.state.agent
        expected = jax.eval_shape(jax.vmap(learner.init), run.starts).agent
        if jax.tree.map(np.shape, agents) != jax.tree.map(np.shape, expected):
            raise FileError(f"the agents of {folder} do not fit {env.name}: they were trained with other spaces.")
        return cls.of_agents(run, env, params, learner, agents)

    @classmethod
    def of_agents(cls, run: Run, env: Environment, params: Any, learner: Learner, agents: Any) -> list[Self]:
        """The agents of a run, in its order; every leaf of `agents` has a leading axis for them."""
        env = with_masks(env, params)
        # By numpy: an index of JAX's is a program to compile for each shape.
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
        """An agent that `save` wrote.

        Args:
          path: of the file.
          env: the environment that it plays; by default the one that it was trained in.
          params: of the environment, if one is given.

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
        """Writes the agent as it plays, with matrices in float16, but for statistics and what float16 does not hold.

        Raises:
          FileError: the file cannot be written; an older one stays as it was.
        """
        narrow = jax.tree.map(_narrowed, self.agent, is_leaf=lambda x: isinstance(x, RunningStatistics))
        returns = {name: getattr(self, name) for name in ("mean_return", "std_return", "episodes")}
        about = AboutAgent(self.run, returns)
        checkpoint.save(path, narrow, dataclasses.asdict(about))

    def play(self, num_episodes: int, key: jax.Array, *, greedy: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Plays episodes, side by side; see `episode_returns`.

        Returns:
          The returns, float64 (num_episodes,), and whether each episode ended, bool (num_episodes,).
        """
        learner = self.learner
        if not greedy and isinstance(learner, Swept):  # its settings may decide how actions are sampled
            learner = self.run.learner(self.env, self.params)
        returns, ended = episode_returns(learner, self.params, self.agent, key, num_episodes, greedy)
        return np.asarray(returns, np.float64), np.asarray(ended)

    def start_memory(self) -> Any:
        """What the agent remembers at the start of an episode, a pytree of arrays; () if it remembers nothing."""
        return self.learner.start_memory()

    def act(self, memory: Any, obs: Any, key: jax.Array) -> tuple[Any, Any]:
        """The most probable action for an observation of `env`, and the memory after it. A pure function.

        Raises:
          InvalidArgumentError: the agent reads action masks, and this is not an observation of `env`.
        """
        has_masks = isinstance(self.env, ActionMaskObservation)
        if has_masks and not (isinstance(obs, dict) and obs.keys() == {"observation", "action_mask"}):
            raise InvalidArgumentError(
                f"the agent for {self.run.env_id} reads which actions are legal: give it the observations of its env, "
                "which have an action_mask."
            )
        return self.learner.act(self.agent, memory, as_observed(self.learner.env, obs, self.params), key, greedy=True)

    def policy(self, policy_params: Any, obs: Any, key: jax.Array) -> Any:
        """`act` for `envcore.rollout`, if the agent has no memory; `policy_params` is not used.

        Raises:
          InvalidArgumentError: it has one, which a policy cannot carry from step to step.
        """
        memory = self.start_memory()
        if jax.tree.leaves(memory):
            raise InvalidArgumentError(
                f"the agent for {self.run.env_id} has a memory, which a policy does not carry: step with `act`."
            )
        return self.act(memory, obs, key)[0]


def load(env_id: str) -> TrainedAgent:
    """The trained agent of an environment that comes with this package, the best one that we have.

    Raises:
      FileError: there is none.
      UnknownEnvironmentError: the suite of the environment is not installed.
    """
    return TrainedAgent.of_file(path_of(env_id))


def agents_of(name: str | Path, best: bool = False) -> list[TrainedAgent]:
    """The agents of the run in a folder, in its order, or the one of an environment that comes with this package.

    Args:
      name: the folder, or the id of the environment.
      best: whether each is the agent of the best point of its curve, not of the last one.

    Raises:
      FileError: there is neither; the folder has no checkpoint, it is damaged or does not fit the environment.
      InvalidArgumentError: an agent that comes with this package has no curve.
    """
    if Path(name).is_dir():
        run = Run.load(name)
        return TrainedAgent.of_run(run, *run.make(), name, best)
    path = path_of(str(name))
    if best:
        raise InvalidArgumentError("best needs the folder of a run: a shipped agent has no curve.")
    return [TrainedAgent.of_file(path)]


def player(env_id: str, env: Environment, params: Any, folder: str) -> TrainedAgent:
    """What `--policy trained` plays; with `trained:DIR`, the first agent of the run in that folder.

    Raises:
      FileError: there is no such agent, or it does not fit the environment.
    """
    if not folder:
        return TrainedAgent.of_file(path_of(env_id), env, params)
    return TrainedAgent.of_run(Run.load(folder), env, params, folder)[0]


def path_of(env_id: str) -> Path:
    """The file of an environment's agent.

    Raises:
      FileError: there is none.
    """
    if env_id not in names():
        meant = suggestions.hint(env_id, names()) or f" Those are {', '.join(names())}."
        raise FileError(f"{env_id} is neither an environment with a trained agent nor the folder of a run.{meant}")
    return FOLDER / f"{env_id}.safetensors"


def names() -> list[str]:
    """The ids of the environments for which there is a trained agent."""
    return sorted(path.stem for path in FOLDER.glob("*.safetensors"))


@functools.partial(jax.jit, static_argnums=(0, 4, 5))
def episode_returns(
    learner: Learner, params: Any, agent: Any, key: jax.Array, num_episodes: int, greedy: bool
) -> tuple[jax.Array, jax.Array]:
    """Plays episodes with one agent, side by side.

    Args:
      learner: of the agent.
      params: of the environment.
      agent: what `learner.act` takes.
      key: a random key; training with the same one draws other numbers.
      num_episodes: number of episodes.
      greedy: whether to take the most probable actions.

    Returns:
      The returns, float32 (num_episodes,), and whether each episode ended within `MAX_STEPS`, bool (num_episodes,).
    """
    agents, keys = jax.tree.map(lambda x: x[None], (agent, key))
    (returns,), (ended,) = play(learner, params, agents, keys, num_episodes, greedy)
    return returns, ended


def play(
    learner: Learner, params: Any, agents: Any, keys: jax.Array, num_episodes: int, greedy: bool
) -> tuple[jax.Array, jax.Array]:
    """As `episode_returns`, with several agents: what is of an agent has a leading axis for them."""
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

    # One loop for all agents: that of each, mapped, would choose between old and new values of all that it carries.
    def is_running(carry: Any) -> jax.Array:
        (*_, ended), steps = carry
        return ~ended.all() & (steps < MAX_STEPS)

    def body(carry: Any) -> Any:
        of_agents, steps = carry
        return each_agent(step)(agents, of_agents), steps + 1

    (*_, returns, ended), _ = jax.lax.while_loop(is_running, body, (each_agent(start)(keys), jnp.int32(0)))
    return returns, ended


def _narrowed(x: Any) -> Any:
    """A leaf in float16, if it is a matrix and fits; statistics as they are: small variances would become zero."""
    if isinstance(x, RunningStatistics) or x.ndim < 2 or x.dtype != np.float32:
        return x
    is_small = jnp.all(jnp.abs(x) <= np.finfo(np.float16).max)
    return x.astype(np.float16) if is_small else x
