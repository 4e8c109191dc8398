"""Spaces as specs."""

import jax
import numpy as np
import pytest
from dm_env import specs
from envcore import spaces
from envcore_dm_env.specs import to_spec

CASES = [
    (spaces.Discrete(3), specs.DiscreteArray(3, np.int32, "x")),
    (spaces.MultiDiscrete([2, 3]), specs.BoundedArray((2,), np.int32, 0, [1, 2], "x")),
    (spaces.Box(-1, 1, (2,)), specs.BoundedArray((2,), np.float32, -1, 1, "x")),
    (spaces.Box(-np.inf, np.inf, (2,)), specs.Array((2,), np.float32, "x")),
    (spaces.Box(-np.inf, 1, (2,)), specs.BoundedArray((2,), np.float32, -np.inf, 1, "x")),
    (spaces.Box(False, True, (2,), np.bool_), specs.BoundedArray((2,), np.bool_, False, True, "x")),
]


@pytest.mark.parametrize(("space", "spec"), CASES, ids=repr)
def test_spec(space, spec):
    assert to_spec(space, "x") == spec
    for seed in range(3):
        spec.validate(np.asarray(space.sample(jax.random.key(seed))))


def test_several_parts():
    space = spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Tuple([spaces.Discrete(3)])})
    assert to_spec(space, "x") == {
        "a": specs.DiscreteArray(2, np.int32, "x.a"),
        "b": (specs.DiscreteArray(3, np.int32, "x.b.0"),),
    }


def test_unknown_spaces():
    with pytest.raises(TypeError, match="only envcore's own"):
        to_spec(spaces.Space(), "x")
