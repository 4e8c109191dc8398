"""Trajectories on disk: recorded steps of a rollout, as safetensors files with a manifest that lists them.

Each file contains the same named arrays for some steps of some environments. Their leading axes are steps and
environments. The names are fields of `envcore.rollout.Transition` and keys of its info. Pytrees have an array for each
leaf, such as `state.time`. Random keys are stored as their words.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import trees
from envcore.environment import Environment
from envcore.errors import FileError, InvalidArgumentError, one_line
from envcore.files import remove_unfinished, replace
from envcore.rollout import Transition, random_policy, run_rollout, start_rollout
from jax.tree_util import keystr, tree_leaves_with_path
from safetensors import safe_open
from safetensors.numpy import save

from envcore_runs import distributed
from envcore_runs.folder import create
from envcore_runs.records import File

TRAJECTORIES, MANIFEST = "trajectories", "manifest.json"

SHARD_BYTES = 64 * 2**20
"""Maximum size of a file."""


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of the trajectories.

    Attributes:
      file: name of the file.
      first_step, num_steps: the steps that it contains.
      first_env, num_envs: the environments that it contains.
    """

    file: str
    first_step: int
    num_steps: int
    first_env: int
    num_envs: int


@dataclasses.dataclass(frozen=True)
class _Manifest:
    """The fields that are read from a manifest. It also describes the rollout and the arrays."""

    shards: list[Shard]
    num_envs: int


class Trajectories:
    """Writes selected values of every step to a folder.

    Args:
      folder: the folder. All processes must see it.
      names: names of the values.
      about: description of the rollout, for the manifest.
      struct: shapes and dtypes of the recorded values of one step of one environment, from `step_struct`.
    """

    def __init__(
        self, folder: Path, names: Sequence[str], about: Mapping[str, Any], struct: Mapping[str, jax.ShapeDtypeStruct]
    ):
        self._folder, self._names, self._about = folder, names, dict(about)
        self._arrays = {name: {"dtype": x.dtype.name, "shape": list(x.shape)} for name, x in struct.items()}
        self._shards: list[Shard] = []

    def resume(self, num_steps: int) -> None:
        """Continues after `num_steps` steps, and removes what was written for later ones.

        Raises:
          FileError: the manifest or a file that it lists is missing or damaged, or the folder cannot be written to.
        """
        if num_steps:
            self._shards = _shards_of(File(self._folder / MANIFEST), num_steps)
        try:
            if distributed.is_first():
                remove_unfinished(self._folder)
                for each in {*self._folder.glob("*.safetensors")} - {self._folder / x.file for x in self._shards}:
                    each.unlink()
        except OSError as error:
            raise FileError(f"cannot write to {self._folder}: {error.strerror or error}.") from error
        distributed.any_says(False)  # all processes wait here before they write

    def chosen(self, step: Transition) -> dict[str, jax.Array]:
        """Selects the arrays to record from a step."""
        return _arrays(step, self._names)

    def write(self, first_step: int, shares: Sequence[Mapping[str, np.ndarray]]) -> None:
        """Writes what this process's devices recorded: arrays (steps, environments, ...).

        Raises:
          FileError: a file cannot be written.
        """
        arrays = {name: np.concatenate([share[name] for share in shares], axis=1) for name in shares[0]}
        num_steps, num_envs = next(iter(arrays.values())).shape[:2]
        for process in range(jax.process_count()):
            first_env = process * num_envs
            name = f"step-{first_step:012}-env-{first_env:08}.safetensors"
            self._shards.append(Shard(name, first_step, num_steps, first_env, num_envs))
            if process == jax.process_index():
                create(self._folder)
                replace(self._folder / name, save(arrays))

    def save(self, num_steps: int) -> None:
        """Writes the manifest, which lists the files of the first `num_steps` steps.

        Raises:
          FileError: it cannot be written.
        """
        shards = [dataclasses.asdict(each) for each in self._shards]
        manifest = {**self._about, "steps_recorded": num_steps, "arrays": self._arrays, "shards": shards}
        replace(self._folder / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())


def checked_names(names: str | Iterable[str], env: Environment, params: Any) -> tuple[str, ...]:
    """Checks the names of values to record, and removes duplicates.

    Args:
      names: the names, or a single string of names separated by commas.
      env: the environment.
      params: its params.

    Raises:
      InvalidArgumentError: a step has no such value.
    """
    if isinstance(names, str):
        names = names.split(",") if names else ()
    given = names if isinstance(names, Iterable) else (names,)
    found = tuple(dict.fromkeys(name.strip() if isinstance(name, str) else name for name in given))
    known = list(_parts(_step_struct(env, params))) if found else []
    for name in found:
        if name not in known:
            raise InvalidArgumentError(f"record must be names among {', '.join(known)}, got {name!r}.")
    return found


def step_struct(env: Environment, params: Any, names: Sequence[str]) -> dict[str, jax.ShapeDtypeStruct]:
    """Returns the shapes and dtypes, by name, of the recorded values of one step of one environment."""
    return jax.eval_shape(functools.partial(_arrays, names=names), _step_struct(env, params))


def _shards_of(file: File, num_steps: int) -> list[Shard]:
    """Returns the files of the first `num_steps` steps, after checking that all are complete."""
    manifest = file.read(_Manifest)
    shards = [each for each in manifest.shards if each.first_step < num_steps]
    if sum(each.num_steps * each.num_envs for each in shards) != num_steps * manifest.num_envs:
        raise file.damaged(f"its shards do not hold the {num_steps:,} steps of the checkpoint")
    for each in shards:
        path = Path(file.path).with_name(each.file)
        try:
            with safe_open(path, "numpy"):  # compares the length of the file with its header
                pass
        except Exception as error:  # the exception depends on what is damaged
            raise File(path).damaged(one_line(error)) from error
    return shards


def _step_struct(env: Environment, params: Any) -> Transition:
    """Returns the shapes and dtypes of one step of one environment."""

    def step(key: jax.Array) -> Transition:
        steps = run_rollout(env, random_policy(env, params), start_rollout(env, key, params), 1, params)[1]
        return jax.tree.map(lambda x: x[0], steps)

    return jax.eval_shape(step, jax.eval_shape(lambda: jax.random.key(0)))


def _parts(step: Transition) -> dict[str, Any]:
    found = {name: getattr(step, name) for name in ("state", "obs", "action", "reward", "next_obs", "done")}
    return found | {name: value for name, value in step.info.items() if name not in found}


def _arrays(step: Transition, names: Sequence[str]) -> dict[str, jax.Array]:
    parts = _parts(step)
    found = {name + keystr(place): leaf for name in names for place, leaf in tree_leaves_with_path(parts[name])}
    return {name: jax.random.key_data(leaf) if trees.is_key(leaf) else leaf for name, leaf in found.items()}
