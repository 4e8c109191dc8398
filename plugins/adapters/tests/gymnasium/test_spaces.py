"""Spaces of envcore and of Gymnasium, both ways."""

# Gymnasium's types are wide, and the tests also pass what the types forbid.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalIterable=false, reportOptionalMemberAccess=false, reportPossiblyUnboundVariable=false

import gymnasium
import jax
import numpy as np
import pytest
from envcore import spaces
from envcore.errors import InvalidArgumentError
from envcore_adapters.gymnasium import from_gymnasium_space, to_gymnasium_space

SPACES = [
    spaces.Discrete(3),
    spaces.MultiDiscrete([2, 5]),
    spaces.Box(-1, [1.0, 2.0]),
    spaces.Box(-np.inf, np.inf, (2, 3)),
    spaces.Box(-np.inf, 1, (2,)),
    spaces.Box(0, 255, (4,), np.uint8),
    spaces.Box(-3, 7, (4,), np.int32),
    spaces.Box(False, True, (10, 10, 4), np.bool_),
    spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1, (3,))]),
    spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Tuple([spaces.MultiDiscrete([3, 3])])}),
]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_there_and_back(space):
    assert from_gymnasium_space(to_gymnasium_space(space)) == space


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_each_contains_the_samples_of_the_other(space):
    theirs = to_gymnasium_space(space)
    theirs.seed(0)
    for seed in range(5):
        assert jax.tree.map(np.asarray, space.sample(jax.random.key(seed))) in theirs
        assert space.contains(jax.tree.map(np.asarray, theirs.sample()))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (gymnasium.spaces.Discrete(4), spaces.Discrete(4)),
        (gymnasium.spaces.MultiBinary(3), spaces.Box(0, 1, (3,), np.int8)),
        (gymnasium.spaces.Box(-1, 1, (2,), np.float64), spaces.Box(-1, 1, (2,))),
        (gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64), spaces.Box(-np.inf, np.inf, (2,))),
        (gymnasium.spaces.Box(0, 9, (2,), np.int64), spaces.Box(0, 9, (2,), np.int32)),
    ],
    ids=repr,
)
def test_from_gymnasium(theirs, ours):
    assert from_gymnasium_space(theirs) == ours


@pytest.mark.parametrize(
    "space",
    [
        gymnasium.spaces.Discrete(4, start=1),
        gymnasium.spaces.Text(3),
        gymnasium.spaces.Box(0, 2**40, (1,), np.int64),
    ],
    ids=repr,
)
def test_spaces_without_a_counterpart(space):
    with pytest.raises(InvalidArgumentError, match="envcore has no counterpart of"):
        from_gymnasium_space(space)
