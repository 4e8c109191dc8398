"""Policies: what chooses the actions of a run, by name or as a function."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
from envcore import random, spaces
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.installed import announcing
from envcore.rollout import Policy, random_policy
from envcore.text import one_line
from envcore.wrappers import ActionMaskObservation, Batched

from envcore_runs.description import name_of
from envcore_runs.naming import argument

GROUP = "envcore.policies"
"""The group of entry points in which a distribution announces a policy, which then goes by its name.

The entry point is a function of the environment's id, the environment, its params and what follows a colon after the
name ("" for nothing). It returns an object with the methods `start_memory` and `act` of `Player`, and with its
attribute `env` if `act` takes other observations than the environment's.
"""


@dataclasses.dataclass(frozen=True)
class Player:
    """What chooses the actions of an episode. Players of equal policies are equal.

    Attributes:
      name: its name; of a function, `module:name`.
      env: the environment to play, the given one or one around it with the same states, whose observations `act` takes.
      start_memory: returns what it remembers at the start of an episode, a pytree of arrays; () for nothing.
      act: `(memory, obs, key) -> (action, memory)`.
    """

    name: str
    env: Environment
    start_memory: Callable[[], Any]
    act: Callable[[Any, Any, jax.Array], tuple[Any, Any]]


def find_player(policy: str | Policy, env_id: str, env: Environment, params: Any) -> Player:
    """Returns what `random`, `legal`, `module:function`, an announced name or a function is; its actions are checked.

    `random` chooses among all actions, `legal` among those that the environment's action masks allow.

    A function is a policy, `(policy_params, obs, key) -> action`, whose `policy_params` are None. Its module may be in
    the working directory.

    Args:
      policy: the name or the function.
      env_id: the id of the environment.
      env: the environment.
      params: its params.

    Raises:
      InvalidArgumentError: the name is malformed or unknown, what it names cannot be imported, or it is `legal` and the
        environment has no action masks.
      EnvcoreError: an announced policy does not play this environment.
    """
    if not isinstance(policy, str):
        name = name_of(policy)
        return Player(name, env, tuple, _Checked(name, env, params, _WithoutMemory(policy)))
    name = policy
    if name == "random":
        return Player(name, env, tuple, _WithoutMemory(random_policy(env, params)))
    if name == "legal":
        masked = env if isinstance(env, ActionMaskObservation) else _with_masks(env)
        return Player(name, masked, tuple, _WithoutMemory(_Legal(env.action_space(params))))
    announced = _announced()
    word, _, rest = name.partition(":")
    if word in announced:
        agent = _made(word, announced[word], env_id, env, params, rest)
        env = getattr(agent, "env", env)
        return Player(name, env, agent.start_memory, _Checked(name, env, params, agent.act))
    function = imported(argument("policy"), name, ("random", "legal", *sorted(announced)))
    return Player(name, env, tuple, _Checked(name, env, params, _WithoutMemory(function)))


@dataclasses.dataclass(frozen=True)
class _WithoutMemory:
    policy: Policy

    def __call__(self, memory: Any, obs: Any, key: jax.Array) -> tuple[Any, Any]:
        return self.policy(None, obs, key), memory


@dataclasses.dataclass(frozen=True)
class _Legal:
    space: spaces.Space

    def __call__(self, policy_params: Any, obs: Any, key: jax.Array) -> jax.Array:
        return self.space.sample_legal(key, obs["action_mask"])


def _with_masks(env: Environment) -> Environment:
    try:
        return ActionMaskObservation(env)
    except ValueError as error:
        raise InvalidArgumentError(f"{argument('policy')} legal: {error}") from None


@dataclasses.dataclass(frozen=True, eq=False)
class _Checked:
    name: str
    env: Environment
    params: Any
    act: Callable[[Any, Any, jax.Array], tuple[Any, Any]]

    def __call__(self, memory: Any, obs: Any, key: jax.Array) -> tuple[Any, Any]:
        try:
            action, memory = self.act(memory, obs, key)
            return arguments.checked_action(self.env, action, self.params), memory
        except (Exception, SystemExit) as error:
            raise _policy_error(self.name, error) from error


def _announced() -> dict[str, dict[str, Any]]:
    """The entry points of announced policies, by name and distribution."""
    found: dict[str, dict[str, Any]] = {}
    for distribution in announcing(GROUP):
        for entry_point in distribution.entry_points:
            found.setdefault(entry_point.name, {})[distribution.name] = entry_point
    return found


def _made(word: str, entry_points: Mapping[str, Any], *args: Any) -> Any:
    """Imports the function that announces a policy, and calls it.

    Raises:
      InvalidArgumentError: it fails, or several distributions announce the name.
    """
    if len(entry_points) > 1:
        owners = " and ".join(entry_points)
        raise InvalidArgumentError(
            f"{argument('policy')} {word} is announced by {owners}: uninstall all but one of them."
        )
    (entry_point,) = entry_points.values()
    try:
        return entry_point.load()(*args)
    except EnvcoreError:
        raise
    except (Exception, SystemExit) as error:  # a plugin may raise anything
        raise InvalidArgumentError(f"{argument('policy')} {word} fails: {one_line(error)}") from error


def imported(what: str, name: str, words: Sequence[str] = ("random",)) -> Callable[..., Any]:
    """Imports the function that a user names as `module:function`; the module may be in the working directory.

    Args:
      what: the option or argument, for error messages.
      name: its value.
      words: other values that it takes, for error messages.

    Raises:
      InvalidArgumentError: the name is malformed, there is no such function, or its module cannot be imported.
    """
    module, _, function = name.partition(":")
    if not function or not all(map(str.isidentifier, module.split("."))) or module.endswith(".py"):
        raise InvalidArgumentError(
            f"{what} must be {', '.join(words)} or MODULE:FUNCTION, as in `import MODULE`, got {name!r}."
        )
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:
        raise InvalidArgumentError(f"{what} {name} cannot be imported: {one_line(error)}") from error
    if not callable(found):
        raise InvalidArgumentError(f"{what} {name} is not a function, but {found!r}.")
    return found


def batch_policy(player: Player, batch: Batched, params: Any) -> Policy:
    """A player as a policy of a batch of its environment; a policy carries no memory.

    Raises:
      InvalidArgumentError: the player has a memory.
    """
    if player.name == "random":
        return random_policy(batch, params)
    memory = player.start_memory()
    if jax.tree.leaves(memory):
        raise InvalidArgumentError(
            f"{argument('policy')} {player.name} has a memory, which a rollout does not carry from step to step."
        )

    def mapped(policy_params: Any, obs: Any, key: jax.Array) -> Any:
        return jax.vmap(lambda obs, key: player.act(memory, obs, key)[0])(
            obs, random.spawn(key, batch.num_envs, batch.axis_name)
        )

    return mapped


def _policy_error(name: str, error: BaseException) -> InvalidArgumentError:
    what, *_ = str(error).splitlines() or [""]
    return InvalidArgumentError(f"{argument('policy')} {name} fails when jit traces it: {type(error).__name__}: {what}")


def outside_action_space(policy: str, env: Environment, params: Any) -> InvalidArgumentError:
    """The error for a policy whose actions are not in the action space."""
    return InvalidArgumentError(
        f"{argument('policy')} {policy} returned actions that are not in {env.action_space(params)!r}."
    )
