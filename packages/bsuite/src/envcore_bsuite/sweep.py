"""The settings of bsuite's 23 experiments: 468 ids such as `"deep_sea/11"`. Imports no JAX.

Original: bsuite 0.3.6 `sweep.py` and `experiments/*/sweep.py`, Osband et al. (2020), "Behaviour suite for reinforcement
learning". Names, keys and values are the same as in bsuite. A setting's `seed` is always None or missing, because
randomness comes from keys here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

Setting = Mapping[str, object]


class Experiment(NamedTuple):
    """One experiment of bsuite.

    Attributes:
      name: the first part of its ids, for example "deep_sea".
      settings: keyword arguments of its environment, one mapping per id.
      episodes: number of episodes in each setting.
      tags: what it tests. The first tag is its type.
    """

    name: str
    settings: tuple[Setting, ...]
    episodes: int
    tags: tuple[str, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Its ids, one per setting."""
        return tuple(f"{self.name}/{number}" for number in range(len(self.settings)))


def log_path(folder: Path, bsuite_id: str) -> Path:
    """Returns the log file of an id such as "deep_sea/11" in an agent's folder, named as in bsuite."""
    return folder / f"bsuite_id_-_{bsuite_id.replace('/', '-')}.csv"


_SEEDS = 20
_NOISE_SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)
_REWARD_SCALES = (0.001, 0.03, 1.0, 30.0, 1000.0)
_LOG_SPACED = (*range(1, 11), 12, 14, 17, 20, 25, *range(30, 101, 10))
_SIZES = range(10, 51, 2)


def _settings(name: str, values: Iterable[object], **others: object) -> tuple[Setting, ...]:
    return tuple(MappingProxyType({name: value, **others}) for value in values)


def _rescaled(name: str, scales: Iterable[float], has_mapping: bool) -> tuple[Setting, ...]:
    """Returns four runs for each scale of the noise or the reward."""
    mappings = [{"mapping_seed": number} if has_mapping else {} for number in range(4)]
    return tuple(MappingProxyType({name: scale, "seed": None, **each}) for scale in scales for each in mappings)


def _with_noise_and_scale(name: str, settings: tuple[Setting, ...], episodes: int, *tags: str) -> list[Experiment]:
    """Yields one of the five basic experiments, and its variants with noisy and with rescaled rewards."""
    has_mapping, others = "mapping_seed" in settings[0], tuple(tag for tag in tags if tag != "basic")
    variants = (("noise", "noise_scale", _NOISE_SCALES), ("scale", "reward_scale", _REWARD_SCALES))
    if name == "cartpole":
        others = ("generalization",)  # its variants don't count as credit assignment
    return [Experiment(name, settings, episodes, tags)] + [
        Experiment(f"{name}_{kind}", _rescaled(option, scales, has_mapping), episodes, (kind, *others))
        for kind, option, scales in variants
    ]


_SWINGUP = tuple(
    MappingProxyType({"height_threshold": n / 20, "x_reward_threshold": 1 - n / 20}) for n in range(_SEEDS)
)

_SEEDED, _DEEP_SEA = _settings("seed", [None] * _SEEDS), _settings("size", _SIZES, mapping_seed=42)
_UMBRELLA_LENGTHS = _settings("chain_length", _LOG_SPACED, n_distractor=20)
_WITHOUT_SIGNAL = ("credit_assignment", "noise")

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        each.name: each
        for each in (
            *_with_noise_and_scale("bandit", _settings("mapping_seed", range(_SEEDS)), 10_000, "basic"),
            *_with_noise_and_scale("cartpole", _SEEDED, 1_000, "basic", "credit_assignment", "generalization"),
            Experiment("cartpole_swingup", _SWINGUP, 1_000, ("exploration", "generalization")),
            *_with_noise_and_scale("catch", _SEEDED, 10_000, "basic", "credit_assignment"),
            Experiment("deep_sea", _DEEP_SEA, 10_000, ("exploration",)),
            Experiment("deep_sea_stochastic", _DEEP_SEA, 10_000, ("exploration", "noise")),
            Experiment("discounting_chain", _settings("mapping_seed", range(_SEEDS)), 1_000, ("credit_assignment",)),
            Experiment("memory_len", _settings("memory_length", _LOG_SPACED), 10_000, ("memory",)),
            Experiment("memory_size", _settings("num_bits", [n for n in _LOG_SPACED if n <= 40]), 10_000, ("memory",)),
            *_with_noise_and_scale("mnist", _SEEDED, 10_000, "basic", "generalization"),
            *_with_noise_and_scale("mountain_car", _SEEDED, 1_000, "basic", "generalization"),
            Experiment("umbrella_distract", _settings("n_distractor", _LOG_SPACED), 10_000, _WITHOUT_SIGNAL),
            Experiment("umbrella_length", _UMBRELLA_LENGTHS, 10_000, _WITHOUT_SIGNAL),
        )
    }
)
"""All experiments by name, in bsuite's order."""

SWEEP: tuple[str, ...] = tuple(bsuite_id for each in EXPERIMENTS.values() for bsuite_id in each.ids)
"""All 468 ids."""

SETTINGS: Mapping[str, Setting] = MappingProxyType(
    dict(zip(SWEEP, (setting for each in EXPERIMENTS.values() for setting in each.settings), strict=True))
)
"""Keyword arguments of the environment, by id."""

EPISODES: Mapping[str, int] = MappingProxyType(
    {bsuite_id: each.episodes for each in EXPERIMENTS.values() for bsuite_id in each.ids}
)
"""Number of episodes that an agent plays, by id."""

TAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        tag: tuple(bsuite_id for each in EXPERIMENTS.values() if tag in each.tags for bsuite_id in each.ids)
        for tag in dict.fromkeys(tag for each in EXPERIMENTS.values() for tag in each.tags)
    }
)
"""Ids that count for a tag, by tag."""

TESTING: tuple[str, ...] = tuple(
    each.ids[0] for each in EXPERIMENTS.values() if not each.name.endswith(("_noise", "_scale"))
)
"""One id of each experiment without noisy or rescaled rewards, for quick tests of an agent."""
