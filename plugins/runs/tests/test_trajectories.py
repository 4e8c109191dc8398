"""What a rollout records, which anyone can read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import toy
from envcore.errors import FileError, InvalidArgumentError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from envcore_runs.trajectories import checked_names
from rollouts import RECORD, recorded, saved, stops_after

README = Path(__file__).parents[1] / "README.md"

pytestmark = pytest.mark.usefixtures("toys", "chunks_of_16_steps")


@pytest.mark.parametrize(("env_id", "env"), [("Counter-v0", toy.Counter()), ("Deck-v0", toy.Deck())])
def test_what_is_recorded_is_what_run_rollout_returns(tmp_path: Path, env_id: str, env: Any) -> None:
    folder = tmp_path / "run"
    names = ("state", "obs", "action", "reward", "next_obs", "done", "terminated", "truncated", "discount")
    saved(folder, env_id, record=names)
    batch, params = Batched(env, 6), env.default_params
    start = start_rollout(batch, jax.random.key(3), params)
    _, steps = jax.jit(lambda start: run_rollout(batch, random_policy(batch), start, 100, params))(start)
    found = recorded(folder)
    expected = {name: getattr(steps, name) for name in ("state", "obs", "action", "reward", "next_obs", "done")}
    expected |= {name: steps.info[name] for name in ("terminated", "truncated", "discount")}
    leaves = {
        name + jax.tree_util.keystr(place): x
        for name, tree in expected.items()
        for place, x in jax.tree_util.tree_leaves_with_path(tree)
    }
    assert set(found) == set(leaves)
    for name, leaf in leaves.items():
        assert found[name].dtype == leaf.dtype
        np.testing.assert_array_equal(found[name], leaf)


def test_the_readme_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```py\n(.*?)```", README.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    saved(Path("breakout"), record=RECORD)
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    assert lines == [*(f"{16 * number} (16, 6, 4) int32" for number in range(6)), "96 (4, 6, 4) int32"]


def test_the_manifest_says_what_was_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    saved(folder, params={"bonus": 2.0}, options={"goal": 4}, record="obs, action")
    found = json.loads((folder / "trajectories" / "manifest.json").read_text())
    shards = found.pop("shards")
    assert [(each["first_step"], each["num_steps"]) for each in shards] == [
        *((16 * number, 16) for number in range(6)),
        (96, 4),
    ]
    assert {each["file"] for each in shards} == {x.name for x in (folder / "trajectories").glob("*.safetensors")}
    assert found == {
        "env_id": "Counter-v0",
        "options": {"goal": 4},
        "params": {"bonus": 2.0},
        "policy": "random",
        "num_envs": 6,
        "steps": 100,
        "episodes": None,
        "seed": 3,
        "steps_recorded": 100,
        "arrays": {"action": {"dtype": "int32", "shape": []}, "obs": {"dtype": "float32", "shape": [5]}},
    }


def test_a_file_in_place_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        stops_after(patch, 0, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            saved(tmp_path, record=RECORD)
    (tmp_path / "trajectories").touch()
    with pytest.raises(FileError, match="trajectories is not a folder"):
        saved(tmp_path, record=RECORD)


def test_names_of_parts() -> None:
    env = toy.Counter()
    assert checked_names("obs, reward,obs", env, env.default_params) == ("obs", "reward")
    assert checked_names(iter(["terminated"]), env, env.default_params) == ("terminated",)
    assert checked_names((), env, env.default_params) == checked_names("", env, env.default_params) == ()
    for name in ("rewards", 3):
        with pytest.raises(InvalidArgumentError, match=f"^record must be names among state, .*, got {name!r}"):
            checked_names(["obs", name], env, env.default_params)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match="got True"):
        checked_names(True, env, env.default_params)  # pyright: ignore[reportArgumentType]
