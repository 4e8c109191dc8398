from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import rendering
from envcore.engine import arguments
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError, NoPictureError
from envcore.wrappers import Batched, LogWrapper
from toy import Counter, CounterState, Deck, Painted, Spring

ENV = Counter()
PARAMS = ENV.default_params
STATES = [CounterState(count=jnp.int32(count), time=jnp.int32(count)) for count in range(5)]
TOGETHER = jax.tree.map(lambda *x: jnp.stack(x), *STATES)


def test_the_type_of_a_picture() -> None:
    for state in (STATES[0], arguments.state_struct(ENV)):
        assert rendering.picture_struct(ENV, state, PARAMS, 8) == jax.ShapeDtypeStruct((8, 8, 3), jnp.uint8)
    assert rendering.picture_struct(ENV, TOGETHER, None, np.int64(8)).shape == (5, 8, 8, 3)
    batched = LogWrapper(Batched(ENV, 3))
    assert rendering.picture_struct(batched, arguments.state_struct(batched), None, 8).shape == (3, 8, 8, 3)
    with pytest.raises(InvalidArgumentError, match="got 0"):
        rendering.picture_struct(ENV, STATES[0], PARAMS, 0)
    with pytest.raises(NoPictureError, match="Deck has to implement render"):
        rendering.picture_struct(Deck(), arguments.state_struct(Deck()), None, 8)


def test_a_picture_fits_into_a_size_and_the_margins_fill_it() -> None:
    assert rendering.fitting_height(Counter(), (20, 20)) == 20
    assert rendering.fitting_height(Spring(), (20, 20)) == 10  # twice as wide as high
    assert rendering.margins((10, 20, 3), (21, 20)) == [(5, 6), (0, 0), (0, 0)]
    assert rendering.margins((10, 20), (10, 23)) == [(0, 0), (1, 2)]


def test_a_batch_and_several_instants_are_rendered_like_single_states() -> None:
    single = [ENV.render(state, PARAMS, height=8) for state in STATES]
    np.testing.assert_array_equal(rendering.render_instant(ENV, TOGETHER, PARAMS, 8), np.stack(single))
    np.testing.assert_array_equal(rendering.render_instant(ENV, STATES[2], PARAMS, 8), single[2])


PICTURES: dict[str, tuple[Any, str]] = {
    "floats": (lambda h: jnp.zeros((h, h, 3), jnp.float32), r"returns float32\[8, 8, 3\]"),
    "wrong height": (lambda h: jnp.zeros((9, h, 3), jnp.uint8), r"returns uint8\[9, 8, 3\]"),
    "None": (lambda _: None, "returns a NoneType"),
}


@pytest.mark.parametrize(("paint_at", "message"), PICTURES.values(), ids=PICTURES)
def test_a_picture_of_a_wrong_type(paint_at: Any, message: str) -> None:
    env, batched = Painted(paint_at=paint_at), Batched(LogWrapper(Painted(paint_at=paint_at)), 2)
    for each, must in ((env, r"\[8, 'width', 3\]"), (batched, r"\[2, 8, 'width', 3\]")):
        with pytest.raises(EnvironmentDefinitionError, match=rf"it must return uint8 {must}\.$") as caught:
            rendering.picture_struct(each, arguments.state_struct(each), None, 8)
        assert "\n" not in str(caught.value)
        assert each is batched or re.search(message, str(caught.value))
