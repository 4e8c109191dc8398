"""What users pass to every adapter: an environment, seeds and actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from envcore import Environment, random, registry
from envcore.engine import arguments
from envcore.errors import InvalidArgumentError


def chosen(env: str | Environment, params: Any, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """The environment, and its params as arrays on the host. No backend starts, unless another library's code does it.

    Args:
      env: an environment, or an id for `envcore.make`.
      params: its params, a mapping of those that differ from the defaults, or None for the defaults.
      options: constructor options, where `env` is an id.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: env is neither an id nor an environment, or an option is unknown or refused.
      InvalidParamsError: the params belong to another environment, or a name or value is invalid.
    """
    if isinstance(env, str):
        env = registry.find(env).construct(options)
    elif not isinstance(env, Environment):
        raise InvalidArgumentError(f"env must be an environment of envcore or its id, got {env!r}.")
    elif options:
        raise InvalidArgumentError(
            f"the option {sorted(options)[0]!r} is only for an environment's id: {env.name} is already made."
        )
    return env, arguments.checked_params(env, arguments.with_updates(env, params))


def single(env: str | Environment, params: Any, options: Mapping[str, Any], instead: str) -> tuple[Environment, Any]:
    """The environment, which is not a batch, and its params as arrays on the host.

    Args:
      env: an environment, or an id for `envcore.make`.
      params: its params, a mapping of those that differ from the defaults, or None for the defaults.
      options: constructor options, where `env` is an id.
      instead: what the error about a batch advises.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: the environment is a batch, or an argument is invalid.
    """
    made, params = chosen(env, params, options)
    if made.batch_shape:
        raise InvalidArgumentError(f"{made.name} is a batch of environments: {instead}.")
    return made, params


def optional_seed(seed: Any) -> int | None:
    """The seed as an `int`, or None, where a seed may have any number of bits, as numpy's may.

    Raises:
      InvalidArgumentError: it is neither None nor a non-negative integer.
    """
    if seed is not None and not random.is_seed(seed):
        raise InvalidArgumentError(f"seed must be a non-negative integer or None, got {seed!r}.")
    return None if seed is None else int(seed)


def without_tensors(tree: Any) -> Any:
    """The tree with PyTorch's tensors as numpy arrays, or JAX arrays on a GPU, that share their memory."""
    if isinstance(tree, np.ndarray | int):  # usually; the walk over a tree takes 4 us
        return tree
    return jax.tree.map(_from_torch, tree)


def _from_torch(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] != "torch":
        return value
    value = value.detach()
    return value.numpy() if value.device.type == "cpu" else jax.dlpack.from_dlpack(value)
