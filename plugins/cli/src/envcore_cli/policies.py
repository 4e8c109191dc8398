"""Policies: the value of `--policy`."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from envcore import random
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.plugins import one_line
from envcore.rollout import Policy, random_policy
from envcore.wrappers import Batched


def find_policy(name: str, env: Environment[Any, Any], params: Any) -> Policy:
    """Returns the policy that `random` or `module:function` names, `(policy_params, obs, key) -> action`.

    `policy_params` is None. The module may be in the working directory.

    Raises:
      InvalidArgumentError: the name is malformed, or there is no such function.
    """
    if name == "random":
        return random_policy(env, params)
    policy = imported("--policy", name)

    def checked(policy_params: Any, obs: Any, key: jax.Array) -> Any:
        try:
            return arguments.checked_action(env, policy(policy_params, obs, key), params)
        except (Exception, SystemExit) as error:
            raise _policy_error(name, error) from error

    return checked


def imported(what: str, name: str) -> Callable[..., Any]:
    """Imports the function that a user names as `module:function`; the module may be in the working directory.

    Args:
      what: the option or argument, for error messages.
      name: its value.

    Raises:
      InvalidArgumentError: the name is malformed, there is no such function, or its module cannot be imported.
    """
    module, _, function = name.partition(":")
    if not function or not all(map(str.isidentifier, module.split("."))) or module.endswith(".py"):
        raise InvalidArgumentError(f"{what} must be random or MODULE:FUNCTION, as in `import MODULE`, got {name!r}.")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), function)
    except (Exception, SystemExit) as error:
        raise InvalidArgumentError(f"{what} {name} cannot be imported: {one_line(error)}") from error
    if not callable(found):
        raise InvalidArgumentError(f"{what} {name} is not a function, but {found!r}.")
    return found


def batch_policy(name: str, batch: Batched, params: Any) -> Policy:
    """Like `find_policy`, for a whole batch: a function of one observation is mapped over the batch."""
    if name == "random":
        return random_policy(batch, params)
    policy = find_policy(name, batch.env, params)

    def mapped(policy_params: Any, obs: Any, key: jax.Array) -> Any:
        return jax.vmap(functools.partial(policy, policy_params))(obs, random.spawn(key, batch.num_envs))

    return mapped


def _policy_error(name: str, error: BaseException) -> InvalidArgumentError:
    what, *_ = str(error).splitlines() or [""]
    return InvalidArgumentError(f"--policy {name} fails when jit traces it: {type(error).__name__}: {what}")


def outside_action_space(policy: str, env: Environment[Any, Any], params: Any) -> InvalidArgumentError:
    """The error for a policy whose actions are not in the action space."""
    return InvalidArgumentError(f"--policy {policy} returned actions that are not in {env.action_space(params)!r}.")
