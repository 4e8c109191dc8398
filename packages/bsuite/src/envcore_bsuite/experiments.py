"""bsuite's environments with noisy or rescaled rewards, for its experiments.

Each function takes the settings listed in `envcore_bsuite.sweep`, except `seed`, and other options of the wrapped
environment.
"""

from __future__ import annotations

from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.catch import Catch
from envcore_bsuite.mnist import MNISTBandit
from envcore_bsuite.mountain_car import MountainCar
from envcore_bsuite.wrappers import RewardNoise, RewardScale


def bandit_noise(noise_scale: float, mapping_seed: int = 0, num_actions: int = 11) -> RewardNoise:
    """`SimpleBandit` with noise on its rewards."""
    return RewardNoise(SimpleBandit(mapping_seed, num_actions), noise_scale)


def bandit_scale(reward_scale: float, mapping_seed: int = 0, num_actions: int = 11) -> RewardScale:
    """`SimpleBandit` with its rewards rescaled."""
    return RewardScale(SimpleBandit(mapping_seed, num_actions), reward_scale)


def cartpole_noise(noise_scale: float) -> RewardNoise:
    """`CartPole` with noise on its rewards."""
    return RewardNoise(CartPole(), noise_scale)


def cartpole_scale(reward_scale: float) -> RewardScale:
    """`CartPole` with its rewards rescaled."""
    return RewardScale(CartPole(), reward_scale)


def catch_noise(noise_scale: float) -> RewardNoise:
    """`Catch` with noise on its rewards."""
    return RewardNoise(Catch(), noise_scale)


def catch_scale(reward_scale: float) -> RewardScale:
    """`Catch` with its rewards rescaled."""
    return RewardScale(Catch(), reward_scale)


def mnist_noise(
    noise_scale: float, fraction: float = 1.0, signed_pixels: bool = False, folder: str | None = None
) -> RewardNoise:
    """`MNISTBandit` with noise on its rewards."""
    return RewardNoise(MNISTBandit(fraction, signed_pixels, folder), noise_scale)


def mnist_scale(
    reward_scale: float, fraction: float = 1.0, signed_pixels: bool = False, folder: str | None = None
) -> RewardScale:
    """`MNISTBandit` with its rewards rescaled."""
    return RewardScale(MNISTBandit(fraction, signed_pixels, folder), reward_scale)


def mountain_car_noise(noise_scale: float) -> RewardNoise:
    """`MountainCar` with noise on its rewards."""
    return RewardNoise(MountainCar(), noise_scale)


def mountain_car_scale(reward_scale: float) -> RewardScale:
    """`MountainCar` with its rewards rescaled."""
    return RewardScale(MountainCar(), reward_scale)
