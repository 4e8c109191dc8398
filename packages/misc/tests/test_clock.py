from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import EnvParams
from envcore_misc.clock import observed_time, time_bounds
from flax import struct


@struct.dataclass
class Params(EnvParams):
    normalize_time: bool = True


@pytest.mark.parametrize("limit", [1, 7, 100, 333])
def test_time_goes_from_low_to_high_and_stops(limit: int) -> None:
    params = Params(max_steps_in_episode=limit)
    times = np.array([float(observed_time(jnp.int32(t), params, -0.3, 1.7)) for t in (0, limit, limit + 5)])
    np.testing.assert_allclose(times, [-0.3, 1.7, 1.7], rtol=1e-6)
    assert time_bounds(params, -0.3, 1.7) == (-0.3, 1.7)


def test_time_in_steps() -> None:
    params = Params(max_steps_in_episode=9, normalize_time=False)
    assert [float(observed_time(jnp.int32(t), params)) for t in (0, 4, 9, 10)] == [0, 4, 9, 9]
    assert time_bounds(params) == (0.0, 9)
    low, high = time_bounds(params.replace(normalize_time=jnp.bool_(False)))
    assert (float(low), float(high)) == (0, 9)
