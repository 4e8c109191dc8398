"""bsuite as pure JAX functions: environments, experiments and score.

    env, params = envcore.make("Catch-bsuite")

or, with types that your editor understands:

    from envcore_bsuite import Catch

Names are imported on first use, so importing this package imports no environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_bsuite.bandit import SimpleBandit as SimpleBandit
    from envcore_bsuite.bandit import SimpleBanditParams as SimpleBanditParams
    from envcore_bsuite.bandit import SimpleBanditState as SimpleBanditState
    from envcore_bsuite.cartpole import CartPole as CartPole
    from envcore_bsuite.cartpole import CartPoleParams as CartPoleParams
    from envcore_bsuite.cartpole import CartPoleState as CartPoleState
    from envcore_bsuite.cartpole_swingup import CartPoleSwingup as CartPoleSwingup
    from envcore_bsuite.cartpole_swingup import CartPoleSwingupParams as CartPoleSwingupParams
    from envcore_bsuite.cartpole_swingup import CartPoleSwingupState as CartPoleSwingupState
    from envcore_bsuite.catch import Catch as Catch
    from envcore_bsuite.catch import CatchParams as CatchParams
    from envcore_bsuite.catch import CatchState as CatchState
    from envcore_bsuite.deep_sea import DeepSea as DeepSea
    from envcore_bsuite.deep_sea import DeepSeaParams as DeepSeaParams
    from envcore_bsuite.deep_sea import DeepSeaState as DeepSeaState
    from envcore_bsuite.discounting_chain import DiscountingChain as DiscountingChain
    from envcore_bsuite.discounting_chain import DiscountingChainParams as DiscountingChainParams
    from envcore_bsuite.discounting_chain import DiscountingChainState as DiscountingChainState
    from envcore_bsuite.memory_chain import MemoryChain as MemoryChain
    from envcore_bsuite.memory_chain import MemoryChainParams as MemoryChainParams
    from envcore_bsuite.memory_chain import MemoryChainState as MemoryChainState
    from envcore_bsuite.mnist import MNISTBandit as MNISTBandit
    from envcore_bsuite.mnist import MNISTBanditParams as MNISTBanditParams
    from envcore_bsuite.mnist import MNISTBanditState as MNISTBanditState
    from envcore_bsuite.mountain_car import MountainCar as MountainCar
    from envcore_bsuite.mountain_car import MountainCarParams as MountainCarParams
    from envcore_bsuite.mountain_car import MountainCarState as MountainCarState
    from envcore_bsuite.umbrella_chain import UmbrellaChain as UmbrellaChain
    from envcore_bsuite.umbrella_chain import UmbrellaChainParams as UmbrellaChainParams
    from envcore_bsuite.umbrella_chain import UmbrellaChainState as UmbrellaChainState
    from envcore_bsuite.wrappers import RewardNoise as RewardNoise
    from envcore_bsuite.wrappers import RewardScale as RewardScale

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "bandit": ["SimpleBandit", "SimpleBanditParams", "SimpleBanditState"],
        "cartpole": ["CartPole", "CartPoleParams", "CartPoleState"],
        "cartpole_swingup": ["CartPoleSwingup", "CartPoleSwingupParams", "CartPoleSwingupState"],
        "catch": ["Catch", "CatchParams", "CatchState"],
        "deep_sea": ["DeepSea", "DeepSeaParams", "DeepSeaState"],
        "discounting_chain": ["DiscountingChain", "DiscountingChainParams", "DiscountingChainState"],
        "memory_chain": ["MemoryChain", "MemoryChainParams", "MemoryChainState"],
        "mnist": ["MNISTBandit", "MNISTBanditParams", "MNISTBanditState"],
        "mountain_car": ["MountainCar", "MountainCarParams", "MountainCarState"],
        "umbrella_chain": ["UmbrellaChain", "UmbrellaChainParams", "UmbrellaChainState"],
        "wrappers": ["RewardNoise", "RewardScale"],
    },
)
