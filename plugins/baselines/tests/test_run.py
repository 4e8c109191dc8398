"""What a run is: how its file comes back, and which runs share a compiled program."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import envcore
import jax
import numpy as np
import pytest
from envcore.errors import FileError
from envcore.wrappers import FlattenObservation, RandomizeParams
from envcore_baselines.errors import ConfigError
from envcore_baselines.run import Run
from envcore_runs.folder import RUN as RUN_JSON
from toy import Counter

RUN = Run("ppo", "Counter-v0", {"goal": 3}, {"bonus": 0.5}, {"num_envs": 4, "hidden": (8,)}, 7, 2)


def saved(run: Run, folder: Path, **changes: Any) -> Path:
    (folder / RUN_JSON).write_text(json.dumps({**dataclasses.asdict(run), **changes}))
    return folder


def test_tuples_and_arrays_come_back(tmp_path: Path) -> None:
    run = dataclasses.replace(RUN, options={"rewards": ((1.0, 2.0), 3.0)}, params={"bonus": [0.5, 1.0]}, config={})
    assert Run.load(saved(run, tmp_path)) == run


def test_a_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"run\.json is damaged: Expected .* - at `\$\.num_seeds`"):
        Run.load(saved(RUN, tmp_path, num_seeds="two"))


@pytest.mark.parametrize("about", [{"env_id": "Counter-v0"}, {"algorithm": "ppo", "env_ids": ["Counter-v0"]}])
def test_the_folder_of_a_rollout_or_a_sweep(about: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / RUN_JSON).write_text(json.dumps(about))
    with pytest.raises(FileError, match="holds another run, not a training"):
        Run.load(tmp_path)


def test_a_setting_that_is_gone() -> None:
    with pytest.raises(ConfigError, match=r"run\.json: there is no setting 'klip'"):
        dataclasses.replace(RUN, config={"klip": 1}).learner(Counter(), Counter().default_params)


def test_params_that_are_arrays() -> None:
    lengths = {"link_lengths": [0.25, 0.5]}
    _, params = dataclasses.replace(RUN, env_id="Reacher-misc", options={}, params=lengths).make()
    np.testing.assert_array_equal(params.link_lengths, np.asarray([0.25, 0.5], np.float32))


def test_runs_that_differ_in_their_seeds_share_a_learner() -> None:
    env, params = envcore.make("Catch-bsuite")
    run = dataclasses.replace(RUN, env_id="Catch-bsuite", options={}, params={})
    learner = run.learner(env, params)
    same, again = dataclasses.replace(run, seed=8, num_seeds=3), envcore.make("Catch-bsuite")
    assert same.learner(*again) is learner
    swept = dataclasses.replace(run, sweep={"clip": [0.1, 0.2]})
    assert swept.learner(env, params) is dataclasses.replace(swept, seed=8).learner(*again)
    drawn = [RandomizeParams(env, {"max_steps_in_episode": (5, 9)}) for _ in range(2)]
    assert run.learner(drawn[0], params) is run.learner(drawn[1], params)
    others = [
        run.learner(env, params.replace(max_steps_in_episode=7)),
        run.learner(*envcore.make("Catch-bsuite", rows=5)),
        run.learner(FlattenObservation(env), params),
        run.learner(drawn[0], params),
        dataclasses.replace(run, config={**run.config, "clip": 0.3}).learner(env, params),
        dataclasses.replace(run, algorithm="pqn").learner(env, params),
        swept.learner(env, params),
    ]
    assert len({id(each) for each in (learner, *others)}) == 8


def test_groups_and_names_of_agents() -> None:
    sweep: Any = {"clip": [0.1, 0.2], "discount": [0.9999999, 1.0]}
    run = dataclasses.replace(RUN, sweep=sweep, num_seeds=1)
    assert run.groups == [f"clip={clip} discount={discount}" for clip in (0.1, 0.2) for discount in ("0.9999999", "1")]
    assert run.names[0] == "clip=0.1 discount=0.9999999 seed_7"
    assert run.of_agent(2) == dataclasses.replace(
        run, sweep={}, config={**run.config, "clip": 0.2, "discount": 0.9999999}
    )
    assert (RUN.groups, RUN.names) == ([""], ["seed_7", "seed_8"])
    assert jax.random.key_data(run.keys).tolist() == 4 * [[0, 7]]
    np.testing.assert_array_equal(jax.random.key_data(RUN.keys), [[0, 7], [0, 8]])
