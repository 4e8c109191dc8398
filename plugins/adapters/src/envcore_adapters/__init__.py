"""envcore's environments for programs that are written for other libraries; an extra installs each library.

    from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv  # envcore-adapters[gymnasium]
    from envcore_adapters.dm_env import DmEnv  # envcore-adapters[dm-env]
    from envcore_adapters.brax import BraxEnv  # envcore-adapters[brax]

Importing this package imports neither JAX nor any of these libraries.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator


@contextlib.contextmanager
def needs(library: str) -> Generator[None]:
    """Where a module imports the library that it adapts to: says which extra installs it.

    Raises:
      ModuleNotFoundError: the library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        extra = library.replace("_", "-")
        message = f"envcore_adapters.{library} needs {library}: pip install 'envcore-adapters[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from None
