from __future__ import annotations

from typing import Any, get_args

import jax
import numpy as np
import pytest
from envcore import typing
from envcore.environment import EnvParams, EnvState


@pytest.mark.parametrize(
    ("alias", "values"),
    [
        (typing.FloatParam, (0.5, np.float32(0.5), np.float64(0.5), np.zeros(3))),
        (typing.IntParam, (1, np.int32(1), np.zeros(3, np.int32))),
        (typing.BoolParam, (True, np.bool_(True), np.zeros(3, np.bool_))),
    ],
)
def test_params_take_numbers_and_arrays_of_python_numpy_and_jax(alias: Any, values: tuple[Any, ...]) -> None:
    kinds = tuple(getattr(kind, "__origin__", kind) for kind in get_args(get_args(alias)[0]))
    for value in (*values, jax.numpy.zeros(())):
        assert isinstance(value, kinds)


def test_states_and_params_are_read_and_written_as_they_are_typed() -> None:
    """Pyright checks this module."""
    params = EnvParams(max_steps_in_episode=10)
    assert [EnvParams(max_steps_in_episode=n).max_steps_in_episode for n in (10, np.int32(10))] == [10, 10]
    assert params.replace(max_steps_in_episode=20).max_steps_in_episode == 20
    time: jax.Array = EnvState(time=jax.numpy.int32(3)).time
    assert time.dtype == np.int32
