"""Finds the policy of a run, given by name or as a function.

A distribution announces a policy with a `PolicySpec`, whose entry point is a function of the environment's id, the
environment, its params, and the text after a colon that follows the name ("" if there is none). The function returns an
object with the methods `start_memory` and `act` of `Player`. The object also needs an attribute `env` if `act` takes
observations other than the environment's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
from envcore import registry, spaces
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import EnvcoreError, InvalidArgumentError, one_line
from envcore.plugins import Announced
from envcore.rollout import Policy, random_policy
from envcore.specs import PolicySpec
from envcore.wrappers import ActionMaskObservation, Batched

from envcore_runs.description import name_of
from envcore_runs.user_modules import imported_function


@dataclasses.dataclass(frozen=True)
class Player:
    """Chooses the actions of an episode. Players of equal policies are equal.

    Attributes:
      name: name of the policy, or `module:name` of a function.
      env: the environment to play. Either the given one, or a wrapped one with the same states whose observations
        `act` takes.
      start_memory: returns the memory at the start of an episode, a pytree of arrays, or () for no memory.
      act: `(memory, obs, key) -> (action, memory)`.
    """

    name: str
    env: Environment
    start_memory: Callable[[], Any]
    act: Callable[[Any, Any, jax.Array], tuple[Any, Any]]


def find_player(policy: str | Policy, env_id: str, env: Environment, params: Any) -> Player:
    """Returns the player for `random`, `legal`, `module:function`, an announced name, or a function.

    `random` samples from all actions, and `legal` from those that the environment's action masks allow. The actions of
    the player are checked.

    A function must be a policy, `(policy_params, obs, key) -> action`. Its `policy_params` are None. Its module can be
    in the working directory.

    Args:
      policy: the name or the function.
      env_id: the environment's id.
      env: the environment.
      params: the environment's params.

    Raises:
      InvalidArgumentError: the name is malformed or unknown, its object cannot be imported, or it is `legal` and the
        environment has no action masks.
      EnvcoreError: an announced policy does not support this environment.
    """
    if isinstance(policy, str) and policy == "random":
        return Player(policy, env, tuple, _WithoutMemory(random_policy(env, params)))
    if isinstance(policy, str) and policy == "legal":
        try:
            masked = env if isinstance(env, ActionMaskObservation) else ActionMaskObservation(env)
        except ValueError as error:
            raise InvalidArgumentError(f"policy legal: {error}") from None
        return Player(policy, masked, tuple, _WithoutMemory(_Legal(env.action_space(params))))
    if not isinstance(policy, str):
        name, function = name_of(policy), policy
    else:
        name, (found, rest) = policy, _announced(policy)
        if found:
            make = found.load(InvalidArgumentError)
            try:
                agent = make(env_id, env, params, rest)
            except EnvcoreError:
                raise
            except (Exception, SystemExit) as error:  # plugins can raise anything
                raise InvalidArgumentError(f"policy {found.spec.name} fails: {one_line(error)}") from error
            env = getattr(agent, "env", env)
            return Player(name, env, agent.start_memory, _Checked(name, env, params, agent.act))
        function = imported_function("policy", name, ("random", "legal", *registry.announced(PolicySpec)))
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
            raise InvalidArgumentError(f"policy {self.name} fails when jit traces it: {one_line(error)}") from error


def _announced(policy: str) -> tuple[Announced[PolicySpec] | None, str]:
    """Finds the policy for `name:argument` or `distribution:name:argument` (None if unknown), and its argument."""
    first, _, rest = policy.partition(":")
    second, _, last = rest.partition(":")
    announced = registry.announced(PolicySpec)
    if second and (found := announced.find(f"{first}:{second}", InvalidArgumentError)):
        return found, last
    return announced.find(first, InvalidArgumentError), rest


def batch_policy(player: Player, batch: Batched, params: Any) -> Policy:
    """Turns a player into a policy for a batch of its environment.

    Raises:
      InvalidArgumentError: the player has a memory, which policies don't support.
    """
    if player.name == "random":
        return random_policy(batch, params)
    memory = player.start_memory()
    if jax.tree.leaves(memory):
        raise InvalidArgumentError(
            f"policy {player.name} has a memory, but a rollout does not carry a memory from step to step."
        )

    def mapped(policy_params: Any, obs: Any, key: jax.Array) -> Any:
        return jax.vmap(lambda obs, key: player.act(memory, obs, key)[0])(obs, batch.keys(key))

    return mapped


def outside_action_space(policy: str, env: Environment, params: Any) -> InvalidArgumentError:
    """Returns the exception for a policy whose actions are not in the action space."""
    return InvalidArgumentError(f"policy {policy} returned actions that are not in {env.action_space(params)!r}.")
