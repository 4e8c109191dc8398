"""What to type to install one of our distributions, for messages. Imports nothing."""

from __future__ import annotations

CORE = "envcore"
"""The name of the core's distribution, with which the names of ours begin."""
_IS_RELEASED = False
"""Whether envcore and its plugins are on the package index, where another project has core's name until then."""
_SUITES = ("bsuite", "classic-control", "minatar", "misc")
_ALL_SUITES = " ".join(f"./packages/{suite}" for suite in _SUITES)


def how_to_install(requirement: str) -> str:
    """A command that installs a distribution, also with an extra, such as "envcore-bsuite[analysis]".

    Before the first release, it is one for a clone of the repository, if the distribution is ours.
    """
    name, bracket, extra = requirement.partition("[")
    suite = name.removeprefix(f"{CORE}-")
    if _IS_RELEASED or not name.startswith(CORE):
        return f"pip install {_quoted(requirement)}"
    if name == CORE:
        return f"pip install ./core {_ALL_SUITES} in a clone of envcore"
    folder = f"./{'packages' if suite in _SUITES else 'plugins'}/{suite}{bracket}{extra}"
    return f"pip install ./core {_quoted(folder)} in a clone of envcore"


def _quoted(requirement: str) -> str:
    return repr(requirement) if "[" in requirement else requirement
