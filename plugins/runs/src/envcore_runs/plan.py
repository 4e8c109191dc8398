"""What a rollout is asked to do, checked before anything is compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np
from envcore import checks
from envcore.engine.arguments import checked_params, device_params
from envcore.environment import Environment, EnvParams
from envcore.errors import InvalidArgumentError
from envcore.random import key_of
from envcore.rollout import Policy
from envcore.wrappers import Batched
from jax.sharding import NamedSharding

from envcore_runs import distributed, saved_rollout, trajectories
from envcore_runs.choice import choose, with_params
from envcore_runs.description import described, fields_of, name_of
from envcore_runs.policies import Player, batch_policy, find_player
from envcore_runs.rollout_start import check_memory

_MOST_STEPS = 2**53  # of all environments; a hundred days at a thousand million a second


@dataclasses.dataclass(frozen=True)
class Plan:
    """A rollout that can begin.

    Attributes:
      player: what chooses the actions, and its environment.
      params: the environment's params.
      num_envs: number of environments that step in parallel.
      steps: of each environment; None for as many as its episodes take.
      episodes: of each environment, which the statistics count.
      is_patient: whether to wait for the episodes of every environment, however long they take.
      key: the random key of the whole rollout.
      sharding: the devices.
      folder: in which it is saved; None for none.
      chunk: steps between two of its statistics, where they decide its results; None where the pace may choose.
      record: the parts of each step that are recorded.
      about: what decides its results, as JSON can hold it; empty if there is no folder.
    """

    player: Player
    params: Any
    num_envs: int
    steps: int | None
    episodes: int
    is_patient: bool
    key: jax.Array
    sharding: NamedSharding
    folder: Path | None
    chunk: int | None
    record: tuple[str, ...]
    about: Mapping[str, Any]


def planned(
    env: str | Environment,
    *,
    num_envs: int = 2048,
    steps: int | None = None,
    episodes: int | None = None,
    out: str | Path | None = None,
    record: str | Iterable[str] = (),
    params: Mapping[str, Any] | EnvParams | None = None,
    options: Mapping[str, Any] | None = None,
    policy: str | Policy = "random",
    seed: int = 0,
    devices: int | None = None,
) -> Plan:
    """Checks what `rollout` is given; its arguments and errors are those of `rollout`."""
    num_envs, steps, counted = _checked_counts(num_envs, steps, episodes)
    if out is not None and steps is None and episodes is None:
        raise InvalidArgumentError("out needs steps or episodes: how long the rollout is.")
    if record and (out is None or steps is None):
        raise InvalidArgumentError("record needs out, the folder for the trajectories, and steps, their length.")
    key = key_of(seed)
    env_id, made, made_params = _made(env, options, params)
    player = find_player(policy, env_id, made, made_params)
    batch_policy(player, Batched(player.env, 1), made_params)  # which has no memory
    sharding = distributed.sharding("num_envs", num_envs, devices)
    names = trajectories.checked_names(record, player.env, made_params)
    bytes_each = trajectories.step_bytes(player.env, made_params, names) if names else 0
    folder = None if out is None else Path(out)
    chunk, about = None, dict[str, Any]()
    if folder is not None:
        chunk = saved_rollout.chunk_steps(num_envs, trajectories.steps_per_shard(num_envs, bytes_each))
        about = _described(env, options, params)
        about |= {"policy": policy if isinstance(policy, str) else name_of(policy)}
        about |= {"num_envs": num_envs, "steps": steps, "episodes": counted, "seed": int(seed)}
    check_memory(player.env, made_params, num_envs, sharding, bytes_each * (chunk or 0))
    if folder is not None:
        trajectories.check_disk(folder, (steps or 0) * num_envs * bytes_each)
    is_patient = episodes is not None
    return Plan(player, made_params, num_envs, steps, counted, is_patient, key, sharding, folder, chunk, names, about)


def _checked_counts(num_envs: Any, steps: Any, episodes: Any) -> tuple[int, int | None, int]:
    """The three as Python integers; of episodes 1 by default."""
    for name, value in (("num_envs", num_envs), ("steps", steps), ("episodes", episodes)):
        if value is not None or name == "num_envs":
            at_most = np.iinfo(np.int32).max if name == "episodes" else None
            checks.positive_integer(name, value, InvalidArgumentError, at_most=at_most)
    if int(num_envs) * int(steps or 0) > _MOST_STEPS:
        raise InvalidArgumentError(
            f"num_envs {num_envs:,} times steps {steps:,} is more than 2**53 steps, which nobody can count."
        )
    return int(num_envs), None if steps is None else int(steps), 1 if episodes is None else int(episodes)


def _made(
    env: str | Environment, options: Mapping[str, Any] | None, params: Mapping[str, Any] | EnvParams | None
) -> tuple[str, Environment, Any]:
    """The id, by which policies are found, the environment and its params."""
    if isinstance(env, str):
        choice = choose(env, options)
        env_id, title = choice.found.spec.id, choice.title
        made, defaults = choice.make()
    elif options:
        raise InvalidArgumentError("options are those of an id: make the environment with them.")
    else:
        env_id = title = env.name
        made, defaults = env, device_params(env)
    if isinstance(params, Mapping):
        return env_id, made, with_params(title, made, defaults, params)
    return env_id, made, defaults if params is None else checked_params(made, params)


def _described(
    env: str | Environment, options: Mapping[str, Any] | None, params: Mapping[str, Any] | EnvParams | None
) -> dict[str, Any]:
    if isinstance(env, str):
        about = {"env_id": env, "options": described(options or {})}
    else:
        about = {"env_id": name_of(type(env)), "options": fields_of(env)}
    is_whole = params is not None and not isinstance(params, Mapping)
    return {**about, "params": fields_of(params) if is_whole else described(params or {})}
