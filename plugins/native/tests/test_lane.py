import envcore
import jax
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore.wrappers import Batched, FlattenObservation, LogWrapper, StickyAction
from envcore_native.lane import AXIS, Lane, lane_of

CATCH = envcore.make("Catch-bsuite")[0]
PENDULUM, PARAMS = envcore.make("Pendulum-v1")


def test_a_lane_takes_the_place_of_the_batch():
    assert lane_of(CATCH) == CATCH
    assert lane_of(Batched(CATCH, 4)) == Lane(CATCH)
    batch = LogWrapper(FlattenObservation(Batched(StickyAction(CATCH), 4)))
    assert lane_of(batch) == Lane(LogWrapper(FlattenObservation(StickyAction(CATCH))))


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (StickyAction(Batched(CATCH, 4)), "StickyAction draws random numbers for the whole batch"),
        (Batched(Batched(CATCH, 4), 2), r"one Batched, got Batched with batch shape \(2, 4\)"),
        (Batched(CATCH, 4, axis_name="devices"), "one Batched, got Batched with batch shape"),
    ],
)
def test_another_batch_is_refused(env, message):
    with pytest.raises(InvalidArgumentError, match=message):
        lane_of(env)


def test_each_lane_draws_as_in_the_batch():
    batch, key = Batched(PENDULUM, 5), jax.random.key(2)
    lane = lane_of(batch)

    def draw(_):
        return lane.draw_start(key, PARAMS)

    draws = jax.vmap(draw, axis_name=AXIS)(np.arange(5))
    for ours, theirs in zip(*map(jax.tree.leaves, (draws, batch.draw_start(key, PARAMS))), strict=True):
        np.testing.assert_array_equal(ours, theirs)
