"""Announces the suite's environments to envcore. Imports no JAX."""

from collections.abc import Iterator

from envcore.plugins import hookimpl
from envcore.specs import EnvSpec

from envcore_bsuite.sweep import EXPERIMENTS, Experiment

_ENVIRONMENTS = {
    "cartpole:CartPole": "Keep a pole upright on a cart (bsuite's own version).",
    "cartpole_swingup:CartPoleSwingup": "Swing a hanging pole up and hold it, at a cost for every push.",
    "catch:Catch": "Catch a falling ball with a paddle.",
    "deep_sea:DeepSea": "Dive to the bottom right corner, at a cost for each step right.",
    "discounting_chain:DiscountingChain": "Choose the chain whose reward is worth waiting for.",
    "memory_chain:MemoryChain": "Repeat a bit that was shown at the beginning.",
    "mnist:MNISTBandit": "Name the digit in a picture.",
    "mountain_car:MountainCar": "Drive an underpowered car up a hill (bsuite's own version).",
    "bandit:SimpleBandit": "Find the best of eleven arms.",
    "umbrella_chain:UmbrellaChain": "Take an umbrella at the start if it will rain at the end.",
}
"""Summaries by entry point."""

_EXPERIMENTS = {
    "bandit": ("bandit:SimpleBandit", "Eleven arms"),
    "cartpole": ("cartpole:CartPole", "A pole on a cart"),
    "cartpole_swingup": ("cartpole_swingup:CartPoleSwingup", "A hanging pole, to be held higher and nearer the center"),
    "catch": ("catch:Catch", "A falling ball"),
    "deep_sea": ("deep_sea:DeepSea", "Deep seas from 10 to 50 rows"),
    "deep_sea_stochastic": ("deep_sea:DeepSea", "Deep seas with wind, from 10 to 50 rows"),
    "discounting_chain": ("discounting_chain:DiscountingChain", "Chains of rewards, with different best ones"),
    "memory_len": ("memory_chain:MemoryChain", "One bit to remember for 1 to 100 steps"),
    "memory_size": ("memory_chain:MemoryChain", "1 to 40 bits to remember for 2 steps"),
    "mnist": ("mnist:MNISTBandit", "Digits to name"),
    "mountain_car": ("mountain_car:MountainCar", "A car in a valley"),
    "umbrella_distract": ("umbrella_chain:UmbrellaChain", "Umbrellas among 1 to 100 random bits"),
    "umbrella_length": ("umbrella_chain:UmbrellaChain", "Umbrellas for chains of 1 to 100 steps"),
}
"""Entry points and summaries, without the variants."""

_VARIANTS = {"_noise": " with noisy rewards", "_scale": " with rescaled rewards"}

_OPTIONS = {
    "deep_sea_stochastic": {"deterministic": False},
    "memory_len": {"num_bits": 1},
    "memory_size": {"memory_length": 2},
    "umbrella_distract": {"chain_length": 20},
}
"""Options that all settings of an experiment share."""


@hookimpl
def envcore_env_specs() -> list[EnvSpec]:
    """Returns the suite's environments, and the 468 settings of bsuite's experiments in 23 families."""
    specs = [_spec(f"{entry.partition(':')[2]}-bsuite", entry, text, {}) for entry, text in _ENVIRONMENTS.items()]
    stochastic = "The deep sea with wind and noisy rewards."
    specs.append(_spec("DeepSeaStochastic-bsuite", "deep_sea:DeepSea", stochastic, {"deterministic": False}))
    return specs + [spec for each in EXPERIMENTS.values() for spec in _settings(each)]


def _settings(experiment: Experiment) -> Iterator[EnvSpec]:
    name, variant = experiment.name, experiment.name[-6:]
    entry, summary = _EXPERIMENTS[name.removesuffix(variant) if variant in _VARIANTS else name]
    if variant in _VARIANTS:
        entry = f"experiments:{name}"
    for bsuite_id, setting in zip(experiment.ids, experiment.settings, strict=True):
        options = _OPTIONS.get(name, {}) | {option: value for option, value in setting.items() if option != "seed"}
        yield _spec(f"bsuite/{bsuite_id}", entry, f"{summary}{_VARIANTS.get(variant, '')}.", options, f"bsuite/{name}")


def _spec(env_id: str, entry: str, summary: str, options: dict[str, object], family: str = "") -> EnvSpec:
    source = "bsuite 0.3.6, Osband et al. (2020)"
    return EnvSpec(env_id, f"envcore_bsuite.{entry}", options, summary, source, family)
