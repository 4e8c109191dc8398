"""`ActionReader`, and what a program checks in its place."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import make, spaces
from envcore.errors import InvalidActionError
from envcore_adapters.gymnasium.actions import ActionReader, check

ENV = make("CartPole-v1")[0]
CHOICE, FORCE = spaces.Discrete(2), spaces.Box(-2.0, 2.0, (1,))
MANY = spaces.Discrete(5000)
"""More choices than lie on the device."""
NUMBERS = spaces.MultiDiscrete([[2, 3], [4, 5]])
PARTS = spaces.Tuple([CHOICE, spaces.Dict({"force": FORCE})])


def reader(space, reads_devices=True):
    return ActionReader(ENV, space, reads_devices=reads_devices)


@pytest.mark.parametrize("action", [1, np.int64(1), np.array(1), np.uint8(1), jnp.int32(1)], ids=repr)
@pytest.mark.parametrize("space", [CHOICE, MANY], ids=repr)
def test_kinds_of_discrete_actions(space, action):
    read = reader(space)(action)
    assert (read, read.dtype) == (1, np.int32)


@pytest.mark.parametrize("action", [[0.5], np.array([0.5]), (np.float32(0.5),), jnp.array([0.5])], ids=repr)
def test_kinds_of_real_actions(action):
    for read in (reader(FORCE)(action), reader(FORCE).unchecked(action)):
        assert (read.tolist(), read.dtype) == ([0.5], np.float32)


def test_actions_of_several_parts():
    choice, rest = reader(PARTS)([1, {"force": np.array([0.5])}])  # a list of parts too
    assert (choice.dtype, rest["force"].dtype) == (np.int32, np.float32)
    assert (choice, rest["force"].tolist()) == (1, [0.5])
    with pytest.raises(InvalidActionError, match=r"of CartPole must be in Discrete\(2\): got 2\."):
        reader(PARTS)((2, {"force": np.zeros(1)}))
    with pytest.raises(InvalidActionError, match=r"must be in Tuple\(.*: in part 0: "):
        reader(PARTS)((0.5, {"force": np.zeros(1)}))


@pytest.mark.parametrize(
    ("space", "action"),
    [
        *(
            (space, action)
            for space in (CHOICE, MANY)
            for action in (5000, -1, np.int64(5000), np.array([1]), np.array(-1, np.int32), 0.5, "left", None, [0, 0])
        ),
        (CHOICE, jnp.int32(2)),
        (MANY, jnp.int32(5000)),
        (FORCE, 0.0),
        (FORCE, [0.0, 0.0]),
        (FORCE, [[0.0], [0.0, 0.0]]),
        (FORCE, ["x"]),
        (FORCE, [np.nan]),
        (FORCE, np.array([np.nan])),
        (FORCE, np.array([-np.inf], np.float32)),
        (FORCE, np.array([1e300])),  # infinite as float32
        (FORCE, jnp.array([jnp.nan])),
        (NUMBERS, [[0, 0], [0, 5]]),
        (NUMBERS, np.array([[0, 0], [0, -1]])),
        (NUMBERS, [0, 0]),
        (NUMBERS, 0),
        (NUMBERS, jnp.array([[2, 0], [0, 0]])),
    ],
    ids=repr,
)
def test_invalid_actions(space, action):
    with pytest.raises(InvalidActionError, match=r"of CartPole must be in (Discrete|Box|MultiDiscrete)\("):
        reader(space)(action)


def test_numbers_beyond_bounds_are_the_environments_affair():
    assert reader(FORCE)([9.0]).tolist() == [9.0]


def test_the_values_of_jax_arrays_stay_on_the_device():
    action = jnp.array([[0, 0], [0, 9]])
    assert reader(NUMBERS, reads_devices=False)(action) is action
    with pytest.raises(InvalidActionError, match=r"expected shape \(2, 2\), got \(2,\)"):
        reader(NUMBERS, reads_devices=False)(jnp.zeros(2, jnp.int32))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_a_program_reads_arrays_of_discrete_values(dtype):
    actions = np.array([[1, 2], [3, 4]], dtype)
    layouts = [actions, np.asfortranarray(actions), np.repeat(actions, 2, axis=-1)[..., ::2], jnp.asarray(actions)]
    for given in layouts:
        read, is_inside = jax.jit(lambda action: check(NUMBERS, action))(reader(NUMBERS).unchecked(given))
        assert (read.dtype, bool(is_inside)) == (np.int32, True)
        np.testing.assert_array_equal(read, actions)


@pytest.mark.parametrize(
    ("dtype", "outside"), [(np.int64, 5), (np.int64, -1), (np.int64, 2**32), (np.int32, 5), (np.int32, -1)]
)
def test_a_program_finds_discrete_values_outside(dtype, outside):
    actions = np.array([[0, 0], [0, outside]], dtype)
    assert not check(NUMBERS, reader(NUMBERS).unchecked(actions))[1]
    assert str(reader(NUMBERS).outside(actions)).endswith(f": got {outside}.")


@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e300])
def test_a_program_finds_numbers_that_are_not_finite(value):
    actions = np.array([value])
    assert not check(FORCE, reader(FORCE).unchecked(actions))[1]
    assert "not finite" in str(reader(FORCE).outside(actions))
