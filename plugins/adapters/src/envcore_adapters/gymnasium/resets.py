"""What `reset` takes: one seed or one for each environment of a batch, and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from envcore.errors import InvalidArgumentError
from envcore.seeds import optional_seed
from gymnasium.utils import seeding


def checked_options(options: Any) -> Mapping[str, Any]:
    """The options; an empty mapping for None.

    Raises:
      InvalidArgumentError: they are something else.
    """
    if options is not None and not isinstance(options, Mapping):
        raise InvalidArgumentError(f"options must be a dict or None, got {options!r}.")
    return options or {}


def seeds_of_each(seed: Any, num_envs: int) -> list[Any] | None:
    """A seed or None for each environment of a batch; None where `seed` is not a list, a tuple or an array of them.

    Raises:
      InvalidArgumentError: there are more or fewer, or one is neither a non-negative integer nor None.
    """
    if not isinstance(seed, list | tuple | np.ndarray):
        return None
    shape = seed.shape if isinstance(seed, np.ndarray) else (len(seed),)
    if shape != (num_envs,):
        raise InvalidArgumentError(f"a list of seeds must have shape ({num_envs},), one an environment, got {shape}.")
    return [optional_seed(each) for each in seed]


def key_data(generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """The data of the next random key that numpy's generator draws, uint32 (2,)."""
    return generator.integers(2**32, size=2, dtype=np.uint32)


def key_data_of_each(seeds: Sequence[int | None], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """That of a key for each environment: of its own seed, or of `generator` for None, uint32 (num_envs, 2)."""
    own = (generator if seed is None else seeding.np_random(seed)[0] for seed in seeds)
    return np.array([key_data(each) for each in own])
