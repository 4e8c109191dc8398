"""Sweeps settings in one compiled program: agents with different values of some settings train side by side.

The value of a swept setting is an array in the agent's state, and `vmap` maps over it as over seeds. So you can sweep
only numbers that an algorithm computes with. For settings that change shapes, such as the number of environments, start
one run per value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore.errors import one_line

from envcore_baselines.errors import ConfigError
from envcore_baselines.learner import Learner, Metrics


class SweptState(NamedTuple):
    """An algorithm's state, and the values of the agent's swept settings, float32 () each, by name."""

    values: dict[str, jax.Array]
    state: Any

    @property
    def agent(self) -> Any:
        """The first argument of `act`."""
        return self.state.agent


class Swept:
    """A learner whose agents differ in settings. `init` takes a random key and the values of the swept settings.

    Args:
      make: returns the learner for a configuration. Called while a program is traced.
      config: the configuration, with all other settings.
      names: names of the swept settings.

    Raises:
      ConfigError: a setting changes shapes or the compiled program.
    """

    def __init__(self, make: Callable[[Any], Learner], config: Any, names: Sequence[str]):
        self._make, self._config = make, config
        learner = make(config)
        self.env, self.steps_per_update, self.num_updates = learner.env, learner.steps_per_update, learner.num_updates
        self.start_memory, self.act = learner.start_memory, learner.act
        for name in names:
            start = (jax.random.key(0), {name: jnp.float32(getattr(config, name))})
            try:
                jax.eval_shape(lambda start: self.update(self.init(start)), start)
            except Exception as error:
                reason = f"{name} cannot be swept with these settings: train a run for each value"
                raise ConfigError(f"{reason} ({one_line(error)}).") from error

    def init(self, start: tuple[jax.Array, dict[str, jax.Array]]) -> SweptState:
        """The state before the first update."""
        key, values = start
        return SweptState(values, self._with(values).init(key))

    def update(self, state: SweptState) -> tuple[SweptState, Metrics]:
        """Does the same as `Learner.update`."""
        inner, metrics = self._with(state.values).update(state.state)
        return state._replace(state=inner), metrics

    def _with(self, values: Mapping[str, jax.Array]) -> Learner:
        return self._make(dataclasses.replace(self._config, **values))
