"""The libraries whose environments are brought in. Imports neither JAX nor any of them.

A new bridge is a row here, an extra in `pyproject.toml`, and a package beside this module.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from typing import NamedTuple

from envcore.errors import EnvironmentLoadError
from envcore.specs import EnvSpec
from envcore.suggestions import how_to_install


class Library(NamedTuple):
    """A library.

    Attributes:
      family: the first part of the ids of its environments, `family/NAME`.
      title: its name in text.
      source: its version, authors and year.
      package: the bridge, a package here: its `environments.py` lists NAMEs in a dict called like the family in capital
        letters, each with the task in one line, and its `bridge.py` has the function `from_PACKAGE`.
      qualified: whether that function takes `family/NAME` instead of NAME, because it serves several libraries.
      imported_as: what Python imports, where it is not the family.
    """

    family: str
    title: str
    source: str
    package: str
    qualified: bool = False
    imported_as: str | None = None

    @property
    def module(self) -> str:
        """What Python imports."""
        return self.imported_as or self.family

    @property
    def extra(self) -> str:
        """The extra of envcore-bridges that installs it."""
        return self.family.replace("_", "-")

    @property
    def entry_point(self) -> str:
        """The function that makes its environments."""
        return f"envcore_bridges.{self.package}.bridge:from_{self.package}"

    def environments(self) -> Mapping[str, str]:
        """The task of each of its environments in one line, by the library's own names."""
        module = importlib.import_module(f"envcore_bridges.{self.package}.environments")
        return getattr(module, self.family.upper())

    def specs(self) -> list[EnvSpec]:
        """Its environments, as they are announced."""
        return library_specs(self.family, self.entry_point, self.environments(), self.source, qualified=self.qualified)


LIBRARIES = (
    Library("brax", "brax", "brax 0.14, Freeman et al. (2021)", "brax"),
    Library("craftax", "Craftax", "Craftax 1.6, Matthews et al. (2024)", "gymnax", qualified=True),
    Library("gymnax", "gymnax 1", "gymnax 1.0, Lange (2022)", "gymnax", qualified=True),
    Library("jaxtari", "JAXtari", "JAXtari 0.2, Delfosse et al. (2025)", "jaxtari"),
    Library("jumanji", "Jumanji", "Jumanji 1.1.2, Bonnet et al. (2024)", "jumanji"),
    Library("kinetix", "Kinetix", "Kinetix 3.0, Matthews, Beukman et al. (2025)", "gymnax", qualified=True),
    Library("navix", "Navix", "Navix 0.7, Pignatelli et al. (2024), after MiniGrid", "navix"),
    Library("pgx", "Pgx", "Pgx 2.6.0, Koyamada et al. (2023)", "pgx"),
    Library(
        "playground",
        "MuJoCo Playground",
        "MuJoCo Playground 0.2, Zakka et al. (2025)",
        "playground",
        imported_as="mujoco_playground",
    ),
    Library("popgym_arcade", "POPGym Arcade", "POPGym Arcade 0.0.7, Wang et al. (2025)", "gymnax", qualified=True),
    Library("xminigrid", "XLand-MiniGrid", "XLand-MiniGrid 0.9, Nikulin et al. (2024)", "xminigrid"),
)

BY_FAMILY = {library.family: library for library in LIBRARIES}
BY_MODULE = {library.module: library for library in LIBRARIES}


def library_specs(
    family: str, entry_point: str, environments: Mapping[str, str], source: str, *, qualified: bool = False
) -> list[EnvSpec]:
    """The rows by which a bridge announces a library's environments as one family, `family/NAME`.

    Args:
      family: the first part of the ids.
      entry_point: a function that takes the library's own name of an environment as `source`.
      environments: the task of each in one line, by the library's own names.
      source: of the library.
      qualified: whether the function takes the whole id as `source`.
    """
    return [
        EnvSpec(
            id=f"{family}/{name}",
            entry_point=entry_point,
            kwargs={"source": f"{family}/{name}" if qualified else name},
            summary=summary,
            source=source,
            family=family,
        )
        for name, summary in environments.items()
    ]


def is_installed(family: str) -> bool:
    """Whether a library can be imported, without importing it."""
    if family != "gymnax":
        return importlib.util.find_spec(BY_FAMILY[family].module) is not None
    # stable-gymnax, which POPGym Arcade needs, gymnax 0 and envcore-gymnax's alias are imported by the same name.
    try:
        return int(importlib.metadata.version(family).partition(".")[0]) >= 1
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False


def missing(family: str, needed_by: str) -> EnvironmentLoadError:
    """The error for a library that is not installed."""
    library = BY_FAMILY[family]
    return EnvironmentLoadError(
        f"{needed_by} needs {library.title}, which is not installed: "
        f"{how_to_install(f'envcore-bridges[{library.extra}]')}."
    )
