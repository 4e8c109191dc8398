"""Announces the suite's environments to envcore. Imports no JAX."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

from envcore_bsuite.sweep import EXPERIMENTS, Experiment

_SOURCE = "bsuite 0.3.6, Osband et al. (2020)"


class _Task(NamedTuple):
    """An environment: its entry point, and its options for this id."""

    entry_point: str
    summary: str
    kwargs: Mapping[str, object] = MappingProxyType({})


_ENVIRONMENTS = {
    "CartPole-bsuite": _Task("cartpole:CartPole", "Keep a pole upright on a cart; bsuite's own version."),
    "CartPoleSwingup-bsuite": _Task(
        "cartpole_swingup:CartPoleSwingup", "Swing a hanging pole up and hold it, at a cost for every push."
    ),
    "Catch-bsuite": _Task("catch:Catch", "Catch a falling ball with a paddle."),
    "DeepSea-bsuite": _Task("deep_sea:DeepSea", "Dive to the bottom right corner, at a cost for each step right."),
    "DeepSeaStochastic-bsuite": _Task(
        "deep_sea:DeepSea", "The deep sea with wind and noisy rewards.", {"deterministic": False}
    ),
    "DiscountingChain-bsuite": _Task(
        "discounting_chain:DiscountingChain", "Choose the chain whose reward is worth waiting for."
    ),
    "MemoryChain-bsuite": _Task("memory_chain:MemoryChain", "Repeat a bit that was shown at the beginning."),
    "MNISTBandit-bsuite": _Task("mnist:MNISTBandit", "Name the digit in a picture."),
    "MountainCar-bsuite": _Task(
        "mountain_car:MountainCar", "Drive an underpowered car up a hill; bsuite's own version."
    ),
    "SimpleBandit-bsuite": _Task("bandit:SimpleBandit", "Find the best of eleven arms."),
    "UmbrellaChain-bsuite": _Task(
        "umbrella_chain:UmbrellaChain", "Take an umbrella at the start if it will rain at the end."
    ),
}

_EXPERIMENTS = {
    "bandit": _Task("bandit:SimpleBandit", "Eleven arms in 20 orders."),
    "bandit_noise": _Task("experiments:bandit_noise", "Eleven arms with noisy rewards."),
    "bandit_scale": _Task("experiments:bandit_scale", "Eleven arms with rescaled rewards."),
    "cartpole": _Task("cartpole:CartPole", "A pole on a cart, 20 times."),
    "cartpole_noise": _Task("experiments:cartpole_noise", "A pole on a cart with noisy rewards."),
    "cartpole_scale": _Task("experiments:cartpole_scale", "A pole on a cart with rescaled rewards."),
    "cartpole_swingup": _Task(
        "cartpole_swingup:CartPoleSwingup", "A hanging pole, to be held higher and closer to the center."
    ),
    "catch": _Task("catch:Catch", "A falling ball, 20 times."),
    "catch_noise": _Task("experiments:catch_noise", "A falling ball with noisy rewards."),
    "catch_scale": _Task("experiments:catch_scale", "A falling ball with rescaled rewards."),
    "deep_sea": _Task("deep_sea:DeepSea", "Deep seas from 10 to 50 rows."),
    "deep_sea_stochastic": _Task(
        "deep_sea:DeepSea", "Deep seas with wind, from 10 to 50 rows.", {"deterministic": False}
    ),
    "discounting_chain": _Task("discounting_chain:DiscountingChain", "Chains of rewards, with different best ones."),
    "memory_len": _Task("memory_chain:MemoryChain", "One bit to remember for 1 to 100 steps.", {"num_bits": 1}),
    "memory_size": _Task("memory_chain:MemoryChain", "1 to 40 bits to remember for 2 steps.", {"memory_length": 2}),
    "mnist": _Task("mnist:MNISTBandit", "Digits to name, 20 times."),
    "mnist_noise": _Task("experiments:mnist_noise", "Digits to name with noisy rewards."),
    "mnist_scale": _Task("experiments:mnist_scale", "Digits to name with rescaled rewards."),
    "mountain_car": _Task("mountain_car:MountainCar", "A car in a valley, 20 times."),
    "mountain_car_noise": _Task("experiments:mountain_car_noise", "A car in a valley with noisy rewards."),
    "mountain_car_scale": _Task("experiments:mountain_car_scale", "A car in a valley with rescaled rewards."),
    "umbrella_distract": _Task(
        "umbrella_chain:UmbrellaChain", "Umbrellas among 1 to 100 random bits.", {"chain_length": 20}
    ),
    "umbrella_length": _Task("umbrella_chain:UmbrellaChain", "Umbrellas for chains of 1 to 100 steps."),
}


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """The suite's environments, and the 468 settings of bsuite's experiments in 23 families."""
    specs = [_spec(env_id, task, task.kwargs) for env_id, task in _ENVIRONMENTS.items()]
    return specs + [spec for each in EXPERIMENTS.values() for spec in _settings(each)]


def _settings(experiment: Experiment) -> Iterator[EnvSpec]:
    task = _EXPERIMENTS[experiment.name]
    for bsuite_id, setting in zip(experiment.ids, experiment.settings, strict=True):
        options = {**task.kwargs, **{name: value for name, value in setting.items() if name != "seed"}}
        yield _spec(f"bsuite/{bsuite_id}", task, options, f"bsuite/{experiment.name}")


def _spec(env_id: str, task: _Task, kwargs: Mapping[str, object], family: str = "") -> EnvSpec:
    return EnvSpec(env_id, f"envcore_bsuite.{task.entry_point}", kwargs, task.summary, _SOURCE, family)
