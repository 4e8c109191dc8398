"""The manifest of recorded trajectories: which files hold which steps of which environments.

A damaged manifest is refused before any file is removed. It has to be of this rollout, its files have to hold each of
the checkpoint's steps of each environment once, and they have to be there, whole.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from envcore.errors import one_line
from safetensors import safe_open

from envcore_runs.records import File, Natural, Positive, shown

MANIFEST = "manifest.json"

_SAFETENSORS = {"bool": "BOOL", "float": "F", "bfloat": "BF", "complex": "C", "int": "I", "uint": "U"}
"""The dtypes of safetensors, by those of numpy: the kind, before the bits."""


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of the trajectories.

    Attributes:
      file: its name.
      first_step, num_steps: which steps it holds.
      first_env, num_envs: of which environments.
    """

    file: str
    first_step: Natural
    num_steps: Positive
    first_env: Natural
    num_envs: Positive

    def __post_init__(self) -> None:
        if self.file != _name(self.first_step, self.first_env):
            raise ValueError(f"has another file, {shown(self.file)}")

    @classmethod
    def of(cls, first_step: int, num_steps: int, first_env: int, num_envs: int) -> Shard:
        """The file of these steps and environments."""
        return cls(_name(first_step, first_env), first_step, num_steps, first_env, num_envs)


@dataclasses.dataclass(frozen=True)
class Array:
    """An array of one step of one environment.

    Attributes:
      dtype: as numpy names it.
      shape: its shape.
    """

    dtype: str
    shape: list[Natural]


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What a manifest says beside what the trajectories are of.

    Attributes:
      steps_recorded: of each environment.
      arrays: what each file holds, by name.
      shards: the files.
    """

    steps_recorded: Natural
    arrays: dict[str, Array]
    shards: list[Shard]

    def __post_init__(self) -> None:
        if len({each.file for each in self.shards}) < len(self.shards):
            raise ValueError("lists a shard twice")

    def content(self, about: Mapping[str, Any]) -> bytes:
        """The content of its file, with what the trajectories are of."""
        return (json.dumps({**about, **dataclasses.asdict(self)}, indent=1) + "\n").encode()


def load(folder: Path, num_steps: int, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> list[Shard]:
    """The files of the first steps, all of which have been found.

    Args:
      folder: of the trajectories.
      num_steps: how many steps of each environment the files have to hold; those of later ones are left out.
      about: what the trajectories are of, which the manifest has to say too; `num_envs` among it.
      arrays: what each file has to hold, by name.

    Raises:
      FileError: the manifest or one of its files is missing or damaged, or of another rollout.
    """
    file = File(folder / MANIFEST)
    found = file.read(dict[str, Any])
    manifest = file.checked({name: value for name, value in found.items() if name not in about}, Manifest)
    for name, value in json.loads(json.dumps(about)).items():
        if name not in found:
            raise file.damaged(f"its {name} is missing")
        if found[name] != value:
            raise file.damaged(f"its {name} is {shown(found[name])}, not {shown(value)}")
    if manifest.arrays != arrays:
        raise file.damaged("its arrays are not those that the steps have")
    shards = [each for each in manifest.shards if each.first_step < num_steps]
    if not _hold_all(shards, num_steps, about["num_envs"]):
        raise file.damaged(f"its shards do not hold the {num_steps:,} steps of the checkpoint, each once")
    for each in shards:
        _check_file(folder / each.file, each, arrays)
    return shards


def _hold_all(shards: Iterable[Shard], num_steps: int, num_envs: int) -> bool:
    """Whether each step of each environment is in one shard, and nothing else is in any.

    Shards that begin with the same step hold the same steps: the processes write them together.
    """
    step, height, env = 0, 0, 0
    for each in sorted(shards, key=lambda each: (each.first_step, each.first_env)):
        if (each.first_step, each.first_env) != (step, env) or (env and each.num_steps != height):
            return False
        height, env = each.num_steps, env + each.num_envs
        if env == num_envs:
            step, env = step + height, 0
    return (step, env) == (num_steps, 0)


def _check_file(path: Path, shard: Shard, arrays: Mapping[str, Array]) -> None:
    """Checks the header of a file of trajectories, and that the file is as long as it says."""
    file = File(path)
    if not path.is_file():
        raise file.error(f"{path} does not exist, but the manifest lists it. {file.advice}")
    try:
        with safe_open(path, "numpy") as found:
            slices = {name: found.get_slice(name) for name in found.keys()}  # noqa: SIM118  # it is no dict
            held = {name: (each.get_dtype(), each.get_shape()) for name, each in slices.items()}
    except Exception as error:  # the library's errors depend on what is damaged
        raise file.damaged(one_line(error)) from error
    expected = {
        name: (_dtype_of(array.dtype), [shard.num_steps, shard.num_envs, *array.shape])
        for name, array in arrays.items()
    }
    if held != expected:
        raise file.damaged("it does not hold the arrays that the manifest lists")


def _dtype_of(name: str) -> str:
    """How safetensors names a dtype of numpy."""
    kind = name.rstrip("0123456789")
    return _SAFETENSORS.get(kind, name) + name[len(kind) :]


def _name(first_step: int, first_env: int) -> str:
    return f"step-{first_step:012}-env-{first_env:08}.safetensors"
