"""The libraries whose environments are brought in, and what they announce. Imports neither JAX nor any of them.

A new bridge is a row here, an extra in `pyproject.toml`, and a module beside this one.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from envcore.errors import EnvironmentLoadError
from envcore.specs import EnvSpec
from envcore.suggestions import how_to_install

_BRAX = """
{ant,halfcheetah,hopper,humanoid,walker2d}: A robot that runs without falling.
{humanoidstandup,pusher,reacher}: A robot with a task.
{inverted_pendulum,inverted_double_pendulum}: A cart that keeps poles upright.
fast: A point that accelerates along a line, for tests of programs: it has no physics.
"""  # swimmer does not run: it calls what JAX no longer has

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

_JAXTARI = """
{
airraid, alien, amidar, assault, asterix, asteroids, atlantis, backgammon, bankheist, basicmath, beamrider, berzerk,
blackjack, boxing, breakout, casinoblackjack, casinofivestudpoker, casinopokersolitaire, centipede, choppercommand,
donkeykong, enduro, fishingderby, flagcapture, freeway, frostbite, galaxian, gopher, gravitar, hangman,
hauntedhouse, humancannonball, journeyescape, kaboom, kangaroo, kingkong, klax, lasergates, miniaturegolf,
montezumarevenge, mspacman, namethisgame, othello, pacman, phoenix, pong, qbert, riverraid, roadrunner, seaquest,
sirlancelot, skiing, slotmachine, spaceinvaders, spacewar, surround, tennis, tetris, timepilot, tron, turmoil,
upndown, venture, videocheckers, videochess, videocube, videopinball, wizardofwor, wordzapper, yarsrevenge
}: A game of the Atari 2600; the objects on the screen are observed.
"""

_JUMANJI = """
BinPack-v2: Pack up to 20 boxes into a container, so that little room is left.
CVRP-v1: Serve the demands of 20 customers by the shortest route, with a truck that refills at the depot.
Cleaner-v0: Three robots clean every tile of a 10 x 10 maze together.
FlatPack-v0: Fill an 11 x 11 grid with 25 pieces, which can be turned.
Game2048-v1: Slide the tiles of a 4 x 4 board, and join equal ones, until no move is left.
GraphColoring-v1: Color the 20 nodes of a graph with few colors, so that neighbors differ.
JobShop-v0: Schedule 20 jobs of up to 8 operations on 10 machines, to finish soon.
Knapsack-v1: Choose the most valuable of 50 items within a weight limit.
MMST-v0: Three agents each connect their own nodes in a graph, without crossing one another's paths.
Maze-v0: Find the way to the target in a random 10 x 10 maze.
Minesweeper-v0: Uncover a 10 x 10 board without hitting one of its 10 mines.
MultiCVRP-v0: Serve 20 customers with two vehicles of limited capacity, within their time windows.
PacMan-v1: Eat all pellets of a maze and escape from the ghosts.
RobotWarehouse-v0: Four robots carry the shelves that are asked for to the goals of a warehouse.
RubiksCube-partly-scrambled-v0: Solve a Rubik's Cube that is seven random turns away from solved.
RubiksCube-v0: Solve a scrambled 3 x 3 x 3 Rubik's Cube.
SlidingTilePuzzle-v0: Slide the tiles of a 5 x 5 board into order.
Snake-v1: Steer a growing snake to fruit on a 12 x 12 board, and not into itself.
Sokoban-v0: Push four boxes of a 10 x 10 room onto their targets; its levels are downloaded.
Sudoku-v0: Fill in a sudoku of mixed difficulty.
Sudoku-very-easy-v0: Fill in a very easy sudoku.
TSP-v1: Visit 20 cities by the shortest round trip.
Tetris-v0: Drop tetrominoes on a 10 x 10 board and complete lines.
"""

_NAVIX = """
Navix-{Empty,Empty-Random,DoorKey,DoorKey-Random}-5x5-v0: Reach the goal.
Navix-{Empty,Empty-Random,DoorKey,DoorKey-Random}-6x6-v0: Reach the goal.
Navix-{Empty,Empty-Random,DoorKey,DoorKey-Random}-8x8-v0: Reach the goal.
Navix-{Empty,Empty-Random,DoorKey,DoorKey-Random}-16x16-v0: Reach the goal.
Navix-{FourRooms,DistShift1,DistShift2}-v0: Reach the goal.
Navix-{LavaGapS5,LavaGapS6,LavaGapS7}-v0: Reach the goal; lava ends the episode.
Navix-SimpleCrossing{S9N1,S9N2,S9N3,S11N5}-v0: Reach the goal through the gaps in walls.
Navix-Dynamic-Obstacles-{5x5,5x5-Random,6x6,6x6-Random,8x8,16x16}-v0: Reach the goal past moving balls.
Navix-KeyCorridor{S3R1,S3R2,S3R3,S4R3,S5R3,S6R3}-v0: Rooms along a corridor, a key, a door and a ball. No reward.
Navix-GoToDoor-{5x5,6x6,8x8}-v0: Stand in front of the one right door of four.
"""

_PGX = """
2048: Slide the tiles of a 4 x 4 board, and join equal ones, until no move is left.
minatar-{asterix,breakout,freeway,seaquest,space_invaders}: A game on a grid of 10 by 10 cells, as in MinAtar.
"""

_PLAYGROUND = """
{
AcrobotSwingup, AcrobotSwingupSparse, BallInCup, CartpoleBalance, CartpoleBalanceSparse, CartpoleSwingup,
CartpoleSwingupSparse, CheetahRun, FingerSpin, FingerTurnEasy, FingerTurnHard, FishSwim, HopperHop, HopperStand,
HumanoidRun, HumanoidStand, HumanoidWalk, PendulumSwingup, PointMass, ReacherEasy, ReacherHard, SwimmerSwimmer6,
WalkerRun, WalkerStand, WalkerWalk
}: A task of the DeepMind Control Suite.
{
AeroCubeRotateZAxis, AlohaHandOver, AlohaSinglePegInsertion, ApolloJoystickFlatTerrain, BarkourJoystick,
BerkeleyHumanoidJoystickFlatTerrain, BerkeleyHumanoidJoystickRoughTerrain, G1JoystickFlatTerrain,
G1JoystickRoughTerrain, Go1Footstand, Go1Getup, Go1Handstand, Go1JoystickFlatTerrain, Go1JoystickRoughTerrain,
H1InplaceGaitTracking, H1JoystickGaitTracking, LeapCubeReorient, LeapCubeRotateZAxis, Op3Joystick, PandaOpenCabinet,
PandaPickCube, PandaPickCubeCartesian, PandaPickCubeOrientation, PandaRobotiqPushCube, SpotFlatTerrainJoystick,
SpotGetup, SpotJoystickGaitTracking, T1JoystickFlatTerrain, T1JoystickRoughTerrain
}: A task for a robot of MuJoCo Menagerie, which the library does not ship.
"""

_XMINIGRID = """
XLand-MiniGrid-R1-{9x9,11x11,13x13,15x15,17x17}: Do what a ruleset asks, in one room.
XLand-MiniGrid-R2-{9x9,11x11,13x13,15x15,17x17}: Do what a ruleset asks, in two rooms.
XLand-MiniGrid-R4-{9x9,11x11,13x13,15x15,17x17}: Do what a ruleset asks, in four rooms.
XLand-MiniGrid-{R6-13x13,R6-17x17,R6-19x19,R9-16x16,R9-19x19,R9-25x25}: Do what a ruleset asks, in six or nine rooms.
MiniGrid-{Empty,EmptyRandom,DoorKey}-5x5: Reach the goal.
MiniGrid-{Empty,EmptyRandom,DoorKey}-6x6: Reach the goal.
MiniGrid-{Empty,EmptyRandom,DoorKey}-8x8: Reach the goal.
MiniGrid-{Empty,EmptyRandom,DoorKey}-16x16: Reach the goal.
MiniGrid-{FourRooms,LockedRoom}: Reach the goal.
MiniGrid-Memory{S8,S16,S32,S64,S128}: Remember a thing and go to the same one at the end of a corridor.
MiniGrid-{Unlock,UnlockPickUp,BlockedUnlockPickUp}: Open a locked door, and take the thing behind it.
MiniGrid-Playground: Nine rooms with doors and things of all kinds; there is no goal and no reward.
"""

class Library(NamedTuple):
    """A library.

    Attributes:
      family: the first part of the ids of its environments, `family/NAME`.
      title: its name in text.
      source: its version, authors and year.
      tasks: what it announces, or a function that returns it: a line for each task, `NAME: summary`, in which
        `{a,b}` stands for several names.
      package: the bridge, a module here that has the function `from_PACKAGE`.
      qualified: whether that function takes `family/NAME` instead of NAME, because it serves several libraries.
      imported_as: what Python imports, where it is not the family.
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
        """What Python imports."""
        return self.imported_as or self.family

    def environments(self) -> dict[str, str]:
        """The task of each of its environments in one line, by the library's own names."""
        text = self.tasks if isinstance(self.tasks, str) else self.tasks()
        found = re.findall(r"^([^{:\n]*)(?:\{([^}]*)\})?([^:\n]*): (.*)$", text, re.MULTILINE)
        return {
            f"{before}{part.strip()}{after}": summary
            for before, parts, after, summary in found
            for part in parts.split(",")
        }

    def specs(self) -> list[EnvSpec]:
        """Its environments, as they are announced."""
        function = f"envcore_bridges.{self.package}:from_{self.package}"
        return library_specs(self.family, function, self.environments(), self.source, qualified=self.qualified)


LIBRARIES = (
    Library("brax", "brax", "brax 0.14, Freeman et al. (2021)", _BRAX, "brax"),
    Library("craftax", "Craftax", "Craftax 1.6, Matthews et al. (2024)", _CRAFTAX, "gymnax", qualified=True),
    Library("gymnax", "gymnax 1", "gymnax 1.0, Lange (2022)", _GYMNAX, "gymnax", qualified=True),
    Library("jaxtari", "JAXtari", "JAXtari 0.2, Delfosse et al. (2025)", _JAXTARI, "jaxtari"),
    Library("jumanji", "Jumanji", "Jumanji 1.1.2, Bonnet et al. (2024)", _JUMANJI, "jumanji"),
    Library("navix", "Navix", "Navix 0.7, Pignatelli et al. (2024), after MiniGrid", _NAVIX, "navix"),
    Library("pgx", "Pgx", "Pgx 2.6.0, Koyamada et al. (2023)", _PGX, "pgx"),
    Library(
        "playground",
        "MuJoCo Playground",
        "MuJoCo Playground 0.2, Zakka et al. (2025)",
        _PLAYGROUND,
        "playground",
        imported_as="mujoco_playground",
    ),
    Library("xminigrid", "XLand-MiniGrid", "XLand-MiniGrid 0.9, Nikulin et al. (2024)", _XMINIGRID, "xminigrid"),
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
    # gymnax 0 and envcore-gymnax's alias are imported by the same name.
    try:
        return int(importlib.metadata.version(family).partition(".")[0]) >= 1
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False


def missing(family: str, needed_by: str) -> EnvironmentLoadError:
    """The error for a library that is not installed."""
    library = BY_FAMILY[family]
    return EnvironmentLoadError(
        f"{needed_by} needs {library.title}, which is not installed: "
        f"{how_to_install(f'envcore-bridges[{library.family}]')}."
    )
