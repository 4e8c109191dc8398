"""Runs in folders: their claim, and that a run that was interrupted ends like one that was not, bit for bit."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import FileError
from envcore.wrappers import FlattenObservation, RandomizeParams
from envcore_baselines import training
from envcore_baselines.errors import ConfigError
from envcore_baselines.ppo import PPO, PPOConfig
from envcore_baselines.training import CHECKPOINT, CURVE_CSV, Run, Training
from envcore_runs import checkpoint
from envcore_runs.folder import RUN as RUN_JSON
from envcore_runs.folder import claimed
from toy import Counter, Spring

RUN = Run("ppo", "Counter-v0", {"goal": 3}, {"bonus": 0.5}, {"num_envs": 4, "hidden": (8,)}, 7, 2)
CONFIG = PPOConfig(total_steps=9 * 32, num_envs=4, rollout_steps=8, epochs=1, minibatches=2, hidden=(4,))


@pytest.fixture(autouse=True)
def three_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve has three points; checkpoints are written when a test says so, and at the end."""
    monkeypatch.setattr(training, "_POINTS", 3)
    monkeypatch.setattr(training, "_SECONDS", 1e9)


@pytest.fixture(scope="module")
def learner() -> PPO:
    """9 updates."""
    return PPO(Counter(), Counter().default_params, CONFIG)


def finish(training: Training) -> Training:
    while not training.is_finished:
        training.advance()
    return training


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def claim(run: Run, folder: Path) -> None:
    with claimed(folder, dataclasses.asdict(run)):
        pass


class TestRun:
    def test_a_folder_is_claimed_once_and_found_again(self, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "run"
        claim(RUN, folder)
        claim(RUN, folder)
        assert Run.load(folder) == dataclasses.replace(RUN, config={"num_envs": 4, "hidden": [8]})

    def test_a_folder_with_other_files(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("years of work")
        with pytest.raises(FileError, match="holds other files"):
            claim(RUN, tmp_path)
        assert files(tmp_path) == {"thesis.tex": b"years of work"}

    def test_a_file_in_place_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(FileError, match="is not a folder"):
            claim(RUN, tmp_path / "file")
        with pytest.raises(FileError, match="cannot create"):
            claim(RUN, tmp_path / "file" / "inside")

    def test_a_folder_without_a_run(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match="holds no run"):
            Run.load(tmp_path)
        (tmp_path / RUN_JSON).write_text('{"algorithm": "ppo"}')
        with pytest.raises(FileError, match="is damaged"):
            Run.load(tmp_path)

    @pytest.mark.parametrize(("name", "value"), [("num_seeds", 0), ("seed", True), ("options", None)])
    def test_a_damaged_run(self, tmp_path: Path, name: str, value: Any) -> None:
        found = {**dataclasses.asdict(RUN), name: value}
        (tmp_path / RUN_JSON).write_text(json.dumps(found))
        with pytest.raises(FileError, match=rf"run\.json is damaged: Expected .* - at `\$\.{name}`"):
            Run.load(tmp_path)

    def test_tuples_and_arrays_come_back(self, tmp_path: Path) -> None:
        run = dataclasses.replace(RUN, options={"rewards": ((1.0, 2.0), 3.0)}, params={"bonus": [0.5, 1.0]})
        claim(run, tmp_path)
        assert Run.load(tmp_path).options == run.options

    def test_params_that_are_arrays(self) -> None:
        lengths = {"link_lengths": [0.25, 0.5]}
        _, params = dataclasses.replace(RUN, env_id="Reacher-misc", options={}, params=lengths).make()
        np.testing.assert_array_equal(params.link_lengths, np.asarray([0.25, 0.5], np.float32))

    def test_runs_that_differ_in_their_seeds_share_a_learner(self) -> None:
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

    def test_a_setting_that_is_gone(self) -> None:
        with pytest.raises(ConfigError, match=r"run\.json: there is no setting 'klip'"):
            dataclasses.replace(RUN, config={"klip": 1}).learner(Counter(), Counter().default_params)


class TestTraining:
    @pytest.fixture
    def whole(self, learner: PPO, tmp_path: Path) -> Path:
        """The folder of a run without an interruption."""
        (tmp_path / "whole").mkdir()
        finish(Training(learner, RUN, tmp_path / "whole"))
        return tmp_path / "whole"

    @pytest.mark.slow
    def test_the_curve_covers_all_updates(self, learner: PPO, whole: Path) -> None:
        found = Training(learner, RUN, whole)
        assert found.is_finished
        assert found.curve.steps == [96, 192, 288]
        assert (whole / CURVE_CSV).read_text() == found.curve.to_csv(RUN.names)
        assert set(files(whole)) == {CHECKPOINT, CURVE_CSV}

    @pytest.mark.parametrize("points", [1, 2])
    def test_an_interrupted_run_ends_like_a_whole_one(
        self, learner: PPO, whole: Path, tmp_path: Path, points: int
    ) -> None:
        folder = tmp_path / "interrupted"
        folder.mkdir()
        first = Training(learner, RUN, folder)
        for _ in range(points):
            first.advance()
        first.save()
        if points == 1:
            first.advance()  # lost
        again = Training(learner, RUN, folder)
        assert len(again.curve) == points
        finish(again)
        assert files(folder) == files(whole)

    def test_a_full_disk_between_curve_and_checkpoint_loses_what_followed_the_last_one(
        self, learner: PPO, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(path: Path, *args: Any) -> None:
            raise FileError(f"cannot write {path}: No space left on device.")

        folder = tmp_path / "full"
        folder.mkdir()
        first = Training(learner, RUN, folder)
        first.advance()
        first.save()
        first.advance()
        with monkeypatch.context() as patch:
            patch.setattr(checkpoint, "save", full)
            with pytest.raises(FileError, match="No space left"):
                first.save()
        again = Training(learner, RUN, folder)
        assert len(again.curve) == 1
        finish(again)
        assert files(folder) == files(whole)

    def test_each_seed_learns_as_it_would_in_other_company(self, learner: PPO, whole: Path, tmp_path: Path) -> None:
        """Up to rounding: a batch of another size is another program."""
        folder = tmp_path / "other"
        folder.mkdir()
        other = finish(Training(learner, dataclasses.replace(RUN, seed=RUN.seed + 1), folder))
        found = Training(learner, RUN, whole)
        mine, theirs = (each.curve.array() for each in (found, other))
        np.testing.assert_allclose(theirs[:, 0], mine[:, 1], rtol=1e-4)
        weights = [jax.tree.leaves(each.agents.network) for each in (found, other)]
        for mine, theirs in zip(*weights, strict=True):
            np.testing.assert_allclose(mine[1], theirs[0], rtol=1e-3, atol=1e-4)
            assert not np.allclose(mine[0], mine[1]) or not np.any(mine)

    def test_the_best_point_is_kept(self, learner: PPO, tmp_path: Path) -> None:
        """The best by evaluation is the agent that was there at that point, also after an interruption."""

        def evaluate(agents: Any, keys: jax.Array) -> jax.Array:
            seen = jnp.abs(agents.network["params"]["Dense_0"]["bias"]).sum(1)  # grows: so one return falls
            returns = jnp.array([-1.0, 1.0]) * seen + 1e-9 * jax.vmap(jax.random.uniform)(keys)
            return returns[:, None] + jnp.array([0.0, 2.0])

        first = Training(learner, RUN, tmp_path, evaluate=evaluate)
        first.advance()
        best = first.best_agents
        first.save()
        again = finish(Training(learner, RUN, tmp_path, evaluate=evaluate))
        greedy = again.curve.array("greedy_return")
        assert greedy.shape == (3, 2)
        assert greedy.argmax(0).tolist() == [0, 2]
        leaves = list(zip(*map(jax.tree.leaves, (again.best_agents, best, again.agents)), strict=True))
        for mine, at_first, at_last in leaves:
            np.testing.assert_array_equal(mine, np.stack([at_first[0], at_last[1]]))
        assert any((mine[0] != at_last[0]).any() for mine, _, at_last in leaves)

    def test_without_evaluation_the_best_point_is_that_of_the_training(self, learner: PPO, tmp_path: Path) -> None:
        training, agents = Training(learner, RUN, None), []
        while not training.is_finished:
            training.advance()
            agents.append(training.agents)
        best = np.nanargmax(training.curve.array(), axis=0)
        for number, point in enumerate(best):
            for mine, theirs in zip(*map(jax.tree.leaves, (training.best_agents, agents[point])), strict=True):
                np.testing.assert_array_equal(mine[number], theirs[number])

    def test_a_checkpoint_of_another_learner(self, whole: Path) -> None:
        other = PPO(Spring(), Spring().default_params, CONFIG)
        with pytest.raises(FileError, match="does not fit"):
            Training(other, RUN, whole)
