"""Checks and conversions of the arguments that all adapters share: environments, seeds and actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from envcore import Environment, random, registry
from envcore.engine import arguments
from envcore.errors import InvalidArgumentError


def chosen(env: str | Environment, params: Any, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """Returns the environment and its params as arrays on the host.

    JAX's backend is not initialized, unless a bridged library does so.

    Args:
      env: an environment, or an id for `envcore.make`.
      params: the environment's params, a mapping of the values to change from the defaults, or None.
      options: constructor options, if `env` is an id.

    Raises:
      UnknownEnvironmentError: the id is unknown.
      InvalidArgumentError: `env` is neither an id nor an environment, or an option is unknown or refused.
      InvalidParamsError: the params belong to another environment, or a name or value is invalid.
    """
    if isinstance(env, str):
        env = registry.find(env).construct(options)
    elif not isinstance(env, Environment):
        raise InvalidArgumentError(f"env must be an envcore environment or an id, got {env!r}.")
    elif options:
        raise InvalidArgumentError(
            f"the option {sorted(options)[0]!r} needs an id instead of an environment: {env.name} is already made."
        )
    return env, arguments.checked_params(env, arguments.with_updates(env, params))


def single(env: str | Environment, params: Any, options: Mapping[str, Any], instead: str) -> tuple[Environment, Any]:
    """Returns the environment and its params as arrays on the host. Refuses batches.

    Args:
      env: an environment, or an id for `envcore.make`.
      params: the environment's params, a mapping of the values to change from the defaults, or None.
      options: constructor options, if `env` is an id.
      instead: advice at the end of the error about a batch.

    Raises:
      UnknownEnvironmentError: the id is unknown.
      InvalidArgumentError: the environment is a batch, or an argument is invalid.
    """
    made, params = chosen(env, params, options)
    if made.batch_shape:
        raise InvalidArgumentError(f"{made.name} is a batch of environments: {instead}.")
    return made, params


def optional_seed(seed: Any) -> int | None:
    """Returns the seed as an `int`, or None. As in numpy, a seed may have any number of bits.

    Raises:
      InvalidArgumentError: the seed is neither None nor a non-negative integer.
    """
    if seed is not None and not random.is_seed(seed):
        raise InvalidArgumentError(f"seed must be a non-negative integer or None, got {seed!r}.")
    return None if seed is None else int(seed)


def without_tensors(tree: Any) -> Any:
    """Converts the PyTorch tensors of a tree, without a copy, to numpy arrays or, on a GPU, to JAX arrays."""
    if isinstance(tree, np.ndarray | int):  # the usual case, which avoids 4 us for `tree.map`
        return tree
    return jax.tree.map(_from_torch, tree)


def _from_torch(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] != "torch":
        return value
    value = value.detach()
    return value.numpy() if value.device.type == "cpu" else jax.dlpack.from_dlpack(value)
