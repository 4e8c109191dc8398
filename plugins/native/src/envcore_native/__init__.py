"""Compiles environments to machine code, WebAssembly and GPU kernels.

    stepper = envcore_native.Stepper(env, num_envs=8)
    end, rewards = envcore_native.run_rollout(batch, random_policy(batch), start, num_steps=1000)

Names are imported on first use, so importing this package imports neither JAX nor Warp.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_native.browser import web as web
    from envcore_native.rollout import run_rollout as run_rollout
    from envcore_native.stepper import Step as Step
    from envcore_native.stepper import Stepper as Stepper
    from envcore_native.turns import MASK as MASK
    from envcore_native.turns import split as split

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {"rollout": ["run_rollout"], "stepper": ["Step", "Stepper"], "turns": ["MASK", "split"], "browser": ["web"]},
)
