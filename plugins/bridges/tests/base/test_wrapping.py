from __future__ import annotations

from envcore_bridges.base import layers, rebuilt
from walk import TheirWalk, Wrapped


def test_what_is_rebuilt_leaves_the_user_s_environment_as_it_is() -> None:
    inner = TheirWalk()
    outer = Wrapped(Wrapped(inner))
    changed = rebuilt(outer, lambda env: setattr(env, "length", 9))
    assert [env.length for env in layers(changed)] == [5, 5, 9]
    assert (outer.env.env, inner.length) == (inner, 5)
