from __future__ import annotations

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_bridges.base import default_numerics, layers, rebuilt, unknown_name
from envcore_testing.numerics import numerics as switched
from walk import LOADED, FromTheirs, TheirWalk, Wrapped


def test_equal_bridges_share_the_library_s_environment_which_is_made_on_demand() -> None:
    LOADED.clear()
    env = FromTheirs(TheirWalk, (("length", 6),))
    assert LOADED == []
    again = pickle.loads(pickle.dumps(env))
    assert again == env
    assert again.library_env is env.library_env
    assert LOADED == ["walk"]
    assert FromTheirs.make(TheirWalk, length=7) != env
    assert env.name == "TheirWalk"


def test_made_inside_jit_the_library_s_arrays_are_no_tracers() -> None:
    env = FromTheirs(TheirWalk, (("length", 9),))
    jax.jit(lambda key: env.reset(key)[0])(jax.random.key(0))
    assert np.asarray(env.library_env.table).shape == (9,)


def test_options_are_checked_when_it_is_made() -> None:
    with pytest.raises(InvalidArgumentError, match="unexpected keyword argument 'width'"):
        FromTheirs.make(TheirWalk, width=3)
    with pytest.raises(TypeError, match="missing 1 required"):
        FromTheirs.make(lambda length: TheirWalk(length))
    with pytest.raises(InvalidArgumentError, match=r"the option 'length' must be hashable, such as a tuple, got \[5\]"):
        FromTheirs.make(TheirWalk, length=[5])  # pyright: ignore[reportArgumentType]


def test_the_error_for_an_unknown_name() -> None:
    assert str(unknown_name("Walks", "lnog", ["long", "short"])) == (
        "Walks has no environment 'lnog'. Did you mean 'long'?"
    )
    assert str(unknown_name("Walks", "x", ["long", "short"])) == "Walks has no environment 'x'. It has long, short."
    assert str(unknown_name("Walks", "x", "gfedcba")).endswith("It has a, b, c, d, e and 2 more.")


def test_what_is_rebuilt_leaves_the_user_s_environment_as_it_is() -> None:
    inner = TheirWalk()
    outer = Wrapped(Wrapped(inner))
    changed = rebuilt(outer, lambda env: setattr(env, "length", 9))
    assert [env.length for env in layers(changed)] == [5, 5, 9]
    assert (outer.env.env, inner.length) == (inner, 5)


def test_the_switches_of_the_process_do_not_matter() -> None:
    with switched(x64=True, dtype_promotion="strict", rank_promotion="raise"), default_numerics():
        assert (jnp.int32(1) * jnp.ones((2, 1)) + jnp.ones(3)).dtype == jnp.float32
