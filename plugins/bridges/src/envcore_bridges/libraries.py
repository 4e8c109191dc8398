"""The table of bridged libraries and their environments. Imports neither JAX nor any of these libraries.

To add a bridge, add a row here, an extra in `pyproject.toml`, and a module next to this one.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from envcore.errors import EnvironmentLoadError
from envcore.specs import EnvSpec
from envcore.suggestions import how_to_install

_BRAX = """
{ant,halfcheetah,hopper,humanoid,walker2d}: A robot that runs without falling.
{humanoidstandup,pusher,reacher}: A robot with a task.
{inverted_pendulum,inverted_double_pendulum}: A cart that keeps poles upright.
fast: A point that accelerates along a line, without physics, to test programs.
"""  # swimmer is missing because it calls functions that JAX has removed

_CRAFTAX = """
Craftax-{Symbolic,Pixels}-v1: Gather, craft and fight down nine floors of a world.
Craftax-Classic-{Symbolic,Pixels}-v1: Survive, gather and craft as in Crafter.
"""

_GYMNAX = """
{CartPole-v1,Pendulum-v1,Acrobot-v1,MountainCar-v0,MountainCarContinuous-v0}: Classic control, as in Gymnasium.
{Asterix,Breakout,Freeway,Seaquest,SpaceInvaders}-MinAtar: A game on a grid of 10 by 10 cells, as in MinAtar.
{Catch,DeepSea,MemoryChain,UmbrellaChain,DiscountingChain,MNISTBandit,SimpleBandit}-bsuite: An experiment of bsuite.
{BernoulliBandit,FourRooms,FrozenLake,GaussianBandit,MetaMaze,PointRobot,Pong,Reacher,Swimmer}-misc: A task of gymnax's.
"""

_JUMANJI = """
{Game2048-v1,Maze-v0,Minesweeper-v0,PacMan-v1,Snake-v1,Tetris-v0}: A game.
{RubiksCube-partly-scrambled-v0,RubiksCube-v0,SlidingTilePuzzle-v0,Sudoku-v0,Sudoku-very-easy-v0}: A puzzle.
Sokoban-v0: A puzzle. Its levels are downloaded.
{BinPack-v2,FlatPack-v0,GraphColoring-v1,JobShop-v0,Knapsack-v1}: A packing or scheduling problem, or a coloring.
{CVRP-v1,MMST-v0,MultiCVRP-v0,RobotWarehouse-v0,TSP-v1,Cleaner-v0}: A routing problem.
"""

_NAVIX = """
Navix-{Empty,Empty-Random,DoorKey,DoorKey-Random}-{5x5,6x6,8x8,16x16}-v0: Reach the goal.
Navix-{FourRooms,DistShift1,DistShift2}-v0: Reach the goal.
Navix-{LavaGapS5,LavaGapS6,LavaGapS7}-v0: Reach the goal without touching the lava.
Navix-SimpleCrossing{S9N1,S9N2,S9N3,S11N5}-v0: Reach the goal through the gaps in walls.
Navix-Dynamic-Obstacles-{5x5,5x5-Random,6x6,6x6-Random,8x8,16x16}-v0: Reach the goal past moving balls.
Navix-KeyCorridor{S3R1,S3R2,S3R3,S4R3,S5R3,S6R3}-v0: Rooms along a corridor, a key, a door and a ball. No reward.
Navix-GoToDoor-{5x5,6x6,8x8}-v0: Stop in front of the right one of four doors.
"""

_PGX = """
2048: Slide the tiles of a 4 x 4 board, and join equal ones, until no move is left.
minatar-{asterix,breakout,freeway,seaquest,space_invaders}: A game on a grid of 10 by 10 cells, as in MinAtar.
"""

_XMINIGRID = """
XLand-MiniGrid-R1-{9x9,11x11,13x13,15x15,17x17}: Reach the goal of a ruleset, in one room.
XLand-MiniGrid-R2-{9x9,11x11,13x13,15x15,17x17}: Reach the goal of a ruleset, in two rooms.
XLand-MiniGrid-R4-{9x9,11x11,13x13,15x15,17x17}: Reach the goal of a ruleset, in four rooms.
XLand-MiniGrid-{R6-13x13,R6-17x17,R6-19x19,R9-16x16,R9-19x19,R9-25x25}: Reach the goal of a ruleset, in 6 or 9 rooms.
MiniGrid-{Empty,EmptyRandom,DoorKey}-{5x5,6x6,8x8,16x16}: Reach the goal.
MiniGrid-{FourRooms,LockedRoom}: Reach the goal.
MiniGrid-Memory{S8,S16,S32,S64,S128}: Remember an object and go to the same one at the end of a corridor.
MiniGrid-{Unlock,UnlockPickUp,BlockedUnlockPickUp}: Open a locked door, and pick up the object behind it.
MiniGrid-Playground: Nine rooms with doors and objects of all kinds, without a goal or reward.
"""

_ATARI_FOR_TWO = {"combat", "joust", "maze_craze", "warlords"}


def _gymnasium() -> str:
    """Lists Gymnasium's environments and ALE's games."""
    # Leave out versions that Gymnasium no longer makes, and its functional environments, which are in JAX already.
    registered = _found("gymnasium", "envs/__init__.py", r'id="(\w+-v\d+)",\s+entry_point="gymnasium\.envs\.(\w+)')
    ids = [name for name, kind in registered if not (kind == "mujoco" and name.endswith(("v2", "v3", "Pusher-v4")))]
    games = {rom.stem for rom in _folder("ale_py").glob("roms/*.bin")} - _ATARI_FOR_TWO
    ids += [f"ALE/{game.title().replace('_', '')}-v5" for game in sorted(games)]
    return "\n".join(f"{name}: As registered in Gymnasium." for name in ids)


def _jaxtari() -> str:
    """Lists JAXtari's games."""
    games = _found("jaxtari", "core.py", r'"(\w+)": "jaxtari\.games\.')
    return "\n".join(f"{game}: An Atari 2600 game. Observations are the objects on the screen." for game in games)


def _playground() -> str:
    """Lists MuJoCo Playground's tasks."""
    robots = "A task for a robot of MuJoCo Menagerie, which you download separately."
    control = "A task of the DeepMind Control Suite."
    folders = {"dm_control_suite": control, "locomotion": robots, "manipulation": robots}
    return "\n".join(
        f"{name}: {summary}"
        for folder, summary in folders.items()
        for name in _found("mujoco_playground", f"_src/{folder}/__init__.py", r'(?m)^    "(\w+)":')
    )


def _found(package: str, file: str, pattern: str) -> list[Any]:
    """Returns the matches of a pattern in the source of an installed package, which is faster than importing it."""
    source = _folder(package) / file
    return re.findall(pattern, source.read_text(encoding="utf-8")) if source.exists() else []


def _folder(package: str) -> Path:
    """Returns the folder of an installed package, or a path without files if it is not installed."""
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else Path(os.devnull)


class Library(NamedTuple):
    """A bridged library.

    Attributes:
      family: the first part of environment ids, `family/NAME`.
      title: the library's name in text.
      source: version, authors and year.
      tasks: the environments to register, with a line `NAME: summary` each. `{a,b}` expands to several names. Or a
        function that looks these lines up in the installed library.
      package: the bridge's module in this package, which has the function `from_PACKAGE`.
      qualified: whether that function takes `family/NAME` instead of NAME, because it serves several libraries.
      imported_as: import name of the library, if it is not the family.
    """

    family: str
    title: str
    source: str
    tasks: str | Callable[[], str]
    package: str
    qualified: bool = False
    imported_as: str | None = None

    @property
    def module(self) -> str:
        """Import name of the library."""
        return self.imported_as or self.family

    def environments(self) -> dict[str, str]:
        """Returns a one-line summary of each environment, by the library's names."""
        text = self.tasks if isinstance(self.tasks, str) else self.tasks()
        rows = (line.split(": ", 1) for line in text.strip().splitlines())
        return {
            "".join(parts): summary
            for names, summary in rows
            for parts in itertools.product(*(part.split(",") for part in re.split("[{}]", names)))
        }

    def specs(self) -> list[EnvSpec]:
        """Returns the specs of the environments, for registration."""
        return [
            EnvSpec(
                id=f"{self.family}/{name}",
                entry_point=f"envcore_bridges.{self.package}:from_{self.package}",
                kwargs={"source": f"{self.family}/{name}" if self.qualified else name},
                summary=summary,
                source=self.source,
                family=self.family,
            )
            for name, summary in self.environments().items()
        ]


LIBRARIES = (
    Library("brax", "brax", "brax 0.14, Freeman et al. (2021)", _BRAX, "brax"),
    Library("craftax", "Craftax", "Craftax 1.6, Matthews et al. (2024)", _CRAFTAX, "gymnax", qualified=True),
    Library("gymnasium", "Gymnasium", "Gymnasium 1.4, Towers et al. (2024)", _gymnasium, "gymnasium"),
    Library("gymnax", "gymnax 1", "gymnax 1.0, Lange (2022)", _GYMNAX, "gymnax", qualified=True),
    Library("jaxtari", "JAXtari", "JAXtari 0.2, Delfosse et al. (2025)", _jaxtari, "jaxtari"),
    Library("jumanji", "Jumanji", "Jumanji 1.1.2, Bonnet et al. (2024)", _JUMANJI, "jumanji"),
    Library("navix", "Navix", "Navix 0.7, Pignatelli et al. (2024), after MiniGrid", _NAVIX, "navix"),
    Library("pgx", "Pgx", "Pgx 2.6.0, Koyamada et al. (2023)", _PGX, "pgx"),
    Library(
        "playground",
        "MuJoCo Playground",
        "MuJoCo Playground 0.2, Zakka et al. (2025)",
        _playground,
        "playground",
        imported_as="mujoco_playground",
    ),
    Library("xminigrid", "XLand-MiniGrid", "XLand-MiniGrid 0.9, Nikulin et al. (2024)", _XMINIGRID, "xminigrid"),
)

BY_FAMILY = {library.family: library for library in LIBRARIES}
BY_MODULE = {library.module: library for library in LIBRARIES}


def is_installed(family: str) -> bool:
    """Whether a library can be imported, without importing it."""
    if family != "gymnax":
        return importlib.util.find_spec(BY_FAMILY[family].module) is not None
    # gymnax 0 and envcore-gymnax's alias have the same import name.
    try:
        return int(importlib.metadata.version(family).partition(".")[0]) >= 1
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False


def missing(family: str, needed_by: str) -> EnvironmentLoadError:
    """Returns the error for a library that is not installed."""
    library = BY_FAMILY[family]
    return EnvironmentLoadError(
        f"{needed_by} needs {library.title}, which is not installed: "
        f"{how_to_install(f'envcore-bridges[{library.family}]')}."
    )
