"""The environment of a run; what the errors say of options and params is tested in `test_run` too."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import toy
from envcore.errors import InvalidArgumentError, InvalidParamsError, UnknownEnvironmentError
from envcore.wrappers import FrameStack, RandomizeParams
from envcore_runs.choice import choice_of, choose, with_params

pytestmark = pytest.mark.usefixtures("toys")


def test_options_and_params() -> None:
    env, params = choose("Counter-v0", {"goal": 4}, {"bonus": 2}).make()
    assert (env, float(params.bonus)) == (toy.Counter(goal=4), 2.0)
    assert choose("Counter-v0").make()[0] == toy.Counter()
    with pytest.raises(UnknownEnvironmentError):
        choose("Counters-v0")


def test_params_of_an_environment_that_is_given() -> None:
    env = toy.Counter()
    params = env.default_params
    assert with_params("it", env, params, {}) is params
    assert float(with_params("it", env, params, {"bonus": 0.5}).bonus) == 0.5
    with pytest.raises(InvalidParamsError, match=r"^it has no param 'goal'.* 'goal' is an option of its constructor"):
        with_params("it", env, params, {"goal": 3})


def test_params_that_are_drawn_anew() -> None:
    drawn = {"bonus": [0.5, 2], "max_steps_in_episode": (4, 20)}
    choice = dataclasses.replace(choose("Counter-v0", {"goal": 4}, {"bonus": 7}), randomize=drawn)
    env, params = choice.make()
    assert env == RandomizeParams(toy.Counter(goal=4), {"bonus": (0.5, 2), "max_steps_in_episode": (4, 20)})
    assert (float(params.bonus), int(params.max_steps_in_episode)) == (7.0, 20)  # algorithms take the limit from there


def test_an_environment_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("envs_of_the_user.py").write_text("from toy import Counter as Mine\n")
    choice = choose("envs_of_the_user:Mine", {"goal": 4}, {"bonus": 2})
    assert "envs_of_the_user" not in sys.modules
    assert (choice.title, choice.found.spec.id) == ("envs_of_the_user:Mine", "Mine")
    env, params = choice.make()
    assert (env, float(params.bonus)) == (toy.Counter(goal=4), 2.0)
    with pytest.raises(UnknownEnvironmentError, match="no module 'no_envs' to import Mine from"):
        choose("no_envs:Mine")
    with pytest.raises(UnknownEnvironmentError, match="an environment's id is a string"):
        choose(3)  # pyright: ignore[reportArgumentType]


@dataclasses.dataclass(frozen=True)
class Row(toy.Counter):
    """With options of the kinds that JSON holds, and others."""

    names: tuple[Any, ...] = ("a", 1)


@pytest.mark.parametrize("is_saved", [False, True])
def test_an_environment_that_is_made(is_saved: bool) -> None:
    for env in (toy.Counter(goal=4), Row(names=("b", (2.5, None, True)))):
        choice = choice_of(env, None, {"bonus": 2}, is_saved=is_saved)
        made, params = choice.make()
        assert (made, float(params.bonus)) == (env, 2.0)
        again, _ = choose(choice.title, choice.options).make() if is_saved else (env, None)
        assert again == env
    assert choice_of("Counter-v0", {"goal": 4}, None, is_saved=is_saved) == choose("Counter-v0", {"goal": 4})
    with pytest.raises(InvalidArgumentError, match="options are only for an id"):
        choice_of(toy.Counter(), {"goal": 4}, None, is_saved=is_saved)


def test_an_environment_that_a_file_cannot_name() -> None:
    @dataclasses.dataclass(frozen=True)
    class Local(toy.Counter): ...

    for env in (Local(), FrameStack(toy.Counter(), 2), Row(names=(b"x",))):
        assert choice_of(env, None, None, is_saved=False).make()[0] == env
        with pytest.raises(InvalidArgumentError, match="'MODULE:NAME'"):
            choice_of(env, None, None, is_saved=True)
