"""gymnax's `Visualizer`. Needs envcore-viewer."""

from __future__ import annotations

from typing import Any

import envcore
import envcore_viewer


class Visualizer(envcore_viewer.Visualizer):
    """Animates a list of states: `Visualizer(env, params, state_seq, cum_rewards).animate("a.gif")`.

    Args:
      env_arg: an environment from `make`, or an envcore environment.
      env_params_arg: the environment's params.
      state_seq_arg: the states.
      reward_seq_arg: the cumulative rewards.
      **options: other arguments of `envcore_viewer.Visualizer`.
    """

    def __init__(
        self, env_arg: Any, env_params_arg: Any, state_seq_arg: Any, reward_seq_arg: Any = None, **options: Any
    ):
        env = env_arg if isinstance(env_arg, envcore.Environment) else getattr(env_arg, "env", env_arg)
        super().__init__(env, env_params_arg, state_seq_arg, reward_seq_arg, **options)
