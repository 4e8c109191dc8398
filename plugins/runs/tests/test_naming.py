from __future__ import annotations

import pytest
from envcore_runs.naming import argument, as_options, option


def test_python_and_the_command_line_name_arguments_in_their_own_ways() -> None:
    assert (argument("num_envs"), argument("steps", "N")) == ("num_envs", "steps")
    assert (option("size", 8), option("size")) == ("options={'size': 8}", "options={'size': ...}")
    with as_options():
        assert (argument("num_envs"), argument("steps", "N")) == ("--num-envs", "--steps N")
        assert (option("size", "a"), option("size")) == ("--option size='a'", "--option size=...")
    assert argument("num_envs") == "num_envs"


def test_a_command_that_fails_leaves_the_names_as_they_were() -> None:
    def fail() -> None:
        with as_options():
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert argument("num_envs") == "num_envs"
