"""Adapters that let code written for Gymnasium, dm_env, brax and Stable-Baselines3 use envcore environments.

Install the library you need with an extra:

    from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv  # envcore-adapters[gymnasium]
    from envcore_adapters.dm_env import DmEnv  # envcore-adapters[dm-env]
    from envcore_adapters.brax import BraxEnv  # envcore-adapters[brax]
    from envcore_adapters.sb3 import SB3VecEnv  # envcore-adapters[sb3]

Importing this package imports neither JAX nor any of these libraries.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from envcore.suggestions import how_to_install


@contextlib.contextmanager
def needs(library: str, module: str | None = None) -> Generator[None]:
    """Wraps the import of an optional library, and reports which extra installs it if it is missing.

    Args:
      library: import name of the library.
      module: the adapter module, which its extra is named after. None if it has the library's name.

    Raises:
      ModuleNotFoundError: the library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        module = module or library
        extra = module.replace("_", "-")
        message = f"envcore_adapters.{module} needs {library}: {how_to_install(f'envcore-adapters[{extra}]')}"
        raise ModuleNotFoundError(message, name=error.name) from None
