"""Meta-learning and navigation environments as pure JAX functions.

    env, params = envcore.make("FrozenLake-misc")

or, with types that your editor understands:

    from envcore_misc import FrozenLake

Names are imported on first use, so importing this package imports no environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_misc.bernoulli_bandit import BernoulliBandit as BernoulliBandit
    from envcore_misc.bernoulli_bandit import BernoulliBanditParams as BernoulliBanditParams
    from envcore_misc.bernoulli_bandit import BernoulliBanditState as BernoulliBanditState
    from envcore_misc.four_rooms import FourRooms as FourRooms
    from envcore_misc.four_rooms import FourRoomsParams as FourRoomsParams
    from envcore_misc.four_rooms import FourRoomsState as FourRoomsState
    from envcore_misc.frozen_lake import FrozenLake as FrozenLake
    from envcore_misc.frozen_lake import FrozenLakeParams as FrozenLakeParams
    from envcore_misc.frozen_lake import FrozenLakeState as FrozenLakeState
    from envcore_misc.gaussian_bandit import GaussianBandit as GaussianBandit
    from envcore_misc.gaussian_bandit import GaussianBanditParams as GaussianBanditParams
    from envcore_misc.gaussian_bandit import GaussianBanditState as GaussianBanditState
    from envcore_misc.meta_maze import MetaMaze as MetaMaze
    from envcore_misc.meta_maze import MetaMazeParams as MetaMazeParams
    from envcore_misc.meta_maze import MetaMazeState as MetaMazeState
    from envcore_misc.point_robot import PointRobot as PointRobot
    from envcore_misc.point_robot import PointRobotParams as PointRobotParams
    from envcore_misc.point_robot import PointRobotState as PointRobotState
    from envcore_misc.pong import Pong as Pong
    from envcore_misc.pong import PongParams as PongParams
    from envcore_misc.pong import PongState as PongState
    from envcore_misc.reacher import Reacher as Reacher
    from envcore_misc.reacher import ReacherParams as ReacherParams
    from envcore_misc.reacher import ReacherState as ReacherState
    from envcore_misc.swimmer import Swimmer as Swimmer
    from envcore_misc.swimmer import SwimmerParams as SwimmerParams
    from envcore_misc.swimmer import SwimmerState as SwimmerState

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bernoulli_bandit": ["BernoulliBandit", "BernoulliBanditParams", "BernoulliBanditState"],
        "four_rooms": ["FourRooms", "FourRoomsParams", "FourRoomsState"],
        "frozen_lake": ["FrozenLake", "FrozenLakeParams", "FrozenLakeState"],
        "gaussian_bandit": ["GaussianBandit", "GaussianBanditParams", "GaussianBanditState"],
        "meta_maze": ["MetaMaze", "MetaMazeParams", "MetaMazeState"],
        "point_robot": ["PointRobot", "PointRobotParams", "PointRobotState"],
        "pong": ["Pong", "PongParams", "PongState"],
        "reacher": ["Reacher", "ReacherParams", "ReacherState"],
        "swimmer": ["Swimmer", "SwimmerParams", "SwimmerState"],
    },
)
