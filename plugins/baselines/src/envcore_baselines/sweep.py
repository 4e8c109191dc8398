"""A grid of settings as one program: agents that differ in the values of some settings, side by side.

A setting's value is an array in the state of an agent, over which `vmap` maps as it does over seeds. So only numbers
that an algorithm computes with can be swept; those that decide the shape of its program, such as a number of
environments, take a run each.
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
        """What `act` takes."""
        return self.state.agent


class Swept:
    """A learner whose agents differ in settings: `init` takes a random key and the values of the agent's settings.

    Args:
      make: the learner with a configuration; it is called while a program is traced.
      config: the configuration of all other settings.
      names: of the settings that differ.

    Raises:
      ConfigError: a setting decides the shape of the program.
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
        """As for `Learner`."""
        inner, metrics = self._with(state.values).update(state.state)
        return state._replace(state=inner), metrics

    def _with(self, values: Mapping[str, jax.Array]) -> Learner:
        return self._make(dataclasses.replace(self._config, **values))
