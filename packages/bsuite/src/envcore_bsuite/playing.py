"""Plays lanes of bsuite's runner to their ends. It touches no file, so it can run on another machine."""

from __future__ import annotations

import dataclasses
import operator
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from envcore.random import key_of

from envcore_bsuite import checkpoints, csv_log
from envcore_bsuite.agents import MakeAgent
from envcore_bsuite.csv_log import Row
from envcore_bsuite.programs import Lane, Program, group
from envcore_bsuite.sweep import EPISODES

_CHUNK_SECONDS = 0.5
_MAX_CHUNK = 2**20
_WORTH_COMPILING = 100_000  # steps; with fewer, a smaller program takes longer to compile than it saves


class Update(NamedTuple):
    """What is new.

    Attributes:
      rows: all rows so far of each lane whose log has grown.
      episodes: how many episodes each lane has played that count.
    """

    rows: dict[Lane, list[Row]]
    episodes: dict[Lane, int]


@dataclasses.dataclass(frozen=True)
class Play:
    """Plays lanes that fit into one program.

    Attributes:
      make_agent: makes the agent for an environment.
      seed: of all randomness.
      options: more options of environments, by experiment.
      lanes: the lanes.
      path: of the file with the checkpoint, for errors.
    """

    make_agent: MakeAgent
    seed: int
    options: Mapping[str, Mapping[str, object]]
    lanes: tuple[Lane, ...]
    path: Path

    def __call__(self, state: bytes | None) -> Iterator[tuple[Update, Callable[[], bytes]]]:
        """Continues from a checkpoint, or begins. When half of the lanes have finished, a smaller program continues.

        Raises:
          RunError: the agent is invalid, or the checkpoint is damaged or another agent's.
        """
        saved = None if state is None else checkpoints.load(state, self.path)
        members, *others = group(self.lanes if saved is None else saved.lanes, self.options)
        if others:
            raise checkpoints.file_of(self.path).damaged("no program plays all its lanes")
        program = Program(members, self.make_agent)
        progress = program.start(key_of(self.seed))
        rows: list[list[Row]] = [[] for _ in members.lanes]
        schedule = (*csv_log.logged_episodes(members.num_episodes), 0)
        if saved is not None:
            progress, rows = saved.restore(progress), saved.rows
            if not _fits(rows, np.asarray(progress.episode), schedule, program.columns):
                raise checkpoints.file_of(self.path).damaged("its rows are not those of its episodes")
        episodes = {lane: EPISODES[lane.bsuite_id] for lane in self.lanes}
        chunk = 16
        while True:
            awaited = np.array([schedule[len(lane_rows)] for lane_rows in rows], np.int32)
            if not awaited.any():
                return
            unfinished = np.flatnonzero(awaited)
            if 2 * len(unfinished) <= len(awaited) and progress.steps[0] >= _WORTH_COMPILING:
                (members,) = group([members.lanes[number] for number in unfinished], self.options)
                program = Program(members, self.make_agent)
                progress = jax.tree.map(operator.itemgetter(unfinished), progress)
                rows, awaited = [rows[number] for number in unfinished], awaited[unfinished]
            start = time.monotonic()
            progress, ended = program.advance(progress, awaited, chunk)
            counts = dataclasses.replace(progress, key=None, env_state=None, agent_state=None)
            host, ended = jax.device_get((counts, ended))
            grown = np.flatnonzero(ended.done & (host.episode == awaited)).tolist()
            for number in grown:
                rows[number].append(program.row(host, ended, number))
            played = np.minimum(host.episode, members.num_episodes).tolist()
            episodes |= dict(zip(members.lanes, played, strict=True))
            seconds = time.monotonic() - start
            if seconds < _CHUNK_SECONDS / 2:
                chunk = min(chunk * 2, _MAX_CHUNK)
            elif seconds > _CHUNK_SECONDS:
                chunk = max(chunk // 2, 1)
            update = Update({members.lanes[number]: list(rows[number]) for number in grown}, dict(episodes))
            now = members.lanes, rows, progress
            yield update, lambda now=now: checkpoints.content(*now)


def _fits(rows: list[list[Row]], episode: np.ndarray, schedule: Sequence[int], columns: tuple[str, ...]) -> bool:
    """Whether each lane, in its current episode, has the rows that it should: else the next one would never come."""
    numbers = [len(lane_rows) for lane_rows in rows]
    last = np.array([schedule[number - 1] if number else 0 for number in numbers])
    awaited = np.array([schedule[number] for number in numbers])
    is_between = (last <= episode) & ((episode < awaited) | (awaited == 0))
    return bool(is_between.all()) and all(tuple(row) == columns for lane_rows in rows for row in lane_rows)
